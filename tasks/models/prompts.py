"""Prompts: Jinja2 templates in prompts/<role>/<step>.j2, rendered with untrusted text fenced as data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta

FOLDER = Path(__file__).resolve().parents[2] / "prompts"

OPEN, CLOSE = "<<<DATA", "DATA>>>"
"""The fence around text that was not written by the factory. The common system prompt says what it means."""

_FENCE = re.compile(r"<<<(?=\s*DATA)|(?<=DATA)(\s*)>>>", re.IGNORECASE)
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt. `sha256` is the hash of the template's text and of all templates that it includes."""

    name: str
    text: str
    sha256: str


def untrusted(text: object) -> str:
    """Return a text fenced as data: what looks like a fence inside is broken up, characters that no reader sees
    (controls, direction overrides, tags) are dropped."""
    inside = _FENCE.sub(lambda match: "< < <" if match[0].startswith("<") else f"{match[1]}> > >", str(text))
    return f"{OPEN}\n{_UNSEEN.sub('', inside)}\n{CLOSE}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["untrusted"] = untrusted
    return environment


@lru_cache(maxsize=256)
def _hash(name: str) -> str:
    environment, seen, left = _environment(), {}, [name]
    while left:
        current = left.pop()
        if current not in seen:
            source = seen[current] = environment.loader.get_source(environment, current)[0]  # type: ignore[union-attr]
            left += [found for found in meta.find_referenced_templates(environment.parse(source)) if found]
    return hashlib.sha256("\0".join(f"{key}\0{seen[key]}" for key in sorted(seen)).encode()).hexdigest()


def templates_hash(*names: str) -> str:
    """Return the hash of all that a stage's prompts are made of: the named templates and the common ones. It belongs
    in the stage's cache keys, beside the model's id.

    Raises:
        jinja2.TemplateNotFound: if there is no template of one of the names.
    """
    common = (f"common/{path.stem}" for path in sorted((FOLDER / "common").glob("*.j2")))
    return hashlib.sha256("".join(_hash(f"{name}.j2") for name in (*common, *names)).encode()).hexdigest()


def render(name: str, **variables: object) -> Prompt:
    """Render the template `name` ("researcher/plan" is prompts/researcher/plan.j2).

    Raises:
        jinja2.TemplateNotFound: if there is no such template.
        jinja2.UndefinedError: if it uses a variable that was not given.
    """
    file = f"{name}.j2"
    return Prompt(name, _environment().get_template(file).render(**variables).strip(), _hash(file))
