"""JSON and newline-delimited JSON: every list of objects is a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from schemas.base import canonical_json
from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table

_DEEPEST = 6


def read_json(text: str, name: str, limits: FileLimits) -> list[FileTable]:
    """Return one table for each list of objects, and for each object of objects; locators are `$.path[0]`.

    Objects inside a row become columns `outer.inner`, lists inside a row become their JSON text.

    Raises:
        FileError: if it is not JSON, or holds no such list.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise FileError(name, f"is not JSON: {error.msg} at line {error.lineno}") from None
    except (RecursionError, ValueError):
        raise FileError(name, "is nested too deeply or holds a number that is too long") from None
    tables = []
    for place, pairs in _lists(value, "$", 0):
        tables.append(_table(place.removeprefix("$").strip(".") or name, pairs, limits, name))
        if len(tables) > limits.tables:
            raise FileError(name, f"holds more than {limits.tables} tables")
    if not tables:
        raise FileError(name, "holds no list of objects")
    return tables


def read_lines(text: str, name: str, limits: FileLimits) -> list[FileTable]:
    """Return the one table of newline-delimited JSON; locators are `line 1`.

    Raises:
        FileError: for a line that is no JSON object.
    """
    pairs = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise FileError(name, f"holds no JSON object in line {number}: one a line is expected")
        pairs.append((f"line {number}", entry))
    return [_table(name, pairs, limits, name)]


def _lists(value: Any, place: str, depth: int) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        objects = [(f"{place}[{i}]", entry) for i, entry in enumerate(value) if isinstance(entry, dict)]
        if objects and len(objects) == len(value):
            yield place, objects
        return
    if not isinstance(value, dict):
        return
    inner = [entry for entry in value.values() if isinstance(entry, dict)]
    if (
        len(inner) > 1
        and len(inner) == len(value)
        and len({frozenset(entry) for entry in inner}) <= len(inner) // 2 + 1
    ):
        yield place, [(f"{place}[{json.dumps(key)}]", {"key": key, **entry}) for key, entry in value.items()]
        return
    for key, entry in value.items():
        yield from _lists(entry, f"{place}.{key}", depth + 1)


def _table(title: str, pairs: list[tuple[str, dict[str, Any]]], limits: FileLimits, name: str) -> FileTable:
    flat = [(place, _flat(entry)) for place, entry in pairs]
    columns = list(dict.fromkeys(key for _, entry in flat for key in entry))
    rows = ((place, [entry.get(column) for column in columns]) for place, entry in flat)
    return make_table(title, columns, rows, limits, name)


def _flat(entry: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            found.update(_flat(value, f"{prefix}{key}.", depth + 1))
        elif isinstance(value, dict | list):
            found[f"{prefix}{key}"] = canonical_json(value)
        else:
            found[f"{prefix}{key}"] = value
    return found
