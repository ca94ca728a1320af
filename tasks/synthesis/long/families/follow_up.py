"""An audit or a campaign: for each finding, one record that refers to it, and a change to it where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schemas.database import Action, Column, Table
from schemas.tool import Tool
from tasks.synthesis.atlas import required
from tasks.synthesis.draft import Draft
from tasks.synthesis.filters import is_sayable
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Case, Given, Move, Playbook, Stat, Test
from tasks.synthesis.writers import sample_value


def follow_up(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks that make a record for each row of another table that meets conditions."""
    options = []
    for action, tool in desk.atlas.action_tools:
        if action.kind != "create":
            continue
        table = desk.atlas.tables[action.table]
        columns = {f.path: _column(table, f.entity) for f in tool.inputs if f.path in required(tool)}
        if None in columns.values():
            continue
        for path, column in columns.items():
            if column is not None and column.references:
                options.append((action, tool, {p: c for p, c in columns.items() if c is not None}, path))
    for action, tool, columns, path in desk.rng.sample(options, len(options)):
        target, _, key = columns[path].references.partition(".")
        records = desk.atlas.tables[target]
        if records.key != key or not desk.shown(records):
            continue
        for base in _bases(desk, records):
            for scope in desk.scopes(records, base, 1.2, tries=5):
                given = _arguments(desk, scope, columns, path)
                if given is not None:
                    playbook = _playbook(desk, scope, action, tool, given)
                    yield playbook
                    yield _lenient(playbook)


def _bases(desk: Desk, table: Table) -> list[tuple[Test, ...]]:
    """Return conditions to begin with: each state of the table's records, or none if they have no states."""
    column = next((c for c in table.columns if c.role == "status" and c.name in desk.shown(table)), None)
    if column is None:
        return [()]
    states = sorted({row[column.name] for row in desk.atlas.rows[table.name] if row.get(column.name)})
    return [(status_in(column.name, [state]),) for state in desk.rng.sample(states, len(states))]


def _arguments(desk: Desk, scope: Scope, columns: dict[str, Column], path: str) -> tuple[Given, ...] | None:
    """Return the new record's arguments: the finding's key, its own cells where they fit, stated values elsewhere."""
    given = []
    for name, column in columns.items():
        if name == path:
            given.append(Given(name, column, path=scope.table.key))
        elif column.references:
            same = [c for c in scope.table.columns if c.references == column.references]
            if same and same[0].name in desk.shown(scope.table) and all(row.get(same[0].name) for row in scope.rows):
                given.append(Given(name, column, path=same[0].name))
                continue
            parties = desk.parties(column)
            if not parties:
                return None
            given.append(Given(name, column, parties[0]))
        else:
            value = sample_value(Draft(desk.atlas, desk.rng), column_table(desk, columns, path), column)
            if value is None or not is_sayable(value):
                return None
            given.append(Given(name, column, value))
    return tuple(given)


def column_table(desk: Desk, columns: dict[str, Column], path: str) -> str:
    """Return the table that the columns of a new record belong to."""
    wanted = {column.name for column in columns.values()}
    return next(
        table.name
        for table in desk.atlas.database.tables
        if wanted <= {c.name for c in table.columns} and columns[path] in table.columns
    )


def _playbook(desk: Desk, scope: Scope, action: Action, tool: Tool, given: tuple[Given, ...]) -> Playbook:
    rng, table = desk.rng, scope.table
    moves: tuple[Move, ...] = (Move(action, tool, "", given),)
    status = desk.states(table)
    state = {row.get(status) for row in scope.rows} if status else set()
    changes = desk.transitions_from(table.name, str(next(iter(state)))) if len(state) == 1 else []
    if changes and rng.random() < 0.5:
        moves = (*moves, Move(changes[0].action, changes[0].tool, changes[0].key))
    used = {path for test in scope.tests for path in test.paths}
    test = desk.own(table, scope.rows, used) if rng.random() < 0.5 else None
    cases = (Case((test,), moves), Case(())) if test is not None else (Case((), moves),)
    stats = [Stat("count", "made", "done", (0,))]
    measure = desk.measure(table, scope.rows)
    if measure is not None:
        stats.append(Stat("total", f"total_{measure.name}", "all", (), measure.name))
    return Playbook("follow_up", table, scope.tests, cases, scope.owners, scope.owned_by, stats=tuple(stats))


def _lenient(playbook: Playbook) -> Playbook:
    cases = tuple(replace(case, instead=()) if case.moves else case for case in playbook.cases)
    return replace(playbook, cases=cases, stats=(*playbook.stats, Stat("count", "refused", "refused")))


def _column(table: Table, entity: str) -> Column | None:
    name, _, column = entity.partition(".")
    return table.column(column) if name == table.name else None
