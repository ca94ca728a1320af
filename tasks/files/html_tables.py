"""Tables of an HTML document as rows under a header, with spans laid out (HTML Standard, forming a table)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import html

from tasks.files.errors import FileError
from tasks.files.html import is_hidden, line, texts
from tasks.files.table import FileLimits, FileTable, make_table

_WIDEST = 500


@dataclass
class _Cell:
    text: str
    heads: bool


def html_tables(root: html.HtmlElement, limits: FileLimits, file: str) -> list[FileTable]:
    """Return the shown tables that have a header and at least one row, in order.

    A table's name is its caption, or `table 3`; a row's locator is `table 3 row 2`: both numbers count from 1 over all
    `table` elements of the document and all rows of the table. Tables that only hold other tables are left out.

    Raises:
        FileError: beyond the limits.
    """
    tables: list[FileTable] = []
    for number, element in enumerate(root.iter("table"), start=1):
        if next(element.iterdescendants("table"), None) is not None or _concealed(element):
            continue
        grid = _grid(element, limits, file)
        table = _read(f"table {number}", _caption(element), grid, limits, file)
        if table is not None:
            tables.append(table)
        if len(tables) > limits.tables:
            raise FileError(file, f"holds more than {limits.tables} tables")
    return tables


def _caption(element: html.HtmlElement) -> str:
    found = element.find("caption")
    return line(texts(found)[0])[:200] if found is not None else ""


def _read(place: str, caption: str, grid: list[list[_Cell]], limits: FileLimits, file: str) -> FileTable | None:
    if not grid or max(len(row) for row in grid) < 2:
        return None
    width = max(len(row) for row in grid)
    heads = 0
    while heads < len(grid) - 1 and all(cell.heads for cell in grid[heads]):
        heads += 1
    heads = max(heads, 1)
    header = []
    for column in range(width):
        parts = [row[column].text for row in grid[:heads] if column < len(row)]
        header.append(" ".join(dict.fromkeys(part for part in parts if part)))
    rows = [
        (f"{place} row {index}", [cell.text for cell in row]) for index, row in enumerate(grid[heads:], start=heads + 1)
    ]
    table = make_table(caption or place, header, rows, limits, file)
    return table if table.rows else None


def _rows(table: html.HtmlElement) -> Iterator[tuple[html.HtmlElement, bool]]:
    for child in table:
        if child.tag == "tr":
            yield child, False
        elif child.tag in ("thead", "tbody", "tfoot") and not is_hidden(child):
            yield from ((row, child.tag == "thead") for row in child if row.tag == "tr")


def _grid(table: html.HtmlElement, limits: FileLimits, file: str) -> list[list[_Cell]]:
    """Lay the cells out: one that spans rows or columns stands in each of them."""
    grid: list[list[_Cell]] = []
    hanging: dict[int, tuple[_Cell, int]] = {}  # column -> (cell, rows that it still reaches into)
    for row, in_head in _rows(table):
        if is_hidden(row):
            continue
        out: list[_Cell] = []
        for element in (cell for cell in row if cell.tag in ("td", "th") and not is_hidden(cell)):
            _hang(out, hanging)
            cell = _Cell(line(texts(element)[0]), in_head or element.tag == "th")
            down = _span(element.get("rowspan"), 65_534)
            for _ in range(_span(element.get("colspan"), 1000)):
                if down > 1:
                    hanging[len(out)] = (cell, down - 1)
                out.append(cell)
            if len(out) > _WIDEST:
                raise FileError(file, f"holds a table of more than {_WIDEST} columns")
        _hang(out, hanging)
        grid.append(out)
        if len(grid) > limits.rows or len(grid) * len(out) > limits.cells:
            raise FileError(file, f"holds a table of more than {len(grid) - 1} rows")
    return grid


def _hang(out: list[_Cell], hanging: dict[int, tuple[_Cell, int]]) -> None:
    """Put the cells here that hang down into this row at the next columns."""
    while len(out) in hanging:
        column = len(out)
        cell, left = hanging.pop(column)
        out.append(cell)
        if left > 1:
            hanging[column] = (cell, left - 1)


def _span(value: str | None, largest: int) -> int:
    return max(1, min(int(value[:6]), largest)) if value and value.isdigit() else 1


def _concealed(element: html.HtmlElement) -> bool:
    return is_hidden(element) or any(is_hidden(above) for above in element.iterancestors())
