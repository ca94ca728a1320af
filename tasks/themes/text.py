"""Words, sentences and names out of the prose of source documents."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path

import yaml

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL_IN_PROSE = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")  # GeoMatchSet is split, PyPI and APIs are not
_WORD = re.compile(r"[a-z][a-z0-9]+")
_TAG = re.compile(r"<[^<>]{0,400}>")
_BLOCK_END = re.compile(r"</(?:p|li|ul|ol|dd|dt|h\d|note|important)>|<br */?>", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|\b(?:[\w-]+\.){2,}[a-z]{2,}\b")
_CONTRACTION = re.compile(r"n['’]t\b|['’](?:s|re|ve|ll|d)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"“(])")
_REFUSES = re.compile(
    r"\b(?:only (?:while|when|if|before|after|once|by|from|for|in|on|a|an|the)|must|cannot|can't|may not|can not|"
    r"not allowed|at most|at least|no more than|not more than|never|unless|refused?|refuses|rejected|not permitted|"
    r"fails? if|not possible)\b",
    re.IGNORECASE,
)

_LISTS = yaml.safe_load((Path(__file__).parent / "common_words.yaml").read_text(encoding="utf-8"))
_WARNS = re.compile(r"be (?:undone|recovered|restored|reversed)\b", re.IGNORECASE)  # a warning, not a refusal

STOP_WORDS = frozenset(_LISTS["stop"].split())
"""English function words: they tell nothing about a topic."""

GENERIC_WORDS = frozenset(_LISTS["generic"].split())
"""Words of every interface description: they do not tell one topic from another."""


def plain(markup: str) -> str:
    """Return prose without HTML tags; the end of a block becomes the end of a sentence."""
    text = _ADDRESS.sub(" ", html.unescape(_TAG.sub(" ", _BLOCK_END.sub(" \n", markup))))
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return " ".join(line if line[-1] in ".!?:;," else f"{line}." for line in lines if line)


def sentences(text: str) -> list[str]:
    """Return the sentences of prose, in order, with white space collapsed."""
    parts = _SENTENCE_END.split(re.sub(r"\s+", " ", text).strip())
    return [part.strip(" -*") for part in parts if part.strip(" -*.")]


def refusing(text: str) -> list[str]:
    """Return the sentences that state when something is refused ("only while pending", "must not", "at most")."""
    lines = (line for line in sentences(text) if 20 <= len(line) <= 400)
    return [line for line in lines if _REFUSES.search(line) and not _WARNS.search(line)]


def stem(word: str) -> str:
    """Return a word without its plural ending. Plain suffix rules: good enough to match "cities" with "city"."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words(text: str) -> list[str]:
    """Return the lower-case words of prose, in order; CamelCase names are split, stop words are kept."""
    return _WORD.findall(_CONTRACTION.sub(" ", _CAMEL_IN_PROSE.sub(" ", text)).lower())


def telling_words(text: str) -> list[str]:
    """Return the words of prose that are neither stop words nor words of every interface description."""
    return [word for word in words(text) if word not in STOP_WORDS and word not in GENERIC_WORDS and len(word) > 2]


def snake(identifier: str) -> str:
    """Return an identifier in snake case: "ListIPSets" -> "list_ip_sets", "cancel-booking" -> "cancel_booking"."""
    return "_".join(re.findall(r"[a-z0-9]+", _CAMEL.sub(" ", identifier).lower()))


def slug(name: str, length: int = 40) -> str:
    """Return a name as lower-case words joined by hyphens, at most `length` characters; "theme" if none is left."""
    out = ""
    for word in re.findall(r"[a-z0-9]+", name.lower()):
        if out and len(out) + 1 + len(word) > length:
            break
        out = f"{out}-{word}" if out else word[:length]
    return out or "theme"


def shorten(text: str, length: int = 600) -> str:
    """Return whole sentences of the text up to `length` characters, at least a part of the first."""
    out = ""
    for line in sentences(text):
        if out and len(out) + 1 + len(line) > length:
            break
        out = f"{out} {line}".strip()
    return out[:length]


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items without repetition, in their first order, empty ones left out."""
    return tuple(dict.fromkeys(item for item in items if item))
