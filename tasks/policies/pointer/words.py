"""Words and values: how prompts, tool names and observations are cut into comparable pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_PIECE = re.compile(r"\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|`([^`\n]{1,120})`|(?<!\w)'([^'\n]{1,120})'(?!\w)|(\S+)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ALPHA = re.compile(r"[^\W\d_]+|\d+")
_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?")
_EDGES = ".,;:!?()[]{}<>\"'`“”‘’|*"


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, a number or a quoted span of a text: its text as written and whether quotes surrounded it."""

    text: str
    quoted: bool
    opens: bool = False
    """True after a full stop, a colon or at the start: a capital letter says nothing there."""
    sentence: int = 0


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a lower-case word without its plural or verbal ending, so that 'orders', 'Ordered' and 'order' meet."""
    word = word.lower()
    if len(word) > 4:
        if word.endswith("ies"):
            return word[:-3] + "y"
        if word.endswith(("sses", "shes", "ches", "xes")):
            return word[:-2]
    if len(word) > 5 and word.endswith("ing"):
        word = word[:-3]
        return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word
    if len(word) > 4 and word.endswith("ed"):
        word = word[:-2]
        return word[:-1] if word[-1] == word[-2] and word[-1] not in "s" else word
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        return word[:-1]
    return word


@lru_cache(maxsize=65536)
def words_of(text: str, limit: int = 8) -> tuple[str, ...]:
    """Return the comparable words of a name or a value.

    What holds digits beside letters, dates and numbers (ids, codes) stay whole; other text is cut at spaces,
    underscores, hyphens and camel case, then stemmed. At most `limit` words.
    """
    text = text.strip()
    if not text:
        return ()
    if " " not in text and any(char.isdigit() for char in text):
        return (text.lower(),)
    return tuple(stem(word) for word in _ALPHA.findall(_CAMEL.sub(" ", text)))[:limit]


def pieces(text: str) -> Iterator[Piece]:
    """Yield the words and quoted spans of a text in order, without surrounding punctuation."""
    opens, sentence = True, 0
    for match in _PIECE.finditer(text):
        quoted = next((group for group in match.groups()[:4] if group), None)
        if quoted is not None:
            yield Piece(quoted.strip(), True, opens, sentence)
            opens = False
            continue
        raw = match.group(5)
        word = raw.strip(_EDGES)
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        if word:
            yield Piece(word, False, opens, sentence)
        opens = raw[-1] in ".!?:"
        sentence += raw[-1] in ".!?;"


def number_of(value: Any) -> float | None:
    """Return the number that a JSON value or a word of text is, or None. Booleans are no numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and len(value) < 24 and _NUMBER.fullmatch(value):
        return float(value.replace(",", ""))
    return None


def date_of(value: Any) -> str | None:
    """Return the ISO 8601 date or time that a value is (comparable as text), or None."""
    return value if isinstance(value, str) and _DATE.fullmatch(value) else None


def value_key(value: Any) -> str:
    """Return the text under which equal values meet: 42, 42.0 and '42' are one, 'Rome' and 'rome' are two."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    number = number_of(value)
    if number is not None and not (
        isinstance(value, str) and value[:1] in "0+" and len(value) > 1 and "." not in value
    ):
        return f"{number:.10g}"
    return str(value)
