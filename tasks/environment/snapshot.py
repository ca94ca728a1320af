"""Build an environment's snapshot: one SQLite file whose tables hold keys, foreign keys and checks."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.database import Column, Database, Document, Table
from schemas.snapshot import SNAPSHOT_VERSION
from tasks.environment.runtime.tables import quote

_SQL_TYPES = {
    "integer": "INTEGER",
    "number": "REAL",
    "string": "TEXT",
    "boolean": "INTEGER",
    "date": "TEXT",
    "datetime": "TEXT",
}
_DATE = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_PATTERNS = {"date": _DATE, "datetime": _DATE + "T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]"}
_REGEXES = {
    "date": re.compile(r"\d{4}-[01]\d-[0-3]\d"),
    "datetime": re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d"),
}
DOCUMENTS_SQL = (
    "CREATE TABLE documents (name TEXT NOT NULL PRIMARY KEY, media_type TEXT NOT NULL, title TEXT NOT NULL,"
    " content TEXT NOT NULL) STRICT"
)


class SnapshotError(ValueError):
    """The rows do not fit the schema; the message names the table, the row and what is wrong."""


def _literal(value: str | float) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(int(value)) if float(value).is_integer() else repr(value)


def _column_sql(column: Column, table: Table) -> str:
    name = quote(column.name)
    parts = [name, _SQL_TYPES[column.type]]
    if column.name == table.key or not column.nullable:
        parts.append("NOT NULL")
    if column.name == table.key:
        parts.append("PRIMARY KEY")
    elif column.unique:
        parts.append("UNIQUE")
    if column.references:
        target, _, key = column.references.partition(".")
        parts.append(f"REFERENCES {quote(target)} ({quote(key)})")
    if column.choices:
        parts.append(f"CHECK ({name} IN ({', '.join(map(_literal, column.choices))}))")
    if column.minimum is not None:
        parts.append(f"CHECK ({name} >= {_literal(column.minimum)})")
    if column.maximum is not None:
        parts.append(f"CHECK ({name} <= {_literal(column.maximum)})")
    if column.type == "boolean":
        parts.append(f"CHECK ({name} IN (0, 1))")
    if column.type in _PATTERNS:
        parts.append(f"CHECK ({name} GLOB '{_PATTERNS[column.type]}')")
    return " ".join(parts)


def table_sql(table: Table) -> list[str]:
    """Return the statements that create a table and an index for each of its references.

    Raises:
        SnapshotError: if the key is not among the columns, or two columns have the same name.
    """
    names = [column.name for column in table.columns]
    if table.key not in names:
        raise SnapshotError(f"table {table.name!r}: the key {table.key!r} is not among its columns")
    if len({name.lower() for name in names}) < len(names):
        raise SnapshotError(f"table {table.name!r}: two columns have the same name")
    columns = ",\n  ".join(_column_sql(column, table) for column in table.columns)
    statements = [f"CREATE TABLE {quote(table.name)} (\n  {columns}\n) STRICT"]
    for column in table.columns:
        if column.references and column.name != table.key and not column.unique:
            index = quote(f"{table.name}__{column.name}")
            statements.append(f"CREATE INDEX {index} ON {quote(table.name)} ({quote(column.name)})")
    return statements


def _cell(value: Any, column: Column, where: str) -> Any:
    """Return the value as SQLite shall store it; refuse what is of another type, SQLite would convert some."""
    kind = column.type
    if value is None:
        if not column.nullable:
            raise SnapshotError(f"{where}: {column.name!r} is missing and not nullable")
        return None
    fits = False
    if kind == "integer":
        fits = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    elif kind == "number":
        fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        value = float(value) if fits else value
    elif kind == "boolean":
        fits = isinstance(value, bool) or (isinstance(value, int) and value in (0, 1))
        value = int(value) if fits else value
    elif isinstance(value, str):
        fits = "\0" not in value and (kind not in _REGEXES or _REGEXES[kind].fullmatch(value) is not None)
    if not fits:
        raise SnapshotError(f"{where}: {column.name!r} is {value!r}, not a {kind}")
    return value


def _insert(connection: sqlite3.Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [column.name for column in table.columns]
    places = ", ".join("?" * len(names))
    sql = f"INSERT INTO {quote(table.name)} ({', '.join(map(quote, names))}) VALUES ({places})"
    for index, row in enumerate(rows):
        where = f"table {table.name!r}, row {index} (key {row.get(table.key)!r})"
        unknown = row.keys() - set(names)
        if unknown:
            raise SnapshotError(f"{where}: unknown columns {sorted(unknown)}")
        try:
            connection.execute(sql, [_cell(row.get(column.name), column, where) for column in table.columns])
        except sqlite3.Error as error:
            raise SnapshotError(f"{where}: {error}") from error


def _check_references(connection: sqlite3.Connection, database: Database) -> None:
    tables = {table.name: table for table in database.tables}
    for table in database.tables:
        for column in table.columns:
            if not column.references:
                continue
            target, _, key = column.references.partition(".")
            known = tables.get(target)
            if known is None or all(key != other.name for other in known.columns):
                raise SnapshotError(f"table {table.name!r}: {column.name!r} references unknown {column.references!r}")
            if key != known.key and not known.column(key).unique:
                raise SnapshotError(f"table {table.name!r}: {column.references!r} is neither a key nor unique")
    for name, rowid, target, _ in connection.execute("PRAGMA foreign_key_check"):
        table = tables[name]
        row = connection.execute(f"SELECT {quote(table.key)} FROM {quote(name)} WHERE rowid = ?", (rowid,)).fetchone()
        raise SnapshotError(f"table {name!r}, row with key {row[0]!r}: it points to a missing row of {target!r}")


def build_snapshot(
    database: Database,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    documents: Sequence[tuple[Document, str]] = (),
) -> bytes:
    """Build the initial state of an environment; the same input gives the same bytes.

    Args:
        database: the schema. Its `snapshot_sha256` is not read.
        rows: table name -> rows as dicts by column name. A missing column is null.
        documents: each document with its content.

    Returns:
        The bytes of a SQLite file: STRICT tables with PRIMARY KEY, FOREIGN KEY, NOT NULL, UNIQUE and CHECK, an index
        for each reference, and the table `documents(name, media_type, title, content)`.

    Raises:
        SnapshotError: if a row does not fit; it names the table and the row.
    """
    unknown = set(rows) - {table.name for table in database.tables}
    if unknown:
        raise SnapshotError(f"rows for unknown tables {sorted(unknown)}")
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute(f"PRAGMA user_version = {SNAPSHOT_VERSION}")
        connection.execute("BEGIN")
        for table in database.tables:
            try:
                for statement in table_sql(table):
                    connection.execute(statement)
            except sqlite3.Error as error:
                raise SnapshotError(f"table {table.name!r}: {error}") from error
            _insert(connection, table, rows.get(table.name, ()))
        _check_references(connection, database)
        connection.execute(DOCUMENTS_SQL)
        for document, content in documents:
            try:
                connection.execute(
                    "INSERT INTO documents VALUES (?, ?, ?, ?)",
                    (document.name, document.media_type, document.title, content),
                )
            except (sqlite3.Error, UnicodeError) as error:
                raise SnapshotError(f"document {document.name!r}: {error}") from error
        connection.execute("COMMIT")
        return connection.serialize()
    finally:
        connection.close()
