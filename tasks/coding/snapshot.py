"""Reading a snapshot in the factory's own process, apart from the engine that the tools run on."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from schemas.database import Database
from schemas.snapshot import check_snapshot
from tasks.coding.words import identifier

State = dict[str, dict[Any, dict[str, Any]]]
"""All rows: table -> key -> row."""


class Reader:
    """A private in-memory copy of a snapshot for queries. Close it, or use it as a context manager.

    Raises:
        SnapshotRefused: if the bytes are no SQLite file, or of a later release.
    """

    def __init__(self, snapshot: bytes) -> None:
        check_snapshot(snapshot)
        self._connection = sqlite3.connect(":memory:")
        self._connection.deserialize(snapshot)
        self._connection.execute("PRAGMA query_only = 1")

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return all rows as dicts."""
        cursor = self._connection.execute(sql, tuple(values))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def column(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self._connection.execute(sql, tuple(values))]

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first value of the first row, None if there is no row."""
        row = self._connection.execute(sql, tuple(values)).fetchone()
        return None if row is None else row[0]

    def state(self, database: Database) -> State:
        """Return all rows of all tables of the database by key, in the order of the keys."""
        found: State = {}
        for table in database.tables:
            sql = f"SELECT * FROM {identifier(table.name)} ORDER BY {identifier(table.key)}"
            found[table.name] = {row[table.key]: row for row in self.rows(sql)}
        return found
