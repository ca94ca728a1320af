"""The task writer's phrasings: one Jinja2 file a kind in prompts/task_writer/, one phrasing a line."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, StrictUndefined, Template

FOLDER = Path(__file__).resolve().parents[2] / "prompts" / "task_writer"

_DOUBLED = re.compile(r"\b(?!(?:true|false)\b)([^\W\d_]+)(?: \1\b)+", re.IGNORECASE)

Phrasing = Literal["train", "held_out", "any"]
"""Which share of the phrasings may be used: every fourth line of a file is held out for the arena."""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def article(noun: str) -> str:
    """Return a noun with its indefinite article."""
    vowel = re.match(r"[aeiou](?!ser|ni[tv]|uro|ne)", noun, re.IGNORECASE)
    return f"an {noun}" if vowel else f"a {noun}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    environment.filters["sentence"] = _sentence
    environment.filters["article"] = article
    return environment


@lru_cache(maxsize=256)
def phrasings(kind: str) -> tuple[Template, ...]:
    """Return all phrasings of a kind; a lone dot stands for an empty one.

    Raises:
        FileNotFoundError: if prompts/task_writer has no file of that kind.
    """
    lines = (FOLDER / f"{kind}.j2").read_text(encoding="utf-8").splitlines()
    texts = [line for line in lines if line.strip() and not line.startswith("{#")]
    return tuple(_environment().from_string("" if text == "." else text) for text in texts)


@cache
def frames(register: str) -> tuple[Template, ...]:
    """Return the ways to lay out a whole task in one register (ticket, email ...); `---` stands between them."""
    text = (FOLDER / "registers" / f"{register}.j2").read_text(encoding="utf-8")
    return tuple(_environment().from_string(part.strip("\n")) for part in re.split(r"(?m)^---\n", text))


def lay_out(rng: random.Random, register: str, phrasing: Phrasing = "train", **values: Any) -> str:
    """Return a whole task in one of a register's layouts, drawn by `rng` from the allowed share.

    Raises:
        FileNotFoundError: if there is no such register.
        jinja2.UndefinedError: if the layout needs a value that is not given.
    """
    found = frames(register)
    allowed = [i for i in range(len(found)) if phrasing == "any" or is_held_out(i) == (phrasing == "held_out")]
    text = found[rng.choice(allowed)].render(**values)
    lines = [tidy(line) for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def is_held_out(index: int) -> bool:
    """Say whether the phrasing at an index of its file is held out."""
    return index % 4 == 3


def choose(rng: random.Random, kind: str, phrasing: Phrasing = "train", **values: Any) -> str:
    """Return one phrasing of a kind, drawn by `rng` from the allowed share, filled with values.

    Raises:
        jinja2.UndefinedError: if the phrasing needs a value that is not given.
    """
    lines = phrasings(kind)
    allowed = [i for i in range(len(lines)) if phrasing == "any" or is_held_out(i) == (phrasing == "held_out")]
    return undoubled(lines[rng.choice(allowed)].render(**values))


def literal(value: Any) -> str:
    """Return a value as a prompt states it: text in double quotes, numbers as digits, booleans as true or false."""
    if isinstance(value, str):
        return f'"{value}"'
    return json.dumps(value)


def listing(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def undoubled(text: str) -> str:
    """Return a text in which no word stands twice in a row, as where a column's name ends with the word that a phrase
    begins with: `joined on on or after` becomes `joined on or after`. What stands in quotes, numbers and the values
    true and false stay as they are."""
    parts = re.split(r'("[^"\n]*")', text)
    parts[::2] = [_DOUBLED.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)


def tidy(text: str) -> str:
    """Return a text without doubled words and without the stray spaces that empty parts leave."""
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ([,.;:?!)])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeiou](?!ser|ni[tv]|uro))", r"\1n ", text)
    return undoubled(text).strip()


def templates_hash() -> str:
    """Return the sha256 over all phrasings: part of the cache key of whatever is written with them."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*.j2")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
