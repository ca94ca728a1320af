"""Comparisons in plain English: which bound a number or date of the prompt is, and which end a superlative means.

So small a network sees too few sentences to learn that "no less than 3" and "3 and up" speak of a minimum. These word
lists are a built-in prior like the match heads: they hold for English, and for no environment in particular.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UP = _words(
    """more above over later after since exceed exceeds exceeding reach reaches reaching greater
    higher larger least minimum from starting beyond newer onward onwards upward upwards up"""
)
_DOWN = _words("less below under earlier before until till fewer lower smaller most maximum within older down")
_NOT = _words("no not never nothing")
_LINKS = _words("or and at")
_FLOORS = _words("min minimum least lowest from earliest since after start above over")
_CEILINGS = _words("max maximum most highest to until latest before end below under")
_HIGHEST = _words("largest highest most greatest latest newest maximum biggest longest top recent")
_LOWEST = _words("smallest lowest least oldest earliest minimum fewest shortest")
_NEAR = 4


def bound_of(before: Sequence[str], after: Sequence[str]) -> int:
    """Return what a value in running text bounds: 1 from below ("at least 3", "3 or more"), -1 from above ("not above
    3", "until 3"), 0 nothing.

    `before` and `after` are the lower-case words on either side, in their order in the text.
    """
    if len(after) > 1 and after[0] in _LINKS:
        if after[1] in _UP:
            return 1
        if after[1] in _DOWN:
            return -1
    near = list(before[-_NEAR:])
    if near[-2:] == ["up", "to"]:
        return -1
    for place in range(len(near) - 1, -1, -1):
        word = near[place]
        sign = (word in _UP) - (word in _DOWN)
        if sign:
            negated = any(other in _NOT for other in near[max(0, place - 2) : place])
            return -sign if negated else sign
    return 0


@lru_cache(maxsize=4096)
def parameter_bound(name: str, description: str) -> int:
    """Return what a parameter bounds by its name ("min_price", "earliest_start"), else by its description."""
    words = set(name.lower().split("_"))
    sign = bool(words & _FLOORS) - bool(words & _CEILINGS)
    if sign:
        return sign
    text = description.lower()
    floor = any(phrase in text for phrase in ("at least", "or more", "or later", "not below"))
    ceiling = any(phrase in text for phrase in ("at most", "or less", "or earlier", "not above"))
    return floor - ceiling


def superlative(word: str, previous: str) -> int:
    """Return 1 for a word that asks for the high end ("largest"), -1 for the low end, 0 for others.

    The `previous` word tells "at least" and "at most", which are bounds.
    """
    return 0 if previous == "at" else (word in _HIGHEST) - (word in _LOWEST)


def wanted_flag(name: str, sign: int) -> Any:
    """Return the value that a boolean parameter about sorting should have for the end that is asked for, else None."""
    words = set(name.lower().split("_"))
    if not sign or not words & {"descending", "desc", "reverse", "ascending", "asc"}:
        return None
    return (sign > 0) != bool(words & {"ascending", "asc"})
