"""Bind calls that change the state: transitions, updates and new rows, where the rules allow them."""

from __future__ import annotations

from typing import Any

from schemas.database import Action, Column
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Condition, Draft, Mention, Pick, Sentence
from tasks.synthesis.filters import argument_value, is_sayable, own_prefix, row_columns
from tasks.synthesis.rules import allowed, first_broken, rows_changed, tables_changed


def key_parameter(draft: Draft, tool: Tool) -> str | None:
    """Return the parameter that takes the key of the row to change."""
    entity = f"{tool.table}.{draft.atlas.tables[tool.table].key}"
    return next((f.path for f in tool.inputs if f.entity == entity and f.path in required(tool)), None)


def bind_change(draft: Draft, action: Action, tool: Tool) -> int | None:
    """Append a transition or an update of a row picked before; return the number of the changed row's pick."""
    parameter = key_parameter(draft, tool)
    key = draft.atlas.tables[action.table].key
    for number, column in draft.sources(f"{action.table}.{key}"):
        pick = draft.picks[number]
        row = draft.atlas.by_key[action.table].get(pick.row.get(column))
        if parameter is None or row is None or (action.table, row[key]) in draft.touched:
            continue
        if pick.table != action.table:
            continue
        values = new_values(draft, action, tool, row) if action.kind == "update" else ()
        given = dict(values)
        if (action.kind == "update" and not values) or not allowed(draft.atlas, action, row, given):
            continue
        arguments = {parameter: pick.reference(key)} | _arguments(tool, given)
        if any(name not in arguments for name in required(tool)) or _collides(draft, action, {**row, **given}):
            continue
        return _append(draft, action, tool, arguments, draft.origin(number), row, values)
    return None


def bind_create(draft: Draft, action: Action, tool: Tool) -> int | None:
    """Append the creation of a row that refers to rows picked before; return the new row's pick."""
    table = draft.atlas.tables[action.table]
    needed = required(tool)
    arguments: dict[str, Any] = {}
    relations: list[Condition] = []
    given: Row = {}
    for field in tool.inputs:
        column = draft.atlas.column(field.entity)
        if column is None or field.meaning not in ("", "new_value", "equals"):
            continue
        if column.references:
            sources = draft.sources(field.entity)
            used = {condition.of for condition in relations}
            sources = [source for source in sources if draft.origin(source[0]) not in used]
            if not sources:
                if field.path in needed:
                    return None
                continue
            number, name = draft.rng.choice(sources[:2])
            pick = draft.picks[number]
            own = name == draft.atlas.tables[pick.table].key
            target = draft.origin(number) if own else number
            relations.append(Condition(column.name, "equals", pick.row[name], target, "" if own else name))
            arguments[field.path] = pick.reference(name)
            given[column.name] = pick.row[name]
        elif field.path in needed:
            value = sample_value(draft, action.table, column)
            if value is None:
                return None
            given[column.name] = value
            arguments[field.path] = argument_value(field, value)
    if any(name not in arguments for name in needed) or not relations and len(given) < 1:
        return None
    start = {**action.initial, **given}
    if first_broken(draft.atlas, action, start, given) is not None or _collides(draft, action, start):
        return None
    plain = tuple((name, value) for name, value in given.items() if name not in {c.column for c in relations})
    step = draft.add(tool.name, arguments)
    row = {**{column.name: None for column in table.columns}, **given}
    computed = {effect.path for effect in action.effects if effect.operation == "set" and effect.value != "$clock"}
    told = frozenset(row_columns(tool) - computed)
    pick = Pick(
        action.table, row, step, own_prefix(tool), row_columns(tool), Mention("created"), certain=False, stated=told
    )
    draft.picks.append(pick)
    draft.written |= tables_changed(draft.atlas, action)
    draft.affect(rows_changed(draft.atlas, action, row))
    draft.sentences.append(
        Sentence("create", step, len(draft.picks) - 1, action.verb, action.table, plain, tuple(relations))
    )
    return len(draft.picks) - 1


def new_values(draft: Draft, action: Action, tool: Tool, row: Row) -> tuple[tuple[str, Any], ...]:
    """Return new values for an update: all required ones, else one of the optional ones, each other than now."""
    fields = [f for f in tool.inputs if f.meaning in ("", "new_value") and _column(f.entity) in action.parameters]
    wanted = [f for f in fields if f.path in required(tool)]
    if not wanted and fields:
        wanted = [draft.rng.choice(fields)]
    values = []
    for field in wanted:
        column = draft.atlas.column(field.entity)
        assert column is not None
        if column.references:
            return ()
        value = next((v for v in (sample_value(draft, action.table, column) for _ in range(6))
                      if v is not None and v != row.get(column.name)), None)  # fmt: skip
        if value is None:
            return ()
        values.append((column.name, value))
    return tuple(values)


def sample_value(draft: Draft, table: str, column: Column) -> Any:
    """Return a plausible value for a column: a choice, a value that some row has, or a small number; None if none."""
    rng = draft.rng
    if column.choices:
        return rng.choice(column.choices)
    if column.type == "boolean":
        return rng.choice((0, 1))
    present = [value for value in draft.atlas.values(table, column.name) if is_sayable(value)]
    if column.type == "integer" and column.role == "measure":
        low = int(max(column.minimum if column.minimum is not None else 1, 1))
        most = int(column.maximum) if column.maximum is not None else max((*present, low + 4))
        return rng.randint(low, max(low, min(most, low + 40)))
    if not present or column.unique:
        return None
    value = rng.choice(present)
    if column.type == "number" and column.role == "measure":
        value = round(float(value) * rng.choice((0.8, 0.9, 1.1, 1.2, 1.25)), 2)
        low, high = column.minimum, column.maximum
        value = value if low is None else max(value, low)
        value = value if high is None else min(value, high)
        return int(value) if float(value).is_integer() else value
    return value


def _collides(draft: Draft, action: Action, row: Row) -> bool:
    """Say whether an action would change a row that the chain has changed, so that its rules may no longer hold."""
    return any(place in draft.affected for place in rows_changed(draft.atlas, action, row))


def _column(entity: str) -> str:
    return entity.partition(".")[2]


def _arguments(tool: Tool, given: Row) -> dict[str, Any]:
    return {
        field.path: argument_value(field, given[_column(field.entity)])
        for field in tool.inputs
        if field.meaning in ("", "new_value") and _column(field.entity) in given
    }


def _append(
    draft: Draft, action: Action, tool: Tool, arguments: dict[str, Any], origin: int, row: Row,
    values: tuple[tuple[str, Any], ...],
) -> int:  # fmt: skip
    step = draft.add(tool.name, arguments)
    after = {**row, **dict(values)}
    if action.kind == "transition":
        after[action.status_column] = action.to_state
    told = draft.picks[origin].stated | {name for name, _ in values} | {action.status_column}
    mention = draft.picks[origin].mention
    pick = Pick(action.table, after, step, own_prefix(tool), row_columns(tool), mention, origin, False, frozenset(told))
    draft.picks.append(pick)
    draft.touched.add((action.table, row[draft.atlas.tables[action.table].key]))
    draft.affect(rows_changed(draft.atlas, action, row))
    draft.written |= tables_changed(draft.atlas, action)
    draft.sentences.append(Sentence(action.kind, step, origin, action.verb, action.table, values))
    return len(draft.picks) - 1
