"""What a reader makes of a table, whatever file it was in: named, typed columns; rows; and where each row stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from schemas.base import Scalar
from schemas.database import ColumnType
from tasks.files.errors import FileError
from tasks.files.text import plain
from tasks.files.values import exact_column, type_of

_MISSING = frozenset({"", "NULL", "null", "NA", "N/A", "n/a", "None", "-", "–", "—"})


@dataclass(frozen=True)
class FileLimits:
    """Bounds of one file; what passes one is refused with a FileError that says so. Sizes are unpacked bytes."""

    bytes: int = 64 * 2**20
    members: int = 200
    tables: int = 500
    rows: int = 500_000
    columns: int = 1_000
    cells: int = 4_000_000
    pages: int = 300
    text_chars: int = 2_000_000


@dataclass(frozen=True)
class FileColumn:
    """A column: its name, unique in its table, and the narrowest type that fits all its values."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class FileTable:
    """A table out of a file. `rows[i]` has one value a column and stands at `locators[i]` of the file.

    `notes` say what the reader mended or left out, one sentence each.
    """

    name: str
    columns: tuple[FileColumn, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    locators: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Scalar]]:
        """Return the rows as one dict each, by column name."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def make_table(
    name: str, header: Sequence[str], rows: Iterable[tuple[str, Sequence[Any]]], limits: FileLimits, file: str
) -> FileTable:
    """Build a table from raw rows, each a locator and its values.

    Columns without a name get one, and equal names get numbers. Rows that are too short end in None and rows of
    nothing are left out; a row that is too long loses the rest only if that is empty.

    Raises:
        FileError: for more rows, columns or cells than the limits allow, and for rows that are longer than the header.
    """
    names = unique_names(header)
    if len(names) > limits.columns:
        raise FileError(file, f"has {len(names)} columns in {name}, more than {limits.columns}")
    values: list[list[Any]] = []
    locators: list[str] = []
    short = 0
    for locator, row in rows:
        cells = [cell_value(cell) for cell in row]
        if all(cell in (None, "") for cell in cells):
            continue
        if len(cells) > len(names):
            if any(cell not in (None, "") for cell in cells[len(names) :]):
                raise FileError(file, f"has {len(cells)} values at {locator} under {len(names)} columns: mend that row")
            cells = cells[: len(names)]
        short += len(cells) < len(names)
        values.append(cells + [None] * (len(names) - len(cells)))
        locators.append(locator)
        if len(values) > limits.rows or len(values) * len(names) > limits.cells:
            raise FileError(file, f"has more than {len(values) - 1} rows in {name}: cut it down first")
    notes = (f"{short} rows were shorter than the header and end in nothing",) if short else ()
    typed = [exact_column(column, [row[i] for row in values], _MISSING) for i, column in enumerate(names)]
    columns = tuple(
        FileColumn(column, type_of([value for value in found if value is not None]))
        for column, found in zip(names, typed, strict=True)
    )
    return FileTable(name, columns, tuple(zip(*typed, strict=True)) if values else (), tuple(locators), notes)


def unique_names(header: Sequence[Any]) -> list[str]:
    """Return the column names as plain one-line text; `column_3` for an empty one, `name_2` for a repeated one."""
    names: list[str] = []
    for index, raw in enumerate(header, start=1):
        name = base = " ".join(plain(str(raw if raw is not None else "")).split())[:200] or f"column_{index}"
        number = 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        names.append(name)
    return names


def cell_value(value: Any) -> Scalar:
    """Return a cell as a JSON scalar: dates as ISO text, decimals as numbers, bytes and what is not finite as None."""
    if isinstance(value, str):
        return plain(value).strip()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        midnight = not (value.hour or value.minute or value.second or value.microsecond)
        return value.date().isoformat() if midnight else value.isoformat(timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, bytes | bytearray | memoryview):
        return None
    return plain(str(value)).strip()
