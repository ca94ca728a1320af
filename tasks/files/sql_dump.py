"""SQL dumps: rows of INSERT statements and of PostgreSQL's COPY blocks. Statements are parsed, never executed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table

_COPY = re.compile(r"(?im)^COPY\s+(\S+)\s*(?:\(([^)]*)\))?\s+FROM\s+stdin[^\n]*;[^\n]*\n(.*?)^\\\.\s*$", re.DOTALL)
_WANTED = re.compile(r"(?i)\s*(insert\s+(or\s+\w+\s+)?into|replace\s+into|create\s+(temp\w*\s+|unlogged\s+)?table)\b")
_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

Rows = dict[str, list[tuple[str, list[Any]]]]


def read_sql(text: str, name: str, limits: FileLimits) -> list[FileTable]:
    """Return a table for each that the dump fills; locators are `statement 4 row 2` and `COPY line 120`.

    Columns are named by the INSERT, else by the CREATE TABLE. Values that are no literals become their SQL text.

    Raises:
        FileError: if a statement cannot be parsed, or nothing is inserted.
    """
    columns: dict[str, list[str]] = {}
    rows: Rows = defaultdict(list)
    copies = list(_COPY.finditer(text))
    for statement, where in _statements(_COPY.sub("", text)):
        if _WANTED.match(statement):
            _read(statement, where, name, columns, rows)
    for found in copies:
        _read_copy(found, text, columns, rows)
    tables = [
        make_table(
            table, columns.get(table) or [f"column_{i + 1}" for i in range(len(found[0][1]))], found, limits, name
        )
        for table, found in rows.items()
        if found
    ]
    if not tables:
        raise FileError(name, "inserts no rows")
    return tables


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield statements with their places; a semicolon inside quotes or a comment ends none."""
    pattern = re.compile(
        r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|;|[^'\"`;/-]+|.", re.DOTALL
    )
    parts: list[str] = []
    number = 1
    for found in pattern.finditer(text):
        piece = found.group()
        if piece == ";":
            yield "".join(parts).strip(), f"statement {number}"
            parts, number = [], number + 1
        elif not piece.startswith(("--", "/*")):
            parts.append(piece)
    if "".join(parts).strip():
        yield "".join(parts).strip(), f"statement {number}"


def _read(statement: str, where: str, name: str, columns: dict[str, list[str]], rows: Rows) -> None:
    import sqlglot
    from sqlglot import exp

    dialect = "mysql" if "`" in statement or "\\'" in statement else "postgres"
    try:
        tree = sqlglot.parse_one(statement, dialect=dialect)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise FileError(name, f"holds SQL that cannot be read at {where}: {str(error).splitlines()[0][:200]}") from None
    target = tree.find(exp.Table)
    if target is None:
        return
    table = target.name
    schema = tree.this if isinstance(tree.this, exp.Schema) else None
    if isinstance(tree, exp.Create):
        columns[table] = [column.name for column in tree.find_all(exp.ColumnDef)]
    elif isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Values):
        if schema is not None:
            columns.setdefault(table, [column.name for column in schema.expressions])
        named = [column.name for column in schema.expressions] if schema is not None else columns.get(table, [])
        for index, row in enumerate(tree.expression.expressions, start=1):
            values = [_value(cell) for cell in (row.expressions if isinstance(row, exp.Tuple) else [row])]
            rows[table].append((f"{where} row {index}", _ordered(values, named, columns.get(table, []))))


def _ordered(values: list[Any], named: list[str], columns: list[str]) -> list[Any]:
    """Return the values in the table's own order of columns."""
    if not columns or named == columns or len(named) != len(values) or not set(named) <= set(columns):
        return values
    given = dict(zip(named, values, strict=True))
    return [given.get(column) for column in columns]


def _value(cell: Any) -> Any:
    from sqlglot import exp

    if isinstance(cell, exp.Null):
        return None
    if isinstance(cell, exp.Boolean):
        return bool(cell.this)
    if isinstance(cell, exp.Neg) and isinstance(cell.this, exp.Literal):
        return f"-{cell.this.name}"
    if isinstance(cell, exp.Literal):
        return cell.name
    return cell.sql()


def _read_copy(found: re.Match[str], text: str, columns: dict[str, list[str]], rows: Rows) -> None:
    table = found.group(1).rpartition(".")[2].strip('"')
    named = [part.strip().strip('"') for part in (found.group(2) or "").split(",") if part.strip()]
    columns.setdefault(table, named)
    first = text.count("\n", 0, found.start(3)) + 1
    for offset, line in enumerate(found.group(3).splitlines()):
        cells = [_unescape(cell) for cell in line.split("\t")]
        rows[table].append((f"COPY line {first + offset}", _ordered(cells, named, columns[table])))


def _unescape(cell: str) -> str | None:
    if cell == "\\N":
        return None
    return re.sub(r"\\(.)", lambda found: _UNESCAPED.get(found.group(1), found.group(1)), cell)
