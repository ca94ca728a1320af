"""The pandas frame that Great Expectations validates: an Arrow table's columns and those derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas.arrow import from_table
from schemas.base import Record
from schemas.datasets import DATASETS
from tasks.quality.contracts import Contract
from tasks.quality.suites import Check, masked, presence_column


def frame_of(table: pa.Table, contract: Contract, derived: Mapping[str, Sequence[Any]], checks: Sequence[Check]) -> Any:
    """Return the pandas frame that the checks name: a table's columns, the derived ones, and for each check with a
    condition its columns with null wherever the condition does not hold.

    Lists become the number of their items, which is all that contracts say of them. The index is the row's number.
    """
    kinds = {column.name: column.type for column in contract.columns}
    columns = {
        name: pc.list_value_length(table.column(name)) if kinds[name] == "strings" else table.column(name)
        for name in table.column_names
        if name in kinds
    }
    frame = pa.table(columns).to_pandas()
    for name, values in derived.items():
        frame[name] = list(values)
    for check in checks:
        if check.gate == "not_null":
            frame[presence_column(check.columns[0])] = frame[check.columns[0]].notna()
        mask = None
        for name, values in check.where.items():
            holds = frame[name].isin(list(values))
            mask = holds if mask is None else mask & holds
        for name in _sources(check) if check.where else ():
            frame[masked(name, check.where)] = frame[name].astype(object).where(mask, None)
    return frame.copy()


def _sources(check: Check) -> list[str]:
    """Return the frame's columns that a check with a condition looks at."""
    named = [check.arguments.get(name, "") for name in ("column", "column_A", "column_B")]
    named += check.arguments.get("column_list", [])
    suffix = masked("", check.where)
    return [name.removesuffix(suffix) for name in named if name]


def missing_values(table: pa.Table, contract: Contract) -> list[str]:
    """Return for each row its required columns without a value and its numbers that are none, joined by commas."""
    found = [""] * table.num_rows
    for column in contract.columns:
        values = table.column(column.name)
        bad = pc.is_null(values) if column.required else None
        if column.type == "number":
            strange = pc.fill_null(pc.is_nan(values), False)
            bad = strange if bad is None else pc.or_(bad, strange)
        if bad is not None and pc.any(bad).as_py():
            for row, missing in enumerate(bad.to_pylist()):
                if missing:
                    found[row] += f", {column.name}" if found[row] else column.name
    return found


def take(table: pa.Table, rows: Iterable[int]) -> pa.Table:
    """Return the rows with those numbers, in that order."""
    return table.take(pa.array(rows, pa.int64()))


def fold(table: pa.Table, key: Sequence[str], labels: Sequence[str] = ()) -> tuple[pa.Table, int]:
    """Return a table without rows that repeat an earlier one in every column but its labels, and how many those were.

    The same row may be stored under several keys (a source that two environments share); it counts once. Only rows
    that share their key are compared, so that large columns are left alone.
    """
    from tasks.quality.links import key_texts

    rows: dict[str, list[int]] = {}
    for row, text in enumerate(key_texts(table, key)):
        rows.setdefault(text, []).append(row)
    repeated = [group for group in rows.values() if len(group) > 1]
    if not repeated:
        return table, 0
    content = table.select([name for name in table.column_names if not name.startswith("_") and name not in labels])
    dropped: set[int] = set()
    for group in repeated:
        seen: list[dict[str, Any]] = []
        for row, values in zip(group, take(content, group).to_pylist(), strict=True):
            if values in seen:
                dropped.add(row)
            else:
                seen.append(values)
    return take(table, [row for row in range(table.num_rows) if row not in dropped]), len(dropped)


def to_records(table: pa.Table, dataset: str) -> list[Record | str]:
    """Return each row as a record, or, where it does not fit the record type, what is wrong with it."""
    model = DATASETS[dataset].model
    try:
        return list(from_table(model, table))
    except (ValueError, TypeError) as error:  # pydantic's and json's errors are ValueErrors
        if table.num_rows == 1:
            return [_first_problem(error)]
    half = table.num_rows // 2
    return to_records(table.slice(0, half), dataset) + to_records(table.slice(half), dataset)


def _first_problem(error: Exception) -> str:
    import pydantic

    if isinstance(error, pydantic.ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).splitlines()[0]
