"""The difference between two states, computed in the factory's process from the bytes of their SQLite files."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from schemas.base import canonical_json
from schemas.task import Change
from tasks.environment.snapshot import quote

_INSTRUCTIONS_A_LOOK, _LOOKS, _INSTRUCTIONS_A_BYTE = 1_000_000, 20, 20
_BROKEN = (sqlite3.Error, OverflowError, MemoryError)


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
    except _BROKEN as error:
        connection.close()
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    return connection


def check_pages(connection: sqlite3.Connection, side: str = "main") -> None:
    """Check that no page of a state is used twice, in time linear in its size.

    SQLite reads a file whose trees share pages without complaint: a few kilobytes can hold more rows than there is time
    to read. Only code that forges a state's bytes can make one.

    Raises:
        StateError: if the state is not intact.
    """
    try:
        ((found,),) = connection.execute(f"PRAGMA {side}.quick_check(1)").fetchall()
    except (*_BROKEN, ValueError) as error:
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    if found != "ok":
        raise StateError(f"the state is no intact SQLite file: {found}")


def _plain(columns: Sequence[str], cells: Sequence[Any], before: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a row by column; new cells must be what JSON can hold."""
    for place, cell in enumerate(cells):
        if isinstance(cell, bytes) or (isinstance(cell, float) and not math.isfinite(cell)):
            if before and before[place] == cell:
                continue
            raise StateError(f"column {columns[place]!r} holds a {type(cell).__name__} that JSON cannot hold")
    return dict(zip(columns, cells, strict=True))


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


def _read_schema(connection: sqlite3.Connection, side: str, at_most: int = -1) -> tuple[list[Any], list[Any]]:
    """Return the schema of a state, and apart from it where its tables' root pages are."""
    rows = connection.execute(f"SELECT type, name, tbl_name, sql, rootpage FROM {side}.sqlite_schema LIMIT {at_most}")
    found = sorted(rows, key=repr)  # a query that sorts would first take in whatever is there
    return [row[:4] for row in found], [row[4] for row in found]


@dataclass(frozen=True)
class _Table:
    """A table's columns and the queries for its changed rows; `main` is the initial state, `after` the other one."""

    name: str
    columns: tuple[str, ...]
    changed: str
    inserted: str

    @classmethod
    def of(cls, name: str, key: str, columns: Sequence[str]) -> _Table:
        table, same_key = quote(name), f"a.{quote(key)} = b.{quote(key)}"
        before, after = (", ".join(f"{side}.{quote(column)}" for column in columns) for side in "ba")
        differs = " OR ".join(f"a.{quote(column)} IS NOT b.{quote(column)}" for column in columns)
        return cls(
            name,
            tuple(columns),
            f"SELECT b.{quote(key)}, a.rowid IS NULL, {before}, {after} FROM main.{table} b LEFT JOIN after.{table} a"
            f" ON {same_key} WHERE a.rowid IS NULL OR {differs} ORDER BY 2 DESC, 1",
            f"SELECT a.{quote(key)}, {after} FROM after.{table} a"
            f" WHERE NOT EXISTS (SELECT 1 FROM main.{table} b WHERE {same_key}) ORDER BY 1",
        )

    def changes(self, connection: sqlite3.Connection) -> list[Change]:
        """Return deletes, inserts and updates, each in the order of the keys."""
        name, columns, width = self.name, self.columns, len(self.columns)
        deletes, updates = [], []
        for key, deleted, *cells in connection.execute(self.changed):
            before = dict(zip(columns, cells[:width], strict=True))
            if deleted:
                deletes.append(Change(table=name, operation="delete", key=key, before=before))
            else:
                after = _plain(columns, cells[width:], cells[:width])
                updates.append(Change(table=name, operation="update", key=key, before=before, after=after))
        inserts = [
            Change(table=name, operation="insert", key=key, after=_plain(columns, cells))
            for key, *cells in connection.execute(self.inserted)
        ]
        return deletes + inserts + updates


class Differ:
    """Computes differences to one initial state; keep it, to study that state only once.

    Tables whose pages are all as they were are skipped: a table's content follows from its root page and the pages that
    hang from it, so no row of such a table can differ.

    Args:
        before: the initial state.
        log_tables: tables to leave out.
        wary: check each other state for forged pages first (about 2.5 ms a megabyte): for states that come out of
            processes in which untrusted code has run.

    Raises:
        StateError: on construction, if the bytes are no SQLite file.
    """

    def __init__(self, before: bytes, log_tables: Sequence[str] = (), *, wary: bool = False) -> None:
        self._before = before
        self._wary = wary
        self._connection = open_state(before)
        self._schema, self._roots = _read_schema(self._connection, "main")
        tables = _tables(self._connection, log_tables)
        self._tables = [_Table.of(name, key, columns) for name, (key, columns) in tables.items()]
        size = int.from_bytes(before[16:18], "big")
        self._page_size = 65536 if size == 1 else size
        self._pages = self._pages_by_table()
        self._connection.execute("ATTACH ':memory:' AS after")

    def _pages_by_table(self) -> dict[str, list[slice]]:
        """Return table -> the places of its pages; nothing if this SQLite cannot tell them."""
        try:
            found = self._connection.execute("SELECT name, pageno FROM dbstat ORDER BY name, pageno").fetchall()
        except sqlite3.Error:
            return {}
        pages: dict[str, list[slice]] = {}
        for name, number in found:
            runs = pages.setdefault(name, [])
            start = (number - 1) * self._page_size
            if runs and runs[-1].stop == start:
                runs[-1] = slice(runs[-1].start, start + self._page_size)
            else:
                runs.append(slice(start, start + self._page_size))
        return pages

    def _may_differ(self, after: bytes, roots: list[Any]) -> list[_Table]:
        if (
            not self._pages
            or roots != self._roots
            or any(after[a:b] != self._before[a:b] for a, b in ((16, 24), (56, 60)))
        ):
            return self._tables
        return [
            table
            for table in self._tables
            if table.name not in self._pages or any(after[run] != self._before[run] for run in self._pages[table.name])
        ]

    def changes(self, after: bytes) -> tuple[Change, ...]:
        """Return the changed rows, ordered by table, operation and key.

        Raises:
            StateError: if the bytes are no intact SQLite file or have another schema.
        """
        if after == self._before:
            return ()
        connection = self._connection
        try:
            connection.deserialize(after, name="after")
            if self._wary:
                self._bound(len(after))
            schema, roots = _read_schema(connection, "after", len(self._schema) + 1)
            if schema != self._schema:
                raise StateError("the state's schema is not that of the initial state")
            if self._wary:
                check_pages(connection, "after")
            return tuple(change for table in self._may_differ(after, roots) for change in table.changes(connection))
        except (*_BROKEN, ValidationError) as error:
            raise StateError(f"the state is no intact SQLite file: {error}") from error
        finally:
            if self._wary:
                connection.set_progress_handler(None, 0)

    def _bound(self, size: int) -> None:
        """Let SQLite do no more for a state than its size explains."""
        looks = iter([0] * (_LOOKS + size * _INSTRUCTIONS_A_BYTE // _INSTRUCTIONS_A_LOOK))
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, 1_000_000))
        self._connection.set_progress_handler(lambda: next(looks, 1), _INSTRUCTIONS_A_LOOK)

    def close(self) -> None:
        """Free the states."""
        self._connection.close()


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
