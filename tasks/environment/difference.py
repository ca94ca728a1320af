"""The difference between two states, computed in the factory's process from the bytes of their SQLite files."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from schemas.base import canonical_json
from schemas.snapshot import SNAPSHOT_VERSION
from schemas.task import Change
from tasks.environment.rows import StateError, TableDifference
from tasks.environment.runtime.tables import quote, read_tables

_INSTRUCTIONS_A_LOOK, _LOOKS, _INSTRUCTIONS_A_BYTE = 1_000_000, 20, 20
_BROKEN = (sqlite3.Error, OverflowError, MemoryError)


def open_state(state: bytes) -> sqlite3.Connection:
    """Open a state's bytes in memory, wary of what untrusted code may have written into them.

    Raises:
        StateError: if the bytes are no SQLite file, or a later release wrote them.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.deserialize(state)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except _BROKEN as error:
        connection.close()
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    if version > SNAPSHOT_VERSION:
        connection.close()
        raise StateError(
            f"the state has layout {version}, this release reads layouts up to {SNAPSHOT_VERSION}: install a later one"
        )
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


def _read_schema(connection: sqlite3.Connection, side: str, at_most: int = -1) -> tuple[list[Any], list[Any]]:
    """Return the schema of a state, and apart from it where its tables' root pages are."""
    rows = connection.execute(f"SELECT type, name, tbl_name, sql, rootpage FROM {side}.sqlite_schema LIMIT {at_most}")
    found = sorted(rows, key=repr)  # a query that sorts would first take in whatever is there
    return [row[:4] for row in found], [row[4] for row in found]


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
        self.wary = wary
        self._connection = open_state(before)
        self._schema, self._roots = _read_schema(self._connection, "main")
        self._tables = [TableDifference(shape) for shape in read_tables(self._connection, log_tables)]
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

    def _may_differ(self, after: bytes, roots: list[Any]) -> list[TableDifference]:
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
            if self.wary:
                self._bound(len(after))
            schema, roots = _read_schema(connection, "after", len(self._schema) + 1)
            if schema != self._schema:
                raise StateError("the state's schema is not that of the initial state")
            if self.wary:
                check_pages(connection, "after")
            return tuple(change for table in self._may_differ(after, roots) for change in table.all_changes(connection))
        except (*_BROKEN, ValidationError) as error:
            raise StateError(f"the state is no intact SQLite file: {error}") from error
        finally:
            if self.wary:
                connection.set_progress_handler(None, 0)

    def _bound(self, size: int) -> None:
        """Let SQLite do no more for a state than its size explains."""
        looks = iter([0] * (_LOOKS + size * _INSTRUCTIONS_A_BYTE // _INSTRUCTIONS_A_LOOK))
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(size, 1_000_000))
        self._connection.set_progress_handler(lambda: next(looks, 1), _INSTRUCTIONS_A_LOOK)

    def journaled(self, journal: Any) -> tuple[Change, ...]:
        """Return the changed rows that an episode's journal tells, in the order of `changes`.

        The rows of the initial state are looked up here, so a journal can only be wrong about the rows after. A wary
        differ takes none but an empty one, which says that nothing was written: rows may have been changed behind the
        triggers of a journal, while a whole state must at least be an intact one of the same schema.

        Args:
            journal: what `tasks.environment.runtime.journal.Journal.rows` returned, as read from JSON.

        Raises:
            StateError: if it has another form.
        """
        if journal == []:
            return ()
        if self.wary:
            raise StateError("the changes are told without the state")
        by_table: dict[int, list[tuple[Any, Any]]] = defaultdict(list)
        try:
            if not isinstance(journal, list):
                raise StateError("the journal is no list")
            for index, key, cells in journal:
                if type(index) is not int or not 0 <= index < len(self._tables):
                    raise StateError(f"the journal names an unknown table {index!r}")
                by_table[index].append((key, cells))
            return tuple(
                change
                for index in sorted(by_table)
                for change in self._tables[index].touched_changes(self._connection, by_table[index])
            )
        except StateError:
            raise
        except (*_BROKEN, ValueError, TypeError, IndexError) as error:
            raise StateError(f"the journal is malformed: {error}") from error

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


def _hashed(cell: Any) -> Any:
    """Return a cell as JSON holds it."""
    if isinstance(cell, bytes):
        return {"bytes": cell.hex()}
    return cell if not isinstance(cell, float) or math.isfinite(cell) else {"number": repr(cell)}


def state_hash(snapshot: bytes, log_tables: Sequence[str] = ()) -> str:
    """Return the sha256 of a state's content, whatever the file's layout and the order in which rows were inserted.

    Rows count in the order of their keys, or of all their cells in a table without one; log tables do not count.

    Raises:
        StateError: if the bytes are no intact SQLite file.
    """
    connection = open_state(snapshot)
    digest = hashlib.sha256()
    try:
        for table in read_tables(connection, log_tables):
            digest.update(canonical_json([table.name, table.columns]).encode())
            picked = ", ".join(map(quote, table.columns))
            order = ", ".join(f"{quote(column)} COLLATE BINARY" for column in table.key or table.columns)
            for row in connection.execute(f"SELECT {picked} FROM {quote(table.name)} ORDER BY {order}"):
                digest.update(canonical_json([_hashed(cell) for cell in row]).encode())
    except sqlite3.Error as error:
        raise StateError(f"the state is no intact SQLite file: {error}") from error
    finally:
        connection.close()
    return digest.hexdigest()
