"""Delimited text: a header line, then a row a line (RFC 4180, and its common relatives)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table


def read_delimited(text: str, name: str, limits: FileLimits, delimiter: str = "") -> list[FileTable]:
    """Return the one table of a file; locators are `line 2`, counted from 1.

    The delimiter is the one of `, ; tab |` that splits the first lines into the most equal columns.

    Raises:
        FileError: for a file without rows, broken quotes, or a row that is longer than the header.
    """
    delimiter = delimiter or _delimiter(text)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
        while header is not None and not any(cell.strip() for cell in header):
            header = next(reader, None)
        if header is None:
            raise FileError(name, "is empty: a header line and rows are expected")
        table = make_table(name, header, _rows(reader), limits, name)
    except csv.Error as error:
        raise FileError(name, f"is broken at line {reader.line_num}: {error}") from None
    if not table.rows:
        raise FileError(name, "holds a header but no rows")
    return [table]


def _rows(reader: csv._reader) -> Iterator[tuple[str, list[str]]]:  # type: ignore[name-defined]
    start = reader.line_num + 1
    for row in reader:
        yield f"line {start}", row
        start = reader.line_num + 1


def _delimiter(text: str) -> str:
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]
    best, delimiter = 0.0, ","
    for candidate in ",;\t|":
        counts = Counter(line.count(candidate) for line in lines)
        count, times = max(counts.items(), key=lambda pair: (pair[0] > 0, pair[1])) if counts else (0, 0)
        score = times * min(count, 50) / max(len(lines), 1) if count else 0.0
        if score > best:
            best, delimiter = score, candidate
    return delimiter
