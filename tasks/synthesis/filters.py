"""Filters of reading tools: which a prompt may state, and what they match, computed on the snapshot's rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Atlas, Row, required
from tasks.synthesis.draft import Condition, Draft

SHOWN = 20
"""How many rows a search shows unless told otherwise."""

_SAYABLE = re.compile(r"(?!\s)[^\"“”`\n\t{}]{1,60}(?<!\s)")

FILTERS = ("equals", "contains", "at_least", "at_most")


def fits(condition: Condition, row: Row) -> bool:
    """Say whether a row meets a condition (whose value is known)."""
    left, right = row.get(condition.column), condition.value
    if left is None or right is None:
        return False
    if condition.operator == "equals":
        return left == right
    if condition.operator == "contains":
        return str(right).lower() in str(left).lower()
    if condition.operator == "at_least":
        return left >= right
    return left <= right


def matching(rows: Sequence[Row], conditions: Sequence[Condition]) -> list[Row]:
    """Return the rows that meet all conditions, in the given order."""
    for condition in conditions:
        if condition.operator == "equals" and condition.value is not None:
            rows = [row for row in rows if row.get(condition.column) == condition.value]
        else:
            rows = [row for row in rows if fits(condition, row)]
    return list(rows)


def argument_value(field: ToolField, value: Any) -> Any:
    """Return a cell's value as a tool takes it: SQLite's 0 and 1 become booleans."""
    return bool(value) if field.type == "boolean" else value


def argument(draft: Draft, field: ToolField, condition: Condition) -> Any:
    """Return the argument for a condition: its value, or a reference to the picked row that it relates to."""
    if condition.of is None:
        return argument_value(field, condition.value)
    pick = draft.picks[condition.of]
    return pick.reference(condition.via or draft.atlas.tables[pick.table].key)


def related(draft: Draft, tool: Tool, row: Row | None = None) -> list[tuple[ToolField, Condition]]:
    """Return the conditions that tie a tool's rows to rows picked before, where such a row (or `row`) exists."""
    found = []
    for field in tool.inputs:
        table, _, name = field.entity.partition(".")
        if field.meaning != "equals" or table != tool.table or not draft.atlas.column(field.entity).references:
            continue
        for number, column in draft.sources(field.entity):
            pick = draft.picks[number]
            value = pick.row.get(column)
            holders = [row] if row is not None else draft.atlas.rows[tool.table]
            if any(other.get(name) == value for other in holders):
                own = column == draft.atlas.tables[pick.table].key
                condition = Condition(name, "equals", value, of=draft.origin(number), via="" if own else column)
                if own or draft.origin(number) == number:
                    found.append((field, condition if own else Condition(name, "equals", value, number, column)))
                    break
    return found


def stated(draft: Draft, tool: Tool, row: Row) -> list[tuple[ToolField, Condition]]:
    """Return the filters on a tool's own columns that hold for a row and that a prompt can state."""
    found = []
    for field in tool.inputs:
        table, _, name = field.entity.partition(".")
        if field.meaning not in FILTERS or table != tool.table or row.get(name) in (None, ""):
            continue
        column = draft.atlas.column(field.entity)
        if column is None or column.references or column.role in ("key", "label"):
            continue
        if field.meaning == "equals" and column.role in ("category", "status", "flag", "attribute"):
            if is_sayable(row[name]):
                found.append((field, Condition(name, "equals", row[name])))
        elif field.meaning in ("at_least", "at_most") and column.role in ("measure", "date"):
            if column.type == "datetime" and field.meaning == "at_most":
                continue  # whether the limit's own day counts is the tool's affair
            limit = bound(draft, table, name, row[name], field.meaning)
            if column.type == "datetime" and isinstance(limit, str):
                limit = limit[:10]
            if limit is not None:
                found.append((field, Condition(name, field.meaning, limit)))
    return found


def is_sayable(value: Any) -> bool:
    """Say whether a prompt can state a value verbatim in quotes: short, one line, without quotation marks."""
    return _SAYABLE.fullmatch(str(value)) is not None


def bound(draft: Draft, table: str, name: str, value: Any, meaning: str) -> Any:
    """Return a limit that the value meets and that other rows may not: another row's value on the right side.

    None if the value is the column's extreme, so that the limit would say nothing.
    """
    values = draft.atlas.values(table, name)
    if isinstance(value, str) and len(value) not in (10, 19):
        return None
    if not values or any(type(edge) is not type(value) for edge in (values[0], values[-1])):
        values = [v for v in values if isinstance(v, (int, float)) == isinstance(value, (int, float))]
    if meaning == "at_least":
        extreme, others = values[0], values[max(1, bisect_right(values, value) - 5) : bisect_right(values, value)]
    else:
        start = bisect_left(values, value)
        extreme, others = values[-1], values[start : min(start + 5, len(values) - 1)]
    if not others:
        return None
    chosen = draft.rng.choice(others)
    if isinstance(chosen, float) and not chosen.is_integer():
        rounded = float(int(chosen)) if meaning == "at_least" else float(int(chosen) + 1)
        inside = rounded <= value if meaning == "at_least" else rounded >= value
        if inside and (rounded > extreme if meaning == "at_least" else rounded < extreme):
            return int(rounded)
    return chosen


def is_missing_required(tool: Tool, arguments: dict[str, Any]) -> bool:
    """Say whether a tool call lacks a required parameter."""
    return any(name not in arguments for name in required(tool))


def row_prefix(atlas: Atlas, tool: Tool, index: int) -> str | None:
    """Return where the index-th row stands in a search's observation ("orders[0]"); None if it shows no rows."""
    key = f"{tool.table}.{atlas.tables[tool.table].key}"
    for field in tool.outputs:
        if field.entity == key and "[]." in field.path:
            return field.path.rsplit("[].", 1)[0] + f"[{index}]"
    return None


def row_columns(tool: Tool) -> frozenset[str]:
    """Return the columns of a tool's own table that stand in its observation, next to the row's key."""
    return frozenset(
        field.entity.partition(".")[2] for field in tool.outputs if field.entity.partition(".")[0] == tool.table
    )


def own_prefix(tool: Tool) -> str:
    """Return where the one row of a tool's observation stands: "" at its top, "order" for {"order": {...}}."""
    for field in tool.outputs:
        if field.entity.partition(".")[0] == tool.table and field.meaning in ("", "cell") and "[]" not in field.path:
            return field.path.rpartition(".")[0]
    return ""


def below(prefix: str, column: str) -> str:
    """Return the path of a column of a row that stands at a prefix."""
    return f"{prefix}.{column}" if prefix else column
