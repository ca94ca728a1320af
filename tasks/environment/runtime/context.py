"""What a tool gets as its first argument: the database, the documents, the clock and the ids of one episode."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from typing import Any

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


_MAX_NAMES = 1000


class Db:
    """The episode's private SQLite database. SQL errors are raised as `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection, names: dict[str, tuple[str, ...]] | None = None) -> None:
        self._connection = connection
        self._names = {} if names is None else names  # SQL text -> column names; the schema never changes

    def _columns(self, sql: str, cursor: sqlite3.Cursor) -> tuple[str, ...]:
        if len(self._names) >= _MAX_NAMES:
            self._names.clear()
        found = self._names[sql] = tuple(column[0] for column in cursor.description or ())
        return found

    def rows(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> list[dict[str, Any]]:
        """Return all rows as dicts by column name."""
        cursor = self._connection.execute(sql, params)
        names = self._names.get(sql) or self._columns(sql, cursor)
        return [dict(zip(names, row)) for row in cursor.fetchall()]  # noqa: B905 - both come from the one cursor

    def row(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> dict[str, Any] | None:
        """Return the first row as a dict, or None."""
        cursor = self._connection.execute(sql, params)
        row = cursor.fetchone()
        if row is None:
            return None
        return dict(zip(self._names.get(sql) or self._columns(sql, cursor), row))  # noqa: B905 - the one cursor

    def value(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self._connection.execute(sql, params).fetchone()
        return None if row is None else row[0]

    def execute(self, sql: str, params: Sequence[Any] | dict[str, Any] = ()) -> int:
        """Run a statement that writes and return the number of rows that it changed."""
        return self._connection.execute(sql, params).rowcount


class Documents:
    """The environment's documents."""

    def __init__(self, db: Db) -> None:
        self._db = db

    def names(self) -> list[str]:
        """Return the names of all documents, sorted."""
        return [row["name"] for row in self._db.rows("SELECT name FROM documents ORDER BY name")]

    def read(self, name: str) -> str:
        """Return a document's content.

        Raises:
            KeyError: if there is no such document.
        """
        content = self._db.value("SELECT content FROM documents WHERE name = ?", (name,))
        if content is None:
            raise KeyError(f"there is no document {name!r}")
        return content


class Clock:
    """The episode's clock: it stands still at the environment's start time."""

    def __init__(self, start_time: str) -> None:
        self._now = start_time

    def now(self) -> str:
        """Return the present time, "YYYY-MM-DDTHH:MM:SS"."""
        return self._now

    def today(self) -> str:
        """Return the present day, "YYYY-MM-DD"."""
        return self._now[:10]


class Ids:
    """Mints keys from the episode's seed: the same seed mints the same keys in the same order."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random: random.Random | None = None  # seeded when first needed: it costs as much as a call

    def new(self, prefix: str) -> str:
        """Return a new key, e.g. "ord-7k2m9x" for the prefix "ord" (or "ord-"); 31**6 are possible."""
        if self._random is None:
            self._random = random.Random(f"ids-{self._seed}")
        separator = prefix[-1:] if prefix[-1:] in ("-", "_", ":", "/") else "-"
        return prefix.rstrip("-_:/") + separator + "".join(self._random.choices(_ALPHABET, k=6))


class Context:
    """What a tool gets: `db`, `documents`, `clock`, `ids` and `refuse`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        start_time: str,
        seed: int,
        names: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.db = Db(connection, names)
        self.documents = Documents(self.db)
        self.clock = Clock(start_time)
        self.ids = Ids(seed)

    def refuse(self, code: str, message: str) -> dict[str, Any]:
        """Return the error observation of a refusal; returning it from a tool undoes the call's writes."""
        return {"error": {"code": code, "message": message}}
