"""The difference between two states, computed in the factory's process from the bytes of their SQLite files."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import Any

from schemas.base import canonical_json
from schemas.task import Change
from tasks.environment.snapshot import quote

_SCHEMA = "SELECT type, name, tbl_name, sql FROM {} ORDER BY type, name"


class StateError(ValueError):
    """A state's bytes are no intact SQLite file, or its schema is not that of the initial state."""


def open_state(state: bytes) -> sqlite3.Connection:
    """Open a state's bytes in memory, wary of what untrusted code may have written into them.

    Raises:
        StateError: if the bytes are no SQLite file.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.deserialize(state)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except (sqlite3.Error, OverflowError) as error:
        connection.close()
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    return connection


def _tables(connection: sqlite3.Connection, log_tables: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Return table -> (key column, all columns) of the tables that count for the difference."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    tables = {}
    for (name,) in names:
        if name in log_tables:
            continue
        columns = connection.execute(f"PRAGMA table_info({quote(name)})").fetchall()
        keys = [column[1] for column in columns if column[5] == 1]
        tables[name] = (keys[0] if keys else "rowid", [column[1] for column in columns])
    return tables


class Differ:
    """Computes differences to one initial state; keep it, to parse that state's schema only once.

    Raises:
        StateError: on construction, if the bytes are no SQLite file.
    """

    def __init__(self, before: bytes, log_tables: Sequence[str] = ()) -> None:
        self._before_bytes = before
        self._connection = open_state(before)
        self._schema = self._connection.execute(_SCHEMA.format("main.sqlite_schema")).fetchall()
        self._tables = _tables(self._connection, log_tables)
        self._connection.execute("ATTACH ':memory:' AS after")

    def changes(self, after: bytes) -> tuple[Change, ...]:
        """Return the changed rows, ordered by table, operation and key.

        Raises:
            StateError: if the bytes are no intact SQLite file or have another schema.
        """
        if after == self._before_bytes:
            return ()
        connection = self._connection
        try:
            connection.deserialize(after, name="after")
            if connection.execute(_SCHEMA.format("after.sqlite_schema")).fetchall() != self._schema:
                raise StateError("the state's schema is not that of the initial state")
            found: list[Change] = []
            for table, (key, columns) in self._tables.items():
                found.extend(_table_changes(connection, table, key, columns))
            return tuple(found)
        except (sqlite3.Error, OverflowError) as error:
            raise StateError(f"the state is no intact SQLite file: {error}") from error

    def close(self) -> None:
        """Free the states."""
        self._connection.close()


def _table_changes(connection: sqlite3.Connection, table: str, key: str, columns: list[str]) -> list[Change]:
    name, same_key = quote(table), f"a.{quote(key)} = b.{quote(key)}"
    width = len(columns)
    before, after = (", ".join(f"{side}.{quote(column)}" for column in columns) for side in "ba")
    differs = " OR ".join(f"a.{quote(column)} IS NOT b.{quote(column)}" for column in columns)
    pick = f"b.{quote(key)}, {before}, {after}"

    def row(values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(columns, values, strict=True))

    changes = [
        Change(table=table, operation="delete", key=found[0], before=row(found[1:]))
        for found in connection.execute(
            f"SELECT b.{quote(key)}, {before} FROM main.{name} b"
            f" WHERE NOT EXISTS (SELECT 1 FROM after.{name} a WHERE {same_key}) ORDER BY 1"
        )
    ]
    changes += [
        Change(table=table, operation="insert", key=found[0], after=row(found[1:]))
        for found in connection.execute(
            f"SELECT a.{quote(key)}, {after} FROM after.{name} a"
            f" WHERE NOT EXISTS (SELECT 1 FROM main.{name} b WHERE {same_key}) ORDER BY 1"
        )
    ]
    changes += [
        Change(table=table, operation="update", key=found[0], before=row(found[1 : width + 1]),
               after=row(found[width + 1 :]))
        for found in connection.execute(
            f"SELECT {pick} FROM main.{name} b JOIN after.{name} a ON {same_key} WHERE {differs} ORDER BY 1"
        )
    ]
    return changes


def difference(before: bytes, after: bytes, log_tables: Sequence[str] = ()) -> tuple[Change, ...]:
    """Return the rows that differ between two states, log tables aside, ordered by table, operation and key.

    Raises:
        StateError: if the bytes are no intact SQLite files or their schemas differ.
    """
    if before == after:
        return ()
    differ = Differ(before, log_tables)
    try:
        return differ.changes(after)
    finally:
        differ.close()


def state_hash(snapshot: bytes, log_tables: Sequence[str] = ()) -> str:
    """Return the sha256 of a state's content: of all rows in the order of their keys, whatever the file's layout.

    Raises:
        StateError: if the bytes are no intact SQLite file.
    """
    connection = open_state(snapshot)
    digest = hashlib.sha256()
    try:
        for table, (key, columns) in _tables(connection, log_tables).items():
            digest.update(canonical_json([table, columns]).encode())
            picked = ", ".join(map(quote, columns))
            for row in connection.execute(f"SELECT {picked} FROM {quote(table)} ORDER BY {quote(key)}"):
                digest.update(canonical_json(row).encode())
    except sqlite3.Error as error:
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    finally:
        connection.close()
    return digest.hexdigest()
