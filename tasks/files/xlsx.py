"""Excel workbooks: a sheet is a table whose first filled row is the header. Formulas count as their stored values."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

from tasks.files.archive import members
from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table

_GAP = 200
"""Empty rows after which a sheet is over: a lone cell a million rows below is no part of its table."""


def read_xlsx(data: bytes, name: str, limits: FileLimits) -> list[FileTable]:
    """Return a table for each visible sheet that has rows; locators are `Sheet1!5`, the row's number.

    Raises:
        FileError: if it is no workbook, declares entities, unpacks beyond the limits, or has no rows.
    """
    import openpyxl

    for member, content in members(data, name, limits):
        if member.endswith((".xml", ".rels")) and re.search(rb"<!(DOCTYPE|ENTITY)", content):
            raise FileError(name, "declares a document type inside, which no workbook needs: it is not read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which are not read
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
            found = [
                table
                for sheet in book.worksheets
                if sheet.sheet_state == "visible" and (table := _sheet(sheet, limits, name)) is not None
            ]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, zipfile.BadZipFile, SyntaxError) as error:
        raise FileError(name, f"is a damaged workbook ({type(error).__name__}: {error})") from None
    if not found:
        raise FileError(name, "has no visible sheet with a header and rows")
    return found


def _sheet(sheet: Any, limits: FileLimits, name: str) -> FileTable | None:
    sheet.reset_dimensions()  # what a file says of its own size is not believed
    rows = _filled(sheet, limits)
    first = next(rows, None)
    if first is None:
        return None
    header = list(first[1])
    while header and header[-1] is None:
        header.pop()
    table = make_table(sheet.title, header, rows, limits, name)
    return table if table.rows else None


def _filled(sheet: Any, limits: FileLimits) -> Iterator[tuple[str, tuple[Any, ...]]]:
    empty = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True, max_col=limits.columns), start=1):
        if any(value is not None for value in row):
            empty = 0
            yield f"{sheet.title}!{number}", row
        else:
            empty += 1
            if empty > _GAP:
                return
