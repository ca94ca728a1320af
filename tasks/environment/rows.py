"""The rows of one table in two states: which differ, and what that is as changes."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from schemas.base import canonical_json
from schemas.task import Change
from tasks.environment.runtime.tables import TableShape, quote, same

Cells = tuple[Any, ...]
Pair = tuple[Cells | None, Cells | None]
"""A row's cells before and after; None where there is no such row."""

_CELL_TYPES = {str, int, float, type(None)}


class StateError(ValueError):
    """A state's bytes are no intact SQLite file, its schema is another one, or JSON cannot hold what it holds."""


def _rank(cell: Any) -> tuple[int, Any]:
    """Return what puts cells in SQLite's order: null, numbers, text."""
    return (0, 0) if cell is None else (2, cell) if isinstance(cell, str) else (1, cell)


def _uncommon(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the rows that are gone and the rows that are new, whatever place each was told by."""
    listed = list(pairs)
    before, after = (Counter(pair[side] for pair in listed if pair[side] is not None) for side in (0, 1))
    yield from ((row, None) for row in (before - after).elements())
    yield from ((None, row) for row in (after - before).elements())


class TableDifference:
    """Finds the changed rows of a table in a connection whose `main` is the initial state and `after` the other one.

    A table without a primary key is a bag of rows: there a row is told by its content alone, nothing is an update, and
    the key of a change is the row's JSON text. The key of several columns is the JSON text of their list.
    """

    def __init__(self, shape: TableShape) -> None:
        self.name = shape.name
        self._shape = shape
        self._key = tuple(shape.columns.index(column) for column in shape.key)
        self._find, self._places = shape.select(), len(shape.places)
        table, columns = quote(shape.name), [quote(column) for column in shape.columns]
        match = " AND ".join(same(f"a.{place}", f"b.{place}") for place in shape.places)
        before, after = (", ".join(f"{side}.{column}" for column in columns) for side in "ba")
        differs = " OR ".join(f"a.{column} COLLATE BINARY IS NOT b.{column}" for column in columns)
        there = f"SELECT 1 FROM {{}}.{table} {{}} WHERE {match}"
        self._gone = f"SELECT {before} FROM main.{table} b WHERE NOT EXISTS ({there.format('after', 'a')})"
        self._new = f"SELECT {after} FROM after.{table} a WHERE NOT EXISTS ({there.format('main', 'b')})"
        self._kept = f"SELECT {before}, {after} FROM main.{table} b JOIN after.{table} a ON {match} WHERE {differs}"

    def all_changes(self, connection: sqlite3.Connection) -> list[Change]:
        """Return the changes, found by comparing all rows.

        Raises:
            StateError: if JSON cannot hold a cell of a changed row.
        """
        width = len(self._shape.columns)
        pairs: list[Pair] = [(row, None) for row in connection.execute(self._gone)]
        pairs += ((None, row) for row in connection.execute(self._new))
        pairs += ((row[:width], row[width:]) for row in connection.execute(self._kept))
        return self._changes(pairs)

    def touched_changes(self, connection: sqlite3.Connection, touched: Iterable[tuple[Any, Any]]) -> list[Change]:
        """Return the changes among rows given as (cells of the key or the rowid, cells after or None).

        Raises:
            StateError: if the cells have another form than this table's, or JSON cannot hold them.
        """
        pairs: list[Pair] = []
        for key, cells in touched:
            if not isinstance(key, list) or len(key) != self._places or not _CELL_TYPES.issuperset(map(type, key)):
                raise StateError(f"the journal of table {self.name!r} names no row: {key!r}"[:200])
            if cells is not None and (not isinstance(cells, list) or len(cells) != len(self._shape.columns)):
                raise StateError(f"the journal of table {self.name!r} tells another row than its columns hold")
            before = connection.execute(self._find, key).fetchone()
            after = None if cells is None else tuple(cells)
            if before != after:
                pairs.append((before, after))
        return self._changes(pairs)

    def _changes(self, pairs: list[Pair]) -> list[Change]:
        """Return pairs of differing cells as changes: deletes, inserts and updates, each in the order of the keys."""
        columns, order = self._shape.columns, self._key or range(len(self._shape.columns))
        found: list[tuple[str, list[Any], Change]] = []
        for before, after in pairs if self._key else _uncommon(pairs):
            self._check_cells(before or (), after or ())
            row = before if after is None else after
            key = [row[place] for place in order]  # type: ignore[index]
            operation = "delete" if after is None else "insert" if before is None else "update"
            change = Change(
                table=self.name,
                operation=operation,
                key=key[0] if len(self._key) == 1 and isinstance(key[0], str | int) else canonical_json(key),
                before=None if before is None else dict(zip(columns, before, strict=True)),
                after=None if after is None else dict(zip(columns, after, strict=True)),
            )
            found.append((operation, key, change))
        if len(found) > 1:
            found.sort(key=lambda item: (item[0], [_rank(cell) for cell in item[1]]))
        return [change for _, _, change in found]

    def _check_cells(self, before: Cells, after: Cells) -> None:
        """Refuse new cells that JSON cannot hold; those that an import brought along may stay."""
        kinds = set(map(type, after))
        if kinds <= _CELL_TYPES and (float not in kinds or all(c - c == 0 for c in after if type(c) is float)):
            return
        for place, cell in enumerate(after):
            fits = type(cell) in _CELL_TYPES and not (isinstance(cell, float) and not math.isfinite(cell))
            if not fits and not (before and before[place] == cell):
                name, kind = f"{self.name}.{self._shape.columns[place]}", type(cell).__name__
                raise StateError(f"column {name!r} holds a {kind} that JSON cannot hold")
