"""Units of running text: the task's prompt, the text of a document, a refusal's message."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.policies.pointer.units import NOTHING, Kind, Unit, Weighted, shape_of
from tasks.policies.pointer.words import Piece, number_of, pieces, value_key, words_of

MAX_PROMPT = 160
MAX_TEXT = 120
_NEIGHBOURS = ((-1, 1.0), (-2, 0.6), (1, 0.5), (-3, 0.3))
"""Which words around a piece name it, and how strongly: "customer 42" and "42 customers" both speak of customers."""


def bag(words: Sequence[str], weight: float = 1.0) -> Weighted:
    """Return words as a bag in which each has the same weight."""
    return tuple((word, weight) for word in words)


def text_units(text: str, kind: Kind, step: int = 0, limit: int = MAX_PROMPT) -> tuple[list[Unit], int]:
    """Return the units of a text, one a word or quoted span, and the number of pieces cut off at `limit`.

    A run of capitalised words ("Ada Lovelace", not at a sentence's start) gives one more unit that holds it whole.
    """
    found = list(pieces(text))
    cut = max(0, len(found) - limit)
    found = found[:limit]
    words = [words_of(piece.text) for piece in found]
    units: list[Unit] = []
    for index, piece in enumerate(found):
        keys = _neighbours(words, index)
        units.append(
            Unit(
                kind,
                keys,
                bag(words[index]),
                piece.text,
                shape_of(piece.text, piece.quoted),
                place=min(index + 1, MAX_PROMPT),
                step=step,
            )
        )
        span = _span_ending(found, index)
        if span > 1:
            whole = " ".join(part.text for part in found[index + 1 - span : index + 1])
            first = index + 1 - span
            units.append(
                Unit(
                    Kind.SPAN,
                    _neighbours(words, first, after=span),
                    bag(words_of(whole)),
                    whole,
                    shape_of(whole),
                    place=min(index + 1, MAX_PROMPT),
                    step=step,
                )
            )
    return units, cut


def _neighbours(words: list[tuple[str, ...]], index: int, after: int = 1) -> Weighted:
    keys: dict[str, float] = {}
    for offset, weight in _NEIGHBOURS:
        place = index + (offset if offset < 0 else after)
        if 0 <= place < len(words):
            for word in words[place][:4]:
                keys[word] = max(keys.get(word, 0.0), weight)
    return tuple(keys.items())


def _span_ending(found: list[Piece], index: int) -> int:
    """Return how many capitalised words form the run that ends at `index`, 0 if it goes on behind it."""
    if not _capital(found[index]) or (index + 1 < len(found) and _capital(found[index + 1])):
        return 0
    length = 1
    while length <= 5 and index - length >= 0 and _capital(found[index - length]) and length < 6:
        length += 1
    if length > 1 and found[index + 1 - length].opens:
        length -= 1
    return length


def _capital(piece: Piece) -> bool:
    return not piece.quoted and piece.text[:1].isupper() and not any(char.isdigit() for char in piece.text)


def prompt_values(units: Sequence[Unit]) -> tuple[list[float], list[str]]:
    """Return the numbers and the texts (as value keys) that a prompt mentions, to compare observed values with."""
    numbers = [number for unit in units if (number := number_of(unit.value)) is not None]
    return numbers, [value_key(unit.value) for unit in units if unit.value is not NOTHING]
