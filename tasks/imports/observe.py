"""Find rows of the data inside of observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.database import Table
from tasks.environment.runtime.files.rows import cell
from tasks.imports.literals import Row
from tasks.imports.values import Data

_MOST_LISTED = 400


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path pattern, object) of all objects in an observation; list places are "[]"."""
    if isinstance(value, dict):
        yield path, value
        for name, item in value.items():
            yield from objects(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for item in value[:_MOST_LISTED]:
            yield from objects(item, f"{path}[]")


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, int | float]]:
    """Yield (path, number) of the numbers that stand in no list."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from numbers(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def lists(value: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield (path, list) of the lists that stand in no list."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from lists(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        yield path, value


@dataclass(frozen=True)
class Seen:
    """A row that stands in an observation: where, of which table, and which of its cells are shown as they are."""

    path: str
    table: Table
    row: Row
    columns: frozenset[str]


def shown_columns(table: Table, row: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[frozenset[str], int]:
    """Return (columns whose cell an object shows under the same name, how many it shows otherwise)."""
    same, other = set(), 0
    for column in table.columns:
        if column.name in found and not isinstance(found[column.name], dict | list):
            value = cell(found[column.name])
            alike = isinstance(value, str) == isinstance(row[column.name], str)
            if value == row[column.name] if alike else column.name == table.key and value == str(row[column.name]):
                same.add(column.name)
            else:
                other += 1
    return frozenset(same), other


def row_of(data: Data, table: Table, found: Mapping[str, Any]) -> Seen | None:
    """Return the row that an object shows: the same key, and most of the cells that it names."""
    key, rows = found.get(table.key), data.by_key_cached(table)
    if not _is_key(key):
        return None
    row = rows.get(key) or (rows.get(int(key)) if isinstance(key, str) and key.isdecimal() else None)
    if row is None:
        return None
    same, other = shown_columns(table, row, found)
    if len(same) >= 2 and len(same) > other:
        return Seen("", table, row, same)
    return None


def _is_key(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def seen_rows(data: Data, observation: Any, tables: Sequence[Table] | None = None) -> list[Seen]:
    """Return the rows that an observation shows, in its order; an object that fits several tables counts for the one
    that it shows most cells of."""
    found = []
    for path, item in objects(observation):
        best: Seen | None = None
        for table in tables or data.tables:
            seen = row_of(data, table, item)
            if seen is not None and (best is None or len(seen.columns) > len(best.columns)):
                best = seen
        if best is not None:
            found.append(Seen(path, best.table, best.row, best.columns))
    return found
