"""The types of a saved table's columns: nothing that was given as text loses a digit, or is taken for missing."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from schemas.base import Scalar
from tasks.files.values import exact_column, typed_column
from tasks.mining.agent.saving import SavedTable
from tasks.mining.corpus.items import RawTable

_DASHES = frozenset({"", "-", "–", "—", "N/A", "n/a"})
_MISSING = _DASHES | {"NULL", "null", "NA", "None"}


def typed_table(name: str, saved: SavedTable, texts: Collection[str]) -> RawTable:
    """Return a saved table with typed columns; those in `texts` stay text, whatever they look like.

    Raises:
        ValueError: if a column that is to be numbers holds other words.
    """
    columns: dict[str, Sequence[Scalar]] = {}
    for column in saved.order.columns:
        values = [row.get(column.name) for _, row in saved.records]
        if column.type == "number":
            columns[column.name] = _numbers(column.name, values)
        elif column.type == "text" or column.name in texts:
            columns[column.name] = [_text(value) for value in values]
        else:
            blank = _DASHES if column.name not in (saved.order.key, saved.order.label) else ("",)
            columns[column.name] = exact_column(column.name, values, _MISSING, blank=blank)
    rows = [
        (at, dict(zip(columns, row, strict=True)))
        for (at, _), row in zip(saved.records, zip(*columns.values(), strict=True), strict=True)
    ]
    return RawTable(f"saved/{name}", tuple(columns), rows)


def given_as_text(saved: SavedTable, column: str) -> bool:
    """Whether a column is to stay text: asked for, or given as texts which are not all plain whole numbers."""
    if not column:
        return False
    if any(one.name == column and one.type == "text" for one in saved.order.columns):
        return True
    values = [row.get(column) for _, row in saved.records if row.get(column) is not None]
    texts = all(isinstance(value, str) for value in values)
    return texts and not all(isinstance(value, int) for value in exact_column(column, values, ("",)))


def _text(value: Scalar) -> Scalar:
    return None if value is None or str(value).strip() == "" else str(value).strip()


def _numbers(name: str, values: Sequence[Scalar]) -> list[Scalar]:
    found = typed_column("value", values, _MISSING)
    for n, value in enumerate(found):
        if value is not None and (isinstance(value, str | bool) or not math.isfinite(value)):
            raise ValueError(f"has words where {name} is to be a number, as {values[n]!r:.60}: leave `type` empty")
    return found
