"""Units of running text: the task's prompt, the text of a document, a refusal's message."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.policies.pointer.comparisons import bound_of
from tasks.policies.pointer.units import NOTHING, Kind, Unit, Weighted, shape_of
from tasks.policies.pointer.words import Piece, date_of, number_of, pieces, stem, value_key, words_of

MAX_PROMPT = 160
MAX_TEXT = 120
_BEFORE = (1.0, 0.6, 0.35)
_AFTER = (0.5,)
_PLAIN = 0.4
"""How strongly the content words around a piece name it, nearest first, and the plain words beside it: "customer 42",
"the customer that goes by 42" and "42 under customer" all speak of a customer."""

_PLAIN_TEXT = """a an the this that these those it its he she they we you i us me my our your their his her who whose
    which what where when how why is are was were be been being am do does did done has have had having can could may
    might must shall should will would of in on at by to for from with without under over as into onto about among
    between within through against than then there here so and or but nor not no yes if else all any each every both
    some one ones only also just too very more most less least at up down out off again once now next first last
    please know known goes go going called named listed entered marked given shown recorded registered reads read
    says said same such like get got need needs find look locate find see let before after later earlier until since
    per via back"""
_PLAIN_WORDS = frozenset(stem(word) for word in _PLAIN_TEXT.split())
"""Function words and verbs of telling: they seldom say what a value is, so the words behind them are looked at."""


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
                row=min(piece.sentence, 31) if kind == Kind.PROMPT else 0,
                step=step,
                bound=_bound(found, index),
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
                    row=units[-1].row,
                    step=step,
                )
            )
    return units, cut


def _neighbours(words: list[tuple[str, ...]], index: int, after: int = 1) -> Weighted:
    """Return the words that name the piece at `index`: the nearest content words before and after it."""
    keys: dict[str, float] = {}
    for direction, start, weights in ((-1, index - 1, _BEFORE), (1, index + after, _AFTER)):
        found, place, passed = 0, start, 0
        while 0 <= place < len(words) and found < len(weights) and passed < 8:
            content = [word for word in words[place][:4] if word not in _PLAIN_WORDS]
            if content:
                for word in content:
                    keys[word] = max(keys.get(word, 0.0), weights[found])
                found += 1
            elif passed < 3:
                for word in words[place][:1]:
                    keys.setdefault(word, _PLAIN)
            place += direction
            passed += 1
    return tuple(keys.items())


def _bound(found: list[Piece], index: int) -> int:
    """Return what the number or date at `index` bounds, by the plain words around it in its sentence."""
    if not _comparable(found[index]):
        return 0
    before: list[str] = []
    for piece in reversed(found[max(0, index - 5) : index]):
        if piece.sentence != found[index].sentence or _comparable(piece) or piece.quoted:
            break
        before.insert(0, piece.text.lower())
    after = [piece.text.lower() for piece in found[index + 1 : index + 3]]
    return bound_of(before, after)


def _comparable(piece: Piece) -> bool:
    return number_of(piece.text) is not None or date_of(piece.text) is not None


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
