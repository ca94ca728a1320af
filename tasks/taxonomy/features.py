"""A theme as a vector: word stems and neighbouring pairs with weights by where they stand in the theme."""

from __future__ import annotations

import math
import re
from collections import Counter

from schemas.theme import Theme

_WORD = re.compile(r"[a-z][a-z0-9]*")
_CAMEL = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")


def stem(word: str) -> str:
    """Return a word without its plural ending, by plain suffix rules."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stems(text: str) -> list[str]:
    """Return the stems of a text's words, in order, lower case."""
    return [stem(word) for word in _WORD.findall(text.replace("_", " ").lower())]


def vector(theme: Theme) -> dict[str, float]:
    """Return the weight of each word stem and each pair of neighbouring stems ("exchange rate") of a theme.

    weight = sum over places of place weight x log(1 + count). The vector depends on this theme alone.
    """
    places = (
        (4.0, [theme.name, _CAMEL.sub(" ", theme.name)]),
        (3.0, list(theme.needs)),
        (2.0, [theme.description]),
        (1.5, [operation.name for operation in theme.operations]),
        (1.0, list(theme.terms[:12])),
        (0.5, [operation.description for operation in theme.operations]),
    )
    out: Counter[str] = Counter()
    for weight, texts in places:
        counts: Counter[str] = Counter()
        for text in texts:
            found = stems(text)
            counts.update(found)
            counts.update(f"{a} {b}" for a, b in zip(found, found[1:], strict=False))
        for word, count in counts.items():
            out[word] += weight * math.log1p(count)
    return dict(out)
