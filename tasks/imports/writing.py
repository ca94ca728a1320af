"""Infer what a foreign writing tool does from the changes that its probes left: an action, if it is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.base import Scalar
from schemas.database import Action, ActionKind, Column, Effect, Table
from schemas.task import Change
from schemas.tool import ToolField
from tasks.environment.runtime.files.rows import MORE, cell
from tasks.imports.literals import schema_types
from tasks.imports.observe import objects
from tasks.imports.probe import Probe, Prober, ToolProbes
from tasks.imports.reading import field_type
from tasks.imports.values import Data
from tasks.imports.verbs import verb
from tasks.imports.words import singular

CLOCK = "$clock"


@dataclass(frozen=True)
class Writing:
    """What a tool was found to do; kind "write" without action if its changes are no action of one row."""

    kind: str
    table: str = ""
    inputs: tuple[ToolField, ...] = ()
    outputs: tuple[ToolField, ...] = ()
    action: Action | None = None
    tables: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = field(default=())


def infer_writing(data: Data, probes: ToolProbes, prober: Prober) -> Writing:
    """Return what the probes that changed something agree on.

    A transition is probed further, once for each status that some row has, to learn from which it may start.
    """
    done = [probe for probe in probes.done if probe.changes]
    tables = tuple(sorted({change.table for probe in done for change in probe.changes}))
    own = _own(data, probes, done)
    if own is None:
        return Writing("write", tables=tables)
    kind, table = own
    if kind == "create":
        return _create(data, probes, done, table, tables)
    return _change(data, probes, prober, done, table, tables)


def _own(data: Data, probes: ToolProbes, done: Sequence[Probe]) -> tuple[ActionKind | str, Table] | None:
    """Return ("create" or "change", table) if each probe inserts, or updates, exactly one row of one table."""
    found: Counter[tuple[str, str]] = Counter()
    names = {table.name for table in data.tables}
    for probe in done:
        by_table: dict[tuple[str, str], list[Change]] = {}
        for change in probe.changes:
            if change.table == "documents" and change.operation == "update":
                continue  # what stands beside the records, for example a counter
            if change.table not in names or change.operation == "delete":
                return None
            by_table.setdefault((change.operation, change.table), []).append(change)
        for (operation, table), changes in by_table.items():
            named = any(str(value) == str(changes[0].key) for value in probe.arguments.values())
            if len(changes) == 1 and (operation == "insert" or named):
                found["create" if operation == "insert" else "change", table] += 1
    whole = [place for place, count in found.items() if count == len(done)]
    subject = [table.name for table in data.subject(probes.tool)]
    whole.sort(key=lambda place: (place[0] != "create", place[1] not in subject, place[1]))
    return (whole[0][0], data.table(whole[0][1])) if whole else None


def _action_name(tool: str, table: Table) -> str:
    return tool if "_" in tool else f"{tool}_{singular(table.name)}"


def _shown(table: Table, probes: Sequence[Probe], keys: Sequence[Any]) -> tuple[ToolField, ...]:
    """Return the outputs: where the observations show the row's new state."""
    places: dict[str, set[str]] | None = None
    for probe, key in zip(probes, keys, strict=True):
        after = next(c.after for c in probe.changes if c.table == table.name and c.key == key and c.after)
        here: dict[str, set[str]] = {}
        for path, item in objects(probe.observation):
            same = {
                c.name
                for c in table.columns
                if c.name in item
                and not isinstance(item[c.name], dict | list)
                and cell(item[c.name]) == after[c.name]
                and isinstance(item[c.name], str) == isinstance(after[c.name], str)
            }
            if "[]" not in path and (len(same) >= 2 or table.key in same):
                here[path] = same
        places = here if places is None else {p: places[p] & here[p] for p in places if p in here}
    if not places:
        return ()
    path = max(places, key=lambda p: (len(places[p]), -len(p)))
    prefix = f"{path}." if path else ""
    return tuple(
        ToolField(path=prefix + c.name, type=field_type(c), entity=c.references or f"{table.name}.{c.name}",
                  meaning="cell", of=f"{table.name}.{c.name}")
        for c in table.columns if c.name in places[path]
    )  # fmt: skip


