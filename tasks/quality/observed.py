"""What values a column really holds, in a few words."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from tasks.quality.contracts import ColumnContract

MOST_VALUES = 8


def observed(table: pa.Table, column: ColumnContract) -> str:
    """Return what a column holds: the range of numbers, the values of a small set with their counts, the number of
    distinct texts, the range of list lengths; and how many values are null."""
    if column.name not in table.column_names:
        return "missing"
    values = table.column(column.name)
    nulls = values.null_count
    if not len(values):
        return ""
    words = f"{nulls:,} null" if nulls else ""
    if nulls < len(values):
        words = ", ".join(part for part in (_words(values, column), words) if part)
    return words


def _words(values: pa.ChunkedArray, column: ColumnContract) -> str:
    if column.type in ("integer", "number"):
        return _range(values)
    if column.type == "strings":
        return f"{_range(pc.list_value_length(values))} items"
    if column.type == "json":
        return f"{_range(pc.utf8_length(values))} characters"
    if column.type == "boolean":
        yes = pc.sum(values).as_py()
        return f"true {yes:,}, false {len(values) - values.null_count - yes:,}"
    distinct = pc.count_distinct(values).as_py()
    if distinct <= MOST_VALUES and (column.allowed or distinct <= 3):
        counts = Counter(value for value in values.to_pylist() if value is not None)
        shown = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"{_short(value)} {count:,}" for value, count in shown)
    return f"{distinct:,} distinct"


def _range(values: pa.ChunkedArray) -> str:
    bounds = pc.min_max(values).as_py()
    low, high = (
        f"{bounds[end]:,.4g}" if isinstance(bounds[end], float) else f"{bounds[end]:,}" for end in ("min", "max")
    )
    return low if low == high else f"{low} – {high}"


def _short(value: str) -> str:
    return "(empty)" if not value else value if len(value) <= 40 else value[:37] + "..."
