"""Bind a search or list call so that it picks one row, named by label, by properties or by a superlative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Row, field_for, options
from tasks.synthesis.draft import Condition, Draft, Expected, Mention, Pick, Sentence
from tasks.synthesis.filters import (
    SHOWN,
    argument,
    is_missing_required,
    is_sayable,
    matching,
    related,
    row_columns,
    row_prefix,
    stated,
)

MOST_COMPARED = 8
"""A superlative over a list that cannot be sorted is asked for over at most so many rows."""

Wanted = Callable[[Row], bool]


def bind_find(draft: Draft, tool: Tool, wanted: Wanted | None = None) -> int | None:
    """Append a search that picks one row of the tool's table; return the pick's number, None if none can be had.

    `wanted` restricts which row may be picked (for example: one that an action accepts).
    """
    if tool.table in draft.written or row_prefix(draft.atlas, tool, 0) is None:
        return None
    taken = {pick.row.get(draft.atlas.tables[tool.table].key) for pick in draft.picks if pick.table == tool.table}
    key = draft.atlas.tables[tool.table].key
    rows = [r for r in draft.atlas.rows[tool.table] if r[key] not in taken and (wanted is None or wanted(r))]
    if not rows:
        return None
    for _ in range(4):
        row = draft.rng.choice(rows)
        ties = related(draft, tool)
        if ties and draft.rng.random() < 0.85:
            tie = draft.rng.choice(ties)
            near = [r for r in rows if r.get(tie[1].column) == tie[1].value]
            if not near:
                continue
            row, fixed = draft.rng.choice(near), [tie]
        else:
            fixed = []
        if not fixed and draft.rng.random() < 0.6 and (found := _by_label(draft, tool, row)) is not None:
            return found
        if (found := _by_properties(draft, tool, row, fixed, wanted)) is not None:
            return found
        if (found := _by_label(draft, tool, row)) is not None:
            return found
    return None


def _by_label(draft: Draft, tool: Tool, row: Row) -> int | None:
    table = draft.atlas.tables[tool.table]
    label = draft.atlas.label_of(tool.table, row)
    entity = f"{tool.table}.{table.label}"
    field = field_for(tool, "equals", entity) or field_for(tool, "contains", entity)
    if label is None or field is None or not is_sayable(label) or not isinstance(label, str):
        return None
    condition = Condition(table.label, field.meaning, label)
    matches = matching(draft.atlas.rows[tool.table], [condition])
    if len(matches) > SHOWN:
        return None
    index = matches.index(row)
    return _append(draft, tool, {field.path: label}, row, index, Mention("label", label), len(matches))


def _by_properties(
    draft: Draft, tool: Tool, row: Row, fixed: list[tuple[ToolField, Condition]], wanted: Wanted | None
) -> int | None:
    rng, atlas = draft.rng, draft.atlas
    choices = stated(draft, tool, row)
    rng.shuffle(choices)
    limit = rng.choice((0, 1, 1, 2)) if fixed else rng.choice((1, 1, 2, 2))
    filters: list[tuple[ToolField, Condition]] = list(fixed)
    for field, condition in choices:
        if len(filters) - len(fixed) < limit and condition.column not in {c.column for _, c in filters}:
            filters.append((field, condition))
    conditions = tuple(condition for _, condition in filters)
    arguments = {field.path: argument(draft, field, condition) for field, condition in filters}
    if not conditions or is_missing_required(tool, arguments):
        return None
    matches = matching(atlas.rows[tool.table], conditions)
    if len(matches) == 1:
        return _append(draft, tool, arguments, row, 0, Mention("filter", conditions=conditions), 1)
    return _superlative(draft, tool, arguments, conditions, matches, wanted)


def _superlative(
    draft: Draft, tool: Tool, arguments: dict[str, Any], conditions: tuple[Condition, ...], matches: Sequence[Row],
    wanted: Wanted | None,
) -> int | None:  # fmt: skip
    sort, down = field_for(tool, "sort_by"), field_for(tool, "descending")
    sortable = options(tool, sort.path) if sort is not None else ()
    table = draft.atlas.tables[tool.table]
    used = {condition.column for condition in conditions}
    ordered = [c for c in table.columns if c.role in ("measure", "date")]
    columns = [c for c in ordered if c.name not in used]
    draft.rng.shuffle(columns)
    for column in [*columns, *(c for c in ordered if c.name in used)]:
        bounds = {condition.operator for condition in conditions if condition.column == column.name}
        values = [row.get(column.name) for row in matches]
        if None in values or len(matches) < 2:
            continue
        for descending in draft.rng.sample((True, False), 2):
            best = max(values) if descending else min(values)
            if values.count(best) != 1 or bounds - {"at_most" if descending else "at_least"}:
                continue  # "the highest of those that are at least ..." needs no bound
            row = matches[values.index(best)]
            key = row[table.key]
            known = any(p.table == tool.table and p.row.get(table.key) == key for p in draft.picks)
            if known or (wanted is not None and not wanted(row)):
                continue
            mention = Mention("filter", conditions=conditions, order=(column.name, descending))
            if column.name in sortable and (down is not None or not descending):
                given = {**arguments, sort.path: column.name}
                if down is not None and descending:
                    given[down.path] = True
                return _append(draft, tool, given, row, 0, mention, len(matches))
            if len(matches) <= MOST_COMPARED and column.name in row_columns(tool):
                return _append(draft, tool, arguments, row, matches.index(row), mention, len(matches))
    return None


def _append(
    draft: Draft, tool: Tool, arguments: dict[str, Any], row: Row, index: int, mention: Mention, total: int
) -> int:
    prefix = row_prefix(draft.atlas, tool, index)
    assert prefix is not None
    step = draft.add(tool.name, arguments)
    key = draft.atlas.tables[tool.table].key
    stated_columns = frozenset(c.column for c in mention.conditions if c.operator == "equals")
    if mention.how == "label":
        stated_columns |= {draft.atlas.tables[tool.table].label}
    draft.picks.append(Pick(tool.table, row, step, prefix, row_columns(tool), mention, stated=stated_columns))
    number = len(draft.picks) - 1
    draft.sentences.append(Sentence("find", step, number, table=tool.table))
    draft.expected.append(Expected(step, f"{prefix}.{key}", row[key]))
    count = next((field.path for field in tool.outputs if field.meaning == "matches"), "")
    if count:
        draft.expected.append(Expected(step, count, total, "ambiguous" if total == 1 else "independent"))
    return number
