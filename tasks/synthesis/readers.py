"""Bind get and aggregate calls."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from schemas.tool import Tool
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Ask, Draft, Expected, Mention, Pick, Sentence
from tasks.synthesis.filters import (
    argument,
    below,
    is_missing_required,
    is_sayable,
    matching,
    own_prefix,
    related,
    row_columns,
    stated,
)

STATISTICS = ("count", "sum", "average", "minimum", "maximum")


def bind_get(draft: Draft, tool: Tool) -> int | None:
    """Append a get of a row that an earlier row points to, or that a call has changed; return the pick's number.

    A get that would only repeat what an observation shows is not bound.
    """
    key = draft.atlas.tables[tool.table].key
    names = required(tool)
    if len(names) != 1 or not row_columns(tool):
        return None
    options = draft.sources(f"{tool.table}.{key}")
    draft.rng.shuffle(options)
    for number, column in options:
        pick = draft.picks[number]
        value = pick.row.get(column)
        row = draft.atlas.by_key[tool.table].get(value)
        if row is None:
            continue
        known = next((n for n, p in enumerate(draft.picks) if p.table == tool.table and p.row.get(key) == value), None)
        changed = frozenset(draft.affected.get((tool.table, value), ()))
        adds = known is None or bool(changed) or bool(row_columns(tool) - draft.picks[known].columns)
        seen_fresh = any(p.same_as is not None and p.row.get(key) == value for p in draft.picks)
        if not adds or seen_fresh or (known is not None and pick.table != tool.table):
            continue
        step, prefix = draft.add(tool.name, {names[0]: pick.reference(column)}), own_prefix(tool)
        same = None if known is None else draft.origin(known)
        mention = draft.picks[same].mention if same is not None else Mention("reference", of=number, via=column)
        told = draft.picks[same].stated if same is not None else frozenset()
        fresh = next((p.stated for p in reversed(draft.picks) if same is not None and p.same_as == same), frozenset())
        draft.picks.append(
            Pick(
                tool.table,
                row,
                step,
                prefix,
                row_columns(tool),
                mention,
                same,
                not changed,
                told | fresh | {key},
                changed,
            )
        )
        new = len(draft.picks) - 1
        if same is None:
            draft.sentences.append(Sentence("find", step, new, table=tool.table))
        draft.expected.append(Expected(step, below(prefix, key), value))
        return new
    return None


def bind_key(draft: Draft, tool: Tool) -> int | None:
    """Append a get of a row whose key the prompt states (for tables without a label)."""
    table = draft.atlas.tables[tool.table]
    names = required(tool)
    rows = draft.atlas.rows[tool.table]
    if len(names) != 1 or not rows or not row_columns(tool):
        return None
    row = draft.rng.choice(rows)
    value = row[table.key]
    if not is_sayable(value) or any(p.table == tool.table and p.row.get(table.key) == value for p in draft.picks):
        return None
    step, prefix = draft.add(tool.name, {names[0]: value}), own_prefix(tool)
    told = frozenset({table.key})
    draft.picks.append(Pick(tool.table, row, step, prefix, row_columns(tool), Mention("key", value), stated=told))
    draft.sentences.append(Sentence("find", step, len(draft.picks) - 1, table=tool.table))
    draft.expected.append(Expected(step, below(prefix, table.key), value))
    return len(draft.picks) - 1


def bind_aggregate(draft: Draft, tool: Tool) -> bool:
    """Append a statistic over rows that a relation or stated properties narrow down; say whether it was bound.

    A search that tells how many rows match does for a count.
    """
    output = next((f for f in tool.outputs if f.meaning in (*STATISTICS, "matches") and "[]" not in f.path), None)
    if output is None or tool.table in draft.written:
        return False
    rng, rows = draft.rng, draft.atlas.rows[tool.table]
    if not rows:
        return False
    ties = related(draft, tool)
    row = rng.choice(rows)
    filters = []
    if ties and rng.random() < 0.7:
        tie = rng.choice(ties)
        filters.append(tie)
        row = rng.choice([r for r in rows if r.get(tie[1].column) == tie[1].value])
    choices = stated(draft, tool, row)
    rng.shuffle(choices)
    for field, condition in choices[: rng.choice((0, 1, 1)) if filters else rng.choice((1, 1, 2))]:
        if condition.column not in {c.column for _, c in filters}:
            filters.append((field, condition))
    conditions = tuple(condition for _, condition in filters)
    arguments = {field.path: argument(draft, field, condition) for field, condition in filters}
    if not conditions or is_missing_required(tool, arguments):
        return False
    column = output.of.partition(".")[2]
    meaning = "count" if output.meaning == "matches" else output.meaning
    value = statistic(meaning, column, matching(rows, conditions))
    if value in (None, 0):
        return False
    step = draft.add(tool.name, arguments)
    words = (meaning, column)
    draft.sentences.append(Sentence("aggregate", step, table=tool.table, relations=conditions, statistic=words))
    number = len(draft.sentences) - 1
    name = f"{column}_{meaning}" if column else f"{draft.atlas.tables[tool.table].noun}_count"
    draft.asks.append(Ask(name, output.path, step, None, column, number))
    draft.expected.append(Expected(step, output.path, value))
    return True


def statistic(meaning: str, column: str, rows: list[Row]) -> Any:
    """Return a statistic over rows: count, sum, average, minimum or maximum of a column; None over no value."""
    if meaning == "count":
        return len(rows)
    values = [row[column] for row in rows if row.get(column) is not None]
    if not values:
        return None
    return {"sum": sum, "average": fmean, "minimum": min, "maximum": max}[meaning](values)
