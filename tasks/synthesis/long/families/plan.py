"""Plan within a limit: carry out what still fits, in a stated order, and deal otherwise with what does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schemas.database import Column
from tasks.synthesis.families.kit import Change
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Cap, Case, Move, Playbook, Stat


def plan(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks that spend a budget or a capacity, in all or for each of a few groups."""
    for table in desk.tables():
        column = desk.states(table)
        states = sorted({row[column] for row in desk.atlas.rows[table.name] if row.get(column)})
        for state in desk.rng.sample(states, len(states)):
            changes = [c for c in desk.transitions_from(table.name, state) if c.action.status_column == column]
            if not changes:
                continue
            for scope in desk.scopes(table, (status_in(column, [state]),), 0.9):
                playbook = _playbook(desk, scope, changes)
                if playbook is not None:
                    yield playbook
                    yield _lenient(playbook)


def _playbook(desk: Desk, scope: Scope, changes: list[Change]) -> Playbook | None:
    rng, table = desk.rng, scope.table
    measure, order = desk.measure(table, scope.rows), desk.order(table, scope.rows)
    if measure is None or order is None or not all(row[measure.name] > 0 for row in scope.rows):
        return None
    per = _groups(desk, scope)
    sums: dict[object, float] = {}
    for row in scope.rows:
        group = desk.before.cell(table.name, row, per) if per else ""
        sums[group] = sums.get(group, 0) + row[measure.name]
    limit = _round(max(sums.values()) * rng.uniform(0.35, 0.8))
    if limit < min(row[measure.name] for row in scope.rows):
        return None
    over = changes[1] if len(changes) > 1 and rng.random() < 0.75 else None
    cases = (
        Case((), (Move(changes[0].action, changes[0].tool, changes[0].key),)),
        Case((), (Move(over.action, over.tool, over.key),) if over is not None else ()),
    )
    return Playbook(
        "plan", table, scope.tests, cases, scope.owners, scope.owned_by, order, Cap(measure.name, limit, 0, per),
        stats=_stats(cases, measure),
    )  # fmt: skip


def _stats(cases: tuple[Case, ...], measure: Column) -> tuple[Stat, ...]:
    verb = cases[0].moves[0].action.verb.replace(" ", "_").lower()
    other = cases[1].moves[0].action.verb.replace(" ", "_").lower() + "_count" if cases[1].moves else "left_alone"
    return (
        Stat("count", f"{verb}_count", "done", (0,)),
        Stat("total", f"{verb}_{measure.name}", "done", (0,), measure.name),
        Stat("count", other, "done", (1,)),
    )


def _groups(desk: Desk, scope: Scope) -> str:
    """Return the path of a category that makes two to six groups of the records, "" for none."""
    if desk.rng.random() < 0.5:
        return ""
    used = {path for test in scope.tests for path in test.paths}
    shown = desk.shown(scope.table)
    columns = [c.name for c in scope.table.columns if c.role == "category" and c.name in shown - used]
    columns = [c for c in columns if 2 <= len({row.get(c) for row in scope.rows}) <= 6]
    return desk.rng.choice(columns) if columns else ""


def _round(value: float) -> int:
    """Return a number that a person would name as a limit."""
    step = 1 if value < 30 else 5 if value < 200 else 50 if value < 2000 else 500
    return max(1, int(value) // step * step)


def _lenient(playbook: Playbook) -> Playbook:
    """Return the playbook that passes over what the rules refuse, without counting it against the limit."""
    first = replace(playbook.cases[0], instead=())
    rest = [replace(case, instead=()) if case.moves else case for case in playbook.cases[1:]]
    stats = (*playbook.stats, Stat("count", "refused", "refused"))
    return replace(playbook, cases=(first, *rest), stats=stats)
