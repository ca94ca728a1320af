"""Set a value on every record that needs it, one value under one condition, another under another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schemas.database import Column
from tasks.synthesis.draft import Draft
from tasks.synthesis.families.kit import Change
from tasks.synthesis.filters import is_sayable
from tasks.synthesis.long.desk import Desk, Scope
from tasks.synthesis.long.playbook import Case, Given, Move, Named, Playbook, Stat, Test
from tasks.synthesis.writers import sample_value


def adjust(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks of updates: a stated value, or (to hand records over) another party."""
    changes = [change for change in desk.kit.updates if len(change.action.parameters) == 1]
    for change in desk.rng.sample(changes, len(changes)):
        table = desk.atlas.tables[change.action.table]
        column = table.column(change.action.parameters[0])
        parameter = next((f.path for f in change.tool.inputs if f.path != change.key), "")
        if not parameter or column.name not in desk.shown(table):
            continue
        make = _handed_over if column.references else _set
        for _ in range(6):
            for scope in desk.scopes(table, (), 1.0, tries=3):
                playbook = make(desk, scope, change, column, parameter)
                if playbook is not None:
                    yield playbook
                    yield _lenient(playbook)


def _set(desk: Desk, scope: Scope, change: Change, column: Column, parameter: str) -> Playbook | None:
    """Return a playbook that sets one or two stated values where they are not there yet."""
    values: list[Any] = []
    for _ in range(6):
        value = sample_value(Draft(desk.atlas, desk.rng), scope.table.name, column)
        if value is not None and value not in values and is_sayable(value):
            values.append(value)
    if not values:
        return None
    second = values[1] if len(values) > 1 and desk.rng.random() < 0.5 else None
    used = {path for test in scope.tests for path in test.paths} | {column.name}
    cases, rows = [], list(scope.rows)
    for value in values[:1] if second is None else values[:2]:
        test = desk.own(scope.table, rows, used)
        if test is None:
            return None
        tests = (test, Test(column.name, "differs", value))
        cases.append(Case(tests, (_move(change, column, parameter, value),)))
        rows = [row for row in rows if row not in desk.where(scope.table, rows, tests)]
    return _playbook(desk, scope, [*cases, Case(())])


def _handed_over(desk: Desk, scope: Scope, change: Change, column: Column, parameter: str) -> Playbook | None:
    """Return a playbook that gives the records of some parties to one or two others."""
    present = {row.get(column.name) for row in scope.rows}
    heirs = [party for party in desk.parties(column) if party.key not in present][:2]
    if len(heirs) < 2 or None in present:
        return None
    test = desk.own(scope.table, scope.rows, {path for test in scope.tests for path in test.paths})
    last = Case((), (_move(change, column, parameter, heirs[1]),))
    if test is None:
        return None
    return _playbook(desk, scope, [Case((test,), (_move(change, column, parameter, heirs[0]),)), last])


def _move(change: Change, column: Column, parameter: str, value: Any | Named) -> Move:
    return Move(change.action, change.tool, change.key, (Given(parameter, column, value),))


def _playbook(desk: Desk, scope: Scope, cases: list[Case]) -> Playbook:
    active = [number for number, case in enumerate(cases) if case.moves]
    names = ("first_count", "second_count", "third_count")
    stats = [Stat("count", names[place], "done", (number,)) for place, number in enumerate(active)]
    measure = desk.measure(scope.table, scope.rows)
    if measure is not None:
        stats.append(Stat("total", f"total_{measure.name}", "all", (), measure.name))
    return Playbook("adjust", scope.table, scope.tests, tuple(cases), scope.owners, scope.owned_by, stats=tuple(stats))


def _lenient(playbook: Playbook) -> Playbook:
    cases = tuple(replace(case, instead=()) if case.moves else case for case in playbook.cases)
    return replace(playbook, cases=cases, stats=(*playbook.stats, Stat("count", "refused", "refused")))
