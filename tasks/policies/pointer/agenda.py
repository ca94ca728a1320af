"""The agenda: which values of the prompt no call has used yet, and which sentences the next call is about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.policies.pointer.comparisons import superlative
from tasks.policies.pointer.units import Kind, Shape, Unit, Weighted

SHOWN = 4
"""How many unused values are repeated at each choice of a tool."""
_ONCE = (Shape.INTEGER, Shape.NUMBER, Shape.DATE)
LATE = 99
_BESIDE = 4


@dataclass(slots=True)
class _Mention:
    """A quoted value, number, date or code in the prompt, and whether a call still has to use it."""

    unit: Unit
    identity: int
    open: bool = True


class Agenda:
    """Follows a prompt through an episode.

    A name that the prompt repeats means the same thing again, so one use closes all its mentions. An option, a number
    or a date that it repeats belongs to another call, so a use closes the first mention only.
    """

    def __init__(self, prompt: Sequence[Unit], identities: Sequence[int], leave_out: Collection[str]) -> None:
        """Read a prompt's units with the ids of their values; `leave_out` are names of answer fields."""
        self._prompt = prompt
        self._mentions = [
            _Mention(unit, identity)
            for unit, identity in zip(prompt, identities, strict=True)
            if unit.kind == Kind.PROMPT and unit.shape != Shape.WORD and unit.value not in leave_out
        ]
        self._stream = [(word, unit.row) for unit in prompt if unit.kind == Kind.PROMPT for word, _ in unit.values]
        self._words = [word for word, _ in self._stream]
        self._starts: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._starts.setdefault(word, []).append(place)
        self._ends = [
            (place, sign)
            for place, word in enumerate(self._words)
            if (sign := superlative(word, self._words[place - 1] if place else ""))
        ]
        self._last = 0
        self._end = max((unit.row for unit in prompt), default=0)
        self._options: set[int] = set()

    def know_options(self, identities: Collection[int]) -> None:
        """Take in which values are options of some tool's parameter."""
        self._options = set(identities)

    def take(self, identity: int) -> None:
        """Close the mention, or mentions, of a value that a call has used."""
        for mention in self._mentions:
            if mention.open and mention.identity == identity:
                mention.open = False
                self._last = max(self._last, mention.unit.row)
                if mention.unit.shape in _ONCE or identity in self._options:
                    return

    def units(self) -> list[Unit]:
        """Return the first open mentions as units, to stand before the choice of a tool."""
        shown = [mention.unit for mention in self._mentions if mention.open][:SHOWN]
        return [Unit(Kind.AGENDA, u.keys, u.values, shape=u.shape, place=u.place, row=u.row) for u in shown]

    @property
    def left(self) -> int:
        """How many mentions are open."""
        return sum(mention.open for mention in self._mentions)

    def next_keys(self) -> frozenset[str]:
        """Return the words that name the first open mention."""
        mention = next((mention for mention in self._mentions if mention.open), None)
        return frozenset(word for word, _ in mention.unit.keys) if mention else frozenset()

    def speaks_of(self, words: frozenset[str]) -> bool:
        """Say whether an open mention in focus is named by all of these words."""
        first, last = self.focus()
        return bool(words) and any(
            mention.open and first <= mention.unit.row <= last and words <= {word for word, _ in mention.unit.keys}
            for mention in self._mentions
        )

    def focus(self) -> tuple[int, int]:
        """Return the first and last sentence in focus: from the last used value's to the first open one's."""
        following = next((mention.unit.row for mention in self._mentions if mention.open), self._end)
        return min(self._last, following), max(self._last, following)

    def end_in_focus(self) -> int:
        """Return which end the sentences in focus ask for, by the last superlative in them: 1 high, -1 low, 0 none."""
        first, last = self.focus()
        signs = [sign for place, sign in self._ends if first <= self._stream[place][1] <= last]
        return signs[-1] if signs else 0

    def beside_superlative(self, words: Sequence[str]) -> bool:
        """Say whether these words stand one after the other close to a superlative in focus ("the largest amount")."""
        first, last = self.focus()
        starts = self._starts.get(words[0], ()) if words else ()
        return any(
            abs(at - place) <= _BESIDE and self._words[at : at + len(words)] == list(words)
            for place, _ in self._ends
            if first <= self._stream[place][1] <= last
            for at in starts
        )

    def focus_words(self) -> Weighted:
        """Return the words of the sentences in focus; those of a sentence already begun count half."""
        first, last = self.focus()
        words: dict[str, float] = {}
        for unit in self._prompt:
            if first <= unit.row <= last and unit.kind == Kind.PROMPT:
                weight = 0.3 if unit.row == first < last else 0.6
                for word, _ in unit.values:
                    words[word] = max(words.get(word, 0.0), weight)
        return tuple(words.items())[:48]

    def ranks(self, identities: np.ndarray, count: int) -> np.ndarray:
        """Return, for each value's id (of `count`), its place among the open mentions, LATE if it is none."""
        table = np.full(count + 1, LATE)
        opened = [mention.identity for mention in self._mentions if mention.open]
        for rank, identity in reversed(list(enumerate(opened))):
            table[identity] = rank
        return table[identities]

    def sentences_of(self, words: Sequence[str]) -> tuple[int, ...]:
        """Return the sentences in which these words stand one after the other."""
        starts = self._starts.get(words[0], ()) if words else ()
        found = {self._stream[at][1] for at in starts if self._words[at : at + len(words)] == list(words)}
        return tuple(sorted(found))
