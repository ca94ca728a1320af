"""The episode's SQLite connection, closed against what tools must not do: files, schema changes, real time, chance."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

_ALLOWED_PRAGMAS = {"table_info", "table_xinfo", "foreign_key_list", "index_list", "index_info", "page_count"}
_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_DELETE,
}
_DENIED_FUNCTIONS = {"load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"}
_LENGTH = 64 * 1024 * 1024
INSTRUCTIONS_A_LOOK = 1_000_000


def _authorizer(savepoints: tuple[str, ...]) -> Callable[..., int]:
    """Allow reading and changing rows, and of savepoints only the engine's own, whose names tools do not know."""

    def authorize(action: int, first: str | None, second: str | None, base: str | None, trigger: str | None) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_DENY if second in _DENIED_FUNCTIONS else sqlite3.SQLITE_OK
        if action in _ALLOWED:
            if action not in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE) and first in (
                "sqlite_master",
                "sqlite_schema",
            ):
                return sqlite3.SQLITE_DENY
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_SAVEPOINT:
            return sqlite3.SQLITE_OK if second in savepoints else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_OK if first in _ALLOWED_PRAGMAS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_DENY

    return authorize


def _freeze_functions(connection: sqlite3.Connection, start_time: str, chance: Callable[[int], bytes]) -> None:
    """Replace SQLite's own clock and chance: they are C code, which patched Python modules do not reach."""
    helper = sqlite3.connect(":memory:", isolation_level=None)

    def frozen(name: str, default: tuple[Any, ...]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            args = args or default
            args = tuple(start_time if isinstance(a, str) and a.lower() == "now" else a for a in args)
            if name == "strftime" and len(args) == 1:
                args = (*args, start_time)
            marks = ", ".join("?" * len(args))
            return helper.execute(f"SELECT {name}({marks})", args).fetchone()[0]

        return call

    for name in ("date", "time", "datetime", "julianday", "strftime", "unixepoch"):
        default = () if name == "strftime" else (start_time,)
        connection.create_function(name, -1, frozen(name, default), deterministic=True)
    connection.create_function("current_timestamp", 0, lambda: start_time.replace("T", " "), deterministic=True)
    connection.create_function("current_date", 0, lambda: start_time[:10], deterministic=True)
    connection.create_function("current_time", 0, lambda: start_time[11:19], deterministic=True)
    connection.create_function("random", 0, lambda: int.from_bytes(chance(8), "little", signed=True))
    connection.create_function("randomblob", 1, lambda n: chance(max(1, min(int(n), _LENGTH))))


def connect(
    snapshot: bytes,
    *,
    start_time: str,
    savepoints: tuple[str, ...],
    chance: Callable[[int], bytes] | None,
    watch: Callable[[], int],
    prepare: Callable[[sqlite3.Connection], None] | None = None,
) -> sqlite3.Connection:
    """Open a snapshot in memory for tools.

    Args:
        snapshot: the bytes of a SQLite file.
        start_time: what SQLite's own date functions take for now.
        savepoints: the names of the engine's savepoints; tools may use no other.
        chance: source of random bytes for SQLite's random functions; None leaves them and its clock as they are.
        prepare: called with the connection before it is closed against what tools must not do.
        watch: called every `INSTRUCTIONS_A_LOOK` instructions of SQLite's machine; non-zero stops the query.

    Raises:
        sqlite3.Error: if the bytes are no SQLite file.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
    original = sqlite3.connect(":memory:", isolation_level=None)
    original.deserialize(snapshot)
    original.backup(connection)  # into a plain memory database: its serialized bytes hold open transactions too
    original.close()
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
    if chance is not None:
        _freeze_functions(connection, start_time, chance)
    if prepare is not None:
        prepare(connection)
    connection.set_authorizer(_authorizer(savepoints))
    connection.set_progress_handler(watch, INSTRUCTIONS_A_LOOK)
    return connection
