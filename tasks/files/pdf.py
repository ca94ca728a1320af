"""PDF: the text of its pages, and the tables whose cells are ruled or aligned. Nothing embedded is run or opened."""

from __future__ import annotations

import io
import logging

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table
from tasks.files.text import plain


def read_pdf(data: bytes, name: str, limits: FileLimits) -> tuple[list[FileTable], str]:
    """Return the tables and the text of a PDF; locators are `page 2 table 1 row 3`, all counted from 1.

    Raises:
        FileError: if it is damaged, has a password, or has more pages than the limits allow.
    """
    import pdfplumber

    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of every odd font
    tables: list[FileTable] = []
    texts: list[str] = []
    try:
        with pdfplumber.open(io.BytesIO(data)) as document:
            if len(document.pages) > limits.pages:
                raise FileError(name, f"has {len(document.pages)} pages, more than {limits.pages}")
            for number, page in enumerate(document.pages, start=1):
                texts.append(plain(page.extract_text() or ""))
                for index, raw in enumerate(page.extract_tables(), start=1):
                    place = f"page {number} table {index}"
                    if len(raw) > 1 and len(raw[0]) > 1:
                        tables.append(_table(place, raw, limits, name))
                page.close()
    except FileError:
        raise
    except Exception as error:  # its parsers raise whatever a broken file leads them to
        raise FileError(name, f"is a damaged or locked PDF ({type(error).__name__}: {str(error)[:200]})") from None
    return [table for table in tables if table.rows], "\n\n".join(texts)[: limits.text_chars]


def _table(place: str, raw: list[list[str | None]], limits: FileLimits, name: str) -> FileTable:
    rows = [
        (f"{place} row {index}", [" ".join((cell or "").split()) for cell in row])
        for index, row in enumerate(raw, start=1)
    ]
    return make_table(place, rows[0][1], rows[1:], limits, name)