def _input(tool: ToolProbes, name: str, table: Table, column: Column, meaning: str) -> ToolField:
    kinds = schema_types(tool.tool.parameters["properties"][name])
    kind = next((k for k in kinds if k != "null"), "string")
    return ToolField(path=name, type=kind, entity=column.references or f"{table.name}.{column.name}",
                     meaning=meaning, of=f"{table.name}.{column.name}")  # fmt: skip


def _given(tool: ToolProbes, table: Table, done: Sequence[Probe], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return parameter -> column, where the written rows hold what the parameter was given."""
    found: dict[str, str] = {}
    for name in tool.tool.parameters["properties"]:
        pairs = [(p.arguments[name], row) for p, row in zip(done, rows, strict=True) if name in p.arguments]
        columns = [
            column.name
            for column in table.columns
            if pairs and column.name not in found.values()
            and all(cell(value) == row[column.name] or str(value) == str(row[column.name]) for value, row in pairs)
        ]  # fmt: skip
        if columns:
            low = name.lower()
            columns.sort(key=lambda c: (c.lower() != low, not low.endswith(c.lower()), c != table.key))
            found[name] = columns[0]
    return found


def _same_values(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    return len({repr(row[column]) for row in rows}) == 1


def _constant(data: Data, column: Column, value: Any) -> Scalar:
    if column.type == "datetime" and value == data.start_time:
        return CLOCK
    return value


def _create(data: Data, probes: ToolProbes, done: Sequence[Probe], table: Table, tables: tuple[str, ...]) -> Writing:
    changes = [next(c for c in p.changes if c.table == table.name and c.operation == "insert") for p in done]
    rows = [dict(change.after or {}) for change in changes]
    given = _given(probes, table, done, rows)
    required = probes.tool.parameters["required"]
    inputs = [
        _input(probes, name, table, table.column(column), "new_value")
        for name, column in given.items()
        if column != table.key
    ]
    outputs = _shown(table, done, [change.key for change in changes])
    described = all(name in given and given[name] != table.key for name in required)
    if not described or not outputs or any(row.get(MORE) for row in rows):
        return Writing("write", table.name, tables=tables)
    initial: dict[str, Scalar] = {}
    effects: list[Effect] = []
    taken = {given[name] for name in given}
    for column in table.columns:
        if column.name in taken or column.name == table.key:
            continue
        if _same_values(rows, column.name):
            initial[column.name] = _constant(data, column, rows[0][column.name])
    effects += _reaching(data, table, done, rows)
    action = Action(
        name=_action_name(probes.tool.name, table), verb=verb(probes.tool.name), kind="create", table=table.name,
        description=probes.tool.description, parameters=tuple(given[n] for n in given if given[n] != table.key),
        initial=initial, effects=tuple(effects),
    )  # fmt: skip
    return Writing("create", table.name, tuple(inputs), outputs, action, tables, _unexplained(table, done, effects))


def _change(
    data: Data, probes: ToolProbes, prober: Prober, done: Sequence[Probe], table: Table, tables: tuple[str, ...]
) -> Writing:
    changes = [next(c for c in p.changes if c.table == table.name and c.operation == "update") for p in done]
    after = [dict(change.after or {}) for change in changes]
    keys = [
        name
        for name in probes.tool.parameters["properties"]
        if all(str(p.arguments.get(name)) == str(c.key) for p, c in zip(done, changes, strict=True))
    ]
    if not keys:
        return Writing("write", table.name, tables=tables)
    key = keys[0]
    changed = sorted(
        {c for change in changes for c in (change.after or {}) if change.after[c] != (change.before or {}).get(c)}
    )
    if MORE in changed:
        return Writing("write", table.name, tables=tables)
    given = {n: c for n, c in _given(probes, table, done, after).items() if n != key and c != table.key}
    given = {name: column for name, column in given.items() if column in changed}
    required = [name for name in probes.tool.parameters["required"] if name != key]
    status = next((c for c in table.columns if c.name in changed and c.name not in given.values()
                   and c.role in ("status", "category", "flag") and _same_values(after, c.name)), None)  # fmt: skip
    outputs = _shown(table, done, [change.key for change in changes])
    key_input = _input(probes, key, table, table.column(table.key), "equals")
    effects = [
        Effect(path=column.name, operation="set", value=_constant(data, column, after[0][column.name]))
        for column in table.columns
        if column.name in changed
        and column.name not in given.values()
        and (status is None or column.name != status.name)
        and _same_values(after, column.name)
    ]
    effects += _reaching(data, table, done, after)
    common: dict[str, Any] = {
        "name": _action_name(probes.tool.name, table), "verb": verb(probes.tool.name), "table": table.name,
        "description": probes.tool.description,
    }  # fmt: skip
    unexplained = _unexplained(table, done, effects)
    if given and all(name in given for name in required) and status is None:
        inputs = (key_input, *(_input(probes, n, table, table.column(c), "new_value") for n, c in given.items()))
        action = Action(**common, kind="update", parameters=tuple(given.values()), effects=tuple(effects))
        return Writing("update", table.name, inputs, outputs, action, tables, unexplained)
    if status is not None and not required and status.type != "boolean":
        starts = _starts(data, probes, prober, table, key, status.name)
        end = after[0][status.name]
        starts = [state for state in starts if state != end]
        if starts and isinstance(end, str):
            action = Action(
                **common, kind="transition", status_column=status.name, from_states=tuple(starts), to_state=end,
                effects=tuple(effects),
            )  # fmt: skip
            return Writing("transition", table.name, (key_input,), outputs, action, tables, unexplained)
    return Writing("write", table.name, tables=tables)


def _starts(data: Data, probes: ToolProbes, prober: Prober, table: Table, key: str, status: str) -> list[str]:
    """Return the states from which a transition went for every row that was tried, two of each."""
    found = []
    base = next(p for p in probes.done if p.changes).arguments
    for state in dict.fromkeys(row[status] for row in data.rows[table.name]):
        rows = [row for row in data.rows[table.name] if row[status] == state][:2]
        tried = []
        for row in rows:
            kind = base[key]
            value = str(row[table.key]) if isinstance(kind, str) else row[table.key]
            probe = prober.call(probes.tool.name, {**base, key: value})
            tried.append(not probe.refused and any(c.key == row[table.key] for c in probe.changes))
        if tried and all(tried):
            found.append(state)
    return [state for state in found if isinstance(state, str)]


def _reaching(data: Data, table: Table, done: Sequence[Probe], rows: Sequence[Mapping[str, Any]]) -> list[Effect]:
    """Return the effects on rows that the written row refers to: a number that grows by a constant or by a cell."""
    effects = []
    for reference in table.columns:
        if not reference.references:
            continue
        other = data.table(reference.references.partition(".")[0])
        for column in other.columns:
            if column.type not in ("integer", "number") or column.name == other.key:
                continue
            steps = []
            for probe, row in zip(done, rows, strict=True):
                change = next(
                    (c for c in probe.changes if c.table == other.name and c.key == row[reference.name]
                     and c.operation == "update"), None
                )  # fmt: skip
                before, after = (change.before or {}, change.after or {}) if change else ({}, {})
                if not isinstance(after.get(column.name), int | float) or before.get(column.name) is None:
                    break
                steps.append(after[column.name] - before[column.name])
            if len(steps) < len(done) or not any(steps):
                continue
            value = _step(table, steps, rows)
            if value is not None:
                effects.append(Effect(path=f"{reference.name}.{column.name}", operation="add", value=value))
    return effects


def _step(table: Table, steps: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> Scalar:
    for column in table.columns:
        if column.type not in ("integer", "number"):
            continue
        cells = [row[column.name] for row in rows]
        if all(isinstance(c, int | float) and abs(c - s) < 1e-9 for c, s in zip(cells, steps, strict=True)):
            return f"${column.name}"
        if all(isinstance(c, int | float) and abs(c + s) < 1e-9 for c, s in zip(cells, steps, strict=True)):
            return f"-${column.name}"
    return steps[0] if len(set(steps)) == 1 else None


def _unexplained(table: Table, done: Sequence[Probe], effects: Sequence[Effect]) -> tuple[str, ...]:
    """Return the other tables that change although no effect says so."""
    reached = {effect.path.partition(".")[0] for effect in effects if "." in effect.path}
    targets = {table.column(name).references.partition(".")[0] for name in reached}
    return tuple(sorted({c.table for p in done for c in p.changes} - {table.name} - targets))
