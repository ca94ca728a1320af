"""The units of a session stored by column, ready to become arrays."""

from __future__ import annotations

import numpy as np

from tasks.policies.pointer.units import N_NUMBERS, NOTHING, Unit
from tasks.policies.pointer.words import value_key

_ZEROS = (0.0,) * N_NUMBERS
_BLOCK = 256


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
        self._table = np.zeros((8, _BLOCK), np.int32)

    def __len__(self) -> int:
        return len(self.units)

    def identity(self, value: object) -> int:
        """Return the id under which equal values meet."""
        return self._ids.setdefault(value_key(value), len(self._ids))

    def append(self, unit: Unit) -> None:
        """Add a unit behind the others."""
        place = len(self.units)
        if place == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros((8, _BLOCK), np.int32)], axis=1)
        source = self._sources.setdefault(unit.column, len(self._sources)) if unit.column else -1
        leaf = -1
        if unit.column:
            name = unit.column.rpartition("/")[2].rpartition(".")[2]
            leaf = self.leaves.setdefault(name, len(self.leaves))
        identity = -1 if unit.value is NOTHING else self.identity(unit.value)
        self._table[:, place] = (
            unit.kind, unit.shape, unit.place, unit.row, unit.step, identity, source, leaf,
        )  # fmt: skip
        self.units.append(unit)
        self.numbers.append(unit.numbers or _ZEROS)
        words = self.words
        for word, weight in unit.keys:
            self.keys.append((place, words.setdefault(word, len(words)), weight))
        for word, weight in unit.values:
            self.values.append((place, words.setdefault(word, len(words)), weight))

    def table(self, start: int = 0) -> np.ndarray:
        """Return kind, shape, place, row and step of the units from `start` on (5 x units)."""
        return self._table[:5, start : len(self.units)]

    def _column(self, index: int) -> np.ndarray:
        return self._table[index, : len(self.units)]

    kinds = property(lambda self: self._column(0))
    shapes = property(lambda self: self._column(1))
    rows = property(lambda self: self._column(3))
    steps = property(lambda self: self._column(4))
    identities = property(lambda self: self._column(5))
    column_ids = property(lambda self: self._column(6))
    leaf_ids = property(lambda self: self._column(7))
