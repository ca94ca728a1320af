"""The units of a session stored by column, ready to become arrays."""

from __future__ import annotations

import numpy as np

from tasks.policies.pointer.units import N_NUMBERS, NOTHING, Kind, Shape, Unit
from tasks.policies.pointer.words import value_key

_ZEROS = (0.0,) * N_NUMBERS
_TEXTUAL = (Kind.PROMPT, Kind.SPAN, Kind.TEXT, Kind.AGENDA, Kind.DECIDE)
_SCHEMA = (Kind.CONSTANT, Kind.FIELD, Kind.TOOL, Kind.PARAMETER, Kind.ASK)


class Columns:
    """Units, appended one by one. Words, values, observation columns and leaf names get small integer ids."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.words: dict[str, int] = {}
        self.numbers: list[tuple[float, ...]] = []
        self.keys: list[tuple[int, int, float]] = []
        """(unit, word, weight) of the words that name units."""
        self.values: list[tuple[int, int, float]] = []
        """(unit, word, weight) of the words of units' values."""
        self.leaves: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._rows: list[tuple[int, ...]] = []
        self._table = np.zeros((9, 0), np.int32)

    def __len__(self) -> int:
        return len(self.units)

    def identity(self, value: object) -> int:
        """Return the id under which equal values meet."""
        return self._ids.setdefault(value_key(value), len(self._ids))

    def append(self, unit: Unit) -> None:
        """Add a unit behind the others."""
        place = len(self.units)
        source = self._sources.setdefault(unit.column, len(self._sources)) if unit.column else -1
        leaf = -1
        if unit.column:
            name = unit.column.rpartition("/")[2].rpartition(".")[2]
            leaf = self.leaves.setdefault(name, len(self.leaves))
        identity = -1 if unit.value is NOTHING else self.identity(unit.value)
        self._rows.append((unit.kind, unit.shape, unit.place, unit.row, unit.step, identity, source, leaf, unit.bound))
        self.units.append(unit)
        self.numbers.append(unit.numbers or _ZEROS)
        words = self.words
        for word, weight in unit.keys:
            self.keys.append((place, words.setdefault(word, len(words)), weight))
        for word, weight in unit.values:
            self.values.append((place, words.setdefault(word, len(words)), weight))

    def common(self) -> np.ndarray:
        """Return a boolean a word: does it name something in a schema, or stand in plain lower-case text?

        Values of rows, names and quoted text do not count, however often they occur.
        """
        named = {word for place, word, _ in self.keys if self.units[place].kind not in _TEXTUAL}
        plain = {
            place
            for place, unit in enumerate(self.units)
            if unit.kind in _SCHEMA
            or (unit.kind == Kind.PROMPT and unit.shape == Shape.WORD and str(unit.value)[1:].islower())
        }
        named.update(word for place, word, _ in self.values if place in plain)
        found = np.zeros(len(self.words), bool)
        found[list(named)] = True
        return found

    def _whole(self) -> np.ndarray:
        """Return kind, shape, place, row, step, identity, source, leaf and bound of all units (9 x units)."""
        done = self._table.shape[1]
        if done < len(self._rows):
            self._table = np.concatenate([self._table, np.array(self._rows[done:], np.int32).T], axis=1)
        return self._table

    def table(self, start: int = 0) -> np.ndarray:
        """Return kind, shape, place, row and step of the units from `start` on (5 x units)."""
        return self._whole()[:5, start:]

    def _column(self, index: int) -> np.ndarray:
        return self._whole()[index]

    @property
    def n_identities(self) -> int:
        """How many distinct values there are."""
        return len(self._ids)

    @property
    def n_sources(self) -> int:
        """How many observed columns there are."""
        return len(self._sources)

    kinds = property(lambda self: self._column(0))
    shapes = property(lambda self: self._column(1))
    rows = property(lambda self: self._column(3))
    steps = property(lambda self: self._column(4))
    identities = property(lambda self: self._column(5))
    column_ids = property(lambda self: self._column(6))
    leaf_ids = property(lambda self: self._column(7))
    bounds = property(lambda self: self._column(8))
