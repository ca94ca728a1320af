"""The tables of a state and what tells their rows apart; the sandbox and the factory read them in the same way."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple


class TableShape(NamedTuple):
    """A table's name and columns. `key` names its primary key's columns; () if it has none: then the rowid is it."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The columns, quoted, by which a row is found: the key's, or the rowid under a name that no column has."""
        free = (name for name in ("rowid", "_rowid_", "oid") if name not in {column.lower() for column in self.columns})
        return tuple(map(quote, self.key)) or (next(free, "rowid"),)

    def select(self, schema: str = "main") -> str:
        """Return the query for a row's cells by the values of its `places`."""
        cells = ", ".join(map(quote, self.columns))
        found = " AND ".join(same(place, f"?{number}") for number, place in enumerate(self.places, 1))
        return f"SELECT {cells} FROM {schema}.{quote(self.name)} WHERE {found}"


def same(left: str, right: str) -> str:
    """Return a condition that two key cells are the same bytes, whatever a column's collation holds for equal.

    The first half is for the key's index, whose collation it has.
    """
    return f"{left} IS {right} AND {left} COLLATE BINARY IS {right}"


def quote(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def read_tables(connection: sqlite3.Connection, log_tables: Sequence[str] = ()) -> list[TableShape]:
    """Return the tables that count for a state's difference, by name: neither SQLite's own nor log tables."""
    names = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " ORDER BY name"
    ).fetchall()
    tables = []
    for (name,) in names:
        if name in log_tables:
            continue
        columns = connection.execute(f"PRAGMA main.table_info({quote(name)})").fetchall()
        keys = sorted((column[5], column[1]) for column in columns if column[5])
        tables.append(TableShape(name, tuple(column[1] for column in columns), tuple(key for _, key in keys)))
    return tables
