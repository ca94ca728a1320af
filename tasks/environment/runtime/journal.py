"""Which rows an episode has touched, so that its difference costs what it changed and not the size of the world."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from tasks.environment.runtime.tables import TableShape, quote, read_tables


class Journal:
    """Remembers the keys of all rows that statements insert, update or delete.

    Triggers of the connection's own (TEMP: they are no part of the state) call a function with each key. The journal
    may remember too much, for example what was undone, never too little: who reads it compares the rows as they are
    now with the initial ones.

    Raises:
        sqlite3.Error: on construction, if a table takes no triggers.
    """

    def __init__(self, connection: sqlite3.Connection, log_tables: Sequence[str]) -> None:
        self._connection = connection
        self._tables = read_tables(connection, log_tables)
        self._selects = [table.select() for table in self._tables]
        self._touched: list[set[Any]] = [set() for _ in self._tables]
        connection.execute("PRAGMA recursive_triggers = ON")  # else a row that REPLACE removes is not told
        for index, table in enumerate(self._tables):
            self._watch(index, table)

    def _watch(self, index: int, table: TableShape) -> None:
        touched, name, places = self._touched[index], f"journal_{index}", table.places
        single = len(places) == 1
        self._connection.create_function(name, len(places), touched.add if single else lambda *key: touched.add(key))
        for event, sides in (("INSERT", ("NEW",)), ("UPDATE", ("OLD", "NEW")), ("DELETE", ("OLD",))):
            keys = [", ".join(f"{side}.{place}" for place in places) for side in sides]
            self._connection.execute(
                f"CREATE TEMP TRIGGER {name}_{event} AFTER {event} ON main.{quote(table.name)}"
                f" BEGIN SELECT {', '.join(f'{name}({key})' for key in keys)}; END"
            )

    def clear(self) -> None:
        """Forget all rows."""
        for touched in self._touched:
            touched.clear()

    def rows(self) -> list[list[Any]]:
        """Return [number of the table, key's cells, the row's cells or None if it is gone] for each row touched."""
        found: list[list[Any]] = []
        execute = self._connection.execute
        for index, touched in enumerate(self._touched):
            if touched:
                select, single = self._selects[index], len(self._tables[index].places) == 1
                for cells in touched:
                    key = (cells,) if single else cells
                    found.append([index, key, execute(select, key).fetchone()])
        return found
