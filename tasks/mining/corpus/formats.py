"""Loaders for plain formats: delimited text, JSON, SQLite, and literals in Python source. Nothing is executed."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.items import Loader, Record


def text_of(raw: bytes) -> str:
    """Decode UTF-8 text, with or without a byte order mark.

    Raises:
        ValueError: if it is binary or in another encoding, saying where.
    """
    if b"\x00" in raw[:4096]:
        raise ValueError("is binary, not text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text (byte {error.start}): save it as UTF-8") from None


def only(files: Mapping[str, bytes]) -> bytes:
    """Return the bytes of the one file, unpacked if its name ends in .gz or .zip.

    Raises:
        ValueError: if a zip holds other than one file.
    """
    name, raw = next(iter(files.items()))
    if name.endswith(".gz"):
        return gzip.decompress(raw)
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            if len(members) != 1:
                raise ValueError(f"holds {len(members)} files, not one table")
            return archive.read(members[0])
    return raw


def delimited(delimiter: str = ",", line_prefixes: tuple[str, ...] = ()) -> Loader:
    """Return a loader of delimited text with a header line; locators are 1-based line numbers.

    `line_prefixes` keeps only lines that start with one of them, so that a slice of a large file is read fast.
    """

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        raw = only(files)
        if line_prefixes:
            yield from _slice(raw, delimiter, tuple(prefix.encode() for prefix in line_prefixes))
            return
        lines = text_of(raw).splitlines()
        header = next(csv.reader(lines[:1], delimiter=delimiter), [])
        if not header:
            raise ValueError("is empty: a header line and rows are expected")
        for number, values in enumerate(csv.reader(lines[1:], delimiter=delimiter), start=2):
            if values:
                yield f"line {number}", dict(zip(header, values, strict=False))

    return load


def _slice(raw: bytes, delimiter: str, prefixes: tuple[bytes, ...]) -> Iterator[Record]:
    """Yield the records whose line starts with one of the prefixes; only those lines are decoded."""
    lines = raw.split(b"\n")
    header = next(csv.reader([text_of(lines[0])], delimiter=delimiter), [])
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith(prefixes):
            values = next(csv.reader([text_of(line)], delimiter=delimiter))
            yield f"line {number}", dict(zip(header, values, strict=False))


def json_records(*path: str) -> Loader:
    """Return a loader of JSON: a list of objects, or an object of objects, found below `path`."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        value: Any = json.loads(only(files))
        for step in path:
            value = value[step]
        prefix = "$" + "".join(f".{step}" for step in path)
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for index, record in pairs:
            if isinstance(record, dict):
                yield f"{prefix}[{index}]", {"_index": index, **record}

    return load


def sqlite_table(table: str, where: str = "1") -> Loader:
    """Return a loader of one table of a SQLite file; locators are the table and its row id."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(only(files))
            connection.row_factory = sqlite3.Row
            query = f'SELECT rowid AS "_rowid", * FROM "{table}" WHERE {where} ORDER BY rowid'
            for row in connection.execute(query):
                yield f"{table} rowid {row['_rowid']}", dict(row)
        finally:
            connection.close()

    return load


def assigned(source: str, name: str) -> ast.expr:
    """Return the expression that a module assigns to `name`.

    Raises:
        ValueError: if it assigns none.
    """
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets) and node.value is not None:
            return node.value
    raise ValueError(f"assigns no {name}")


def literal(node: ast.expr) -> Any:
    """Return the value of an expression of literals; a call is read as the dict of its arguments.

    `Price(input=1)` gives {"input": 1}, and `Decimal("8")` gives "8". Names and operators give None.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {literal(k): literal(v) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
    if isinstance(node, ast.Call):
        if node.args and not node.keywords:
            values = [literal(item) for item in node.args]
            return values[0] if len(values) == 1 else values
        return {keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand)
        return -value if isinstance(value, int | float) else None
    return None
