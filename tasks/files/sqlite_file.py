"""SQLite files: their tables are read; views, triggers and virtual tables, which could run something, are not."""

from __future__ import annotations

import sqlite3
import time

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table

_SECONDS = 20.0


def read_sqlite(data: bytes, name: str, limits: FileLimits) -> list[FileTable]:
    """Return every ordinary table that has rows; locators are `table rowid 5`, or `table row 5` where there are none.

    Raises:
        FileError: if it is damaged, has no such table, or takes too long.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        until = time.monotonic() + _SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)
        return _tables(connection, name, limits)
    except sqlite3.Error as error:
        raise FileError(name, f"is a damaged SQLite database ({error})") from None
    finally:
        connection.close()


def _tables(connection: sqlite3.Connection, name: str, limits: FileLimits) -> list[FileTable]:
    listed = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name LIMIT ?",
        (limits.tables + 1,),
    ).fetchall()
    if len(listed) > limits.tables:
        raise FileError(name, f"holds more than {limits.tables} tables")
    found = []
    for table, without_rowid in listed:
        quoted = '"' + table.replace('"', '""') + '"'
        cursor = connection.execute(f"SELECT {'NULL' if without_rowid else 'rowid'}, * FROM {quoted}")
        header = [column[0] for column in cursor.description[1:]]
        rows = (
            (f"{table} row {index}" if row[0] is None else f"{table} rowid {row[0]}", row[1:])
            for index, row in enumerate(cursor, start=1)
        )
        read = make_table(table, header, rows, limits, name)
        found += [read] if read.rows else []
    if not found:
        raise FileError(name, "is a database without rows in any table")
    return found
