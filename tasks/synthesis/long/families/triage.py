"""Settle every open record by its rule: one action under one condition, another under another, exceptions aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tasks.synthesis.families.kit import Change
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Case, Move, Playbook, Stat, Test


def triage(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks over records in one state that two or three actions may treat, by condition."""
    for table in desk.tables():
        column = desk.states(table)
        states = sorted({row[column] for row in desk.atlas.rows[table.name] if row.get(column)})
        for state in desk.rng.sample(states, len(states)):
            found = desk.transitions_from(table.name, state)
            found = [c for c in found if c.action.status_column == column]
            if not found:
                continue
            for scope in desk.scopes(table, (status_in(column, [state]),), 1.0):
                playbook = _playbook(desk, scope, found)
                if playbook is not None:
                    yield playbook
                    refused = Stat("count", "refused", "refused")
                    cases = tuple(_lenient(case) for case in playbook.cases)
                    yield replace(playbook, cases=cases, stats=(*playbook.stats, refused))


def _lenient(case: Case) -> Case:
    return replace(case, instead=()) if case.moves else case


def _playbook(desk: Desk, scope: Scope, changes: list[Change]) -> Playbook | None:
    rng, rows = desk.rng, list(scope.rows)
    cases: list[Case] = []
    if rng.random() < 0.6 and len(rows) > 4:
        test = desk.behind(scope.table, rows) or desk.own(scope.table, rows, _used(scope))
        if test is not None:
            cases.append(Case((test,), exception=True))
            rows = [row for row in rows if row not in desk.where(scope.table, rows, [test])]
    for change in changes[: rng.choice((1, 2, 2))]:
        test = desk.against(scope.table, rows) if rng.random() < 0.35 else None
        if rng.random() < 0.2 and not any(t.average for c in cases for t in c.tests):
            test = desk.average(scope.table, scope.rows)
        test = test or desk.own(scope.table, rows, _used(scope) | {t.path for c in cases for t in c.tests})
        if test is None:
            break
        tests: tuple[Test, ...] = (test,)
        cases.append(Case(tests, (Move(change.action, change.tool, change.key),)))
        rows = [row for row in rows if row not in desk.where(scope.table, rows, tests)]
    rest = changes[len([c for c in cases if c.moves]) :]
    if rest and rows:
        cases.append(Case((), (Move(rest[0].action, rest[0].tool, rest[0].key),)))
    else:
        cases.append(Case(()))
    if not any(case.moves for case in cases) or len(cases) < 2:
        return None
    return Playbook(
        "triage", scope.table, scope.tests, tuple(cases), scope.owners, scope.owned_by, stats=_stats(desk, scope, cases)
    )


def _used(scope: Scope) -> set[str]:
    return {path for test in scope.tests for path in test.paths}


def _stats(desk: Desk, scope: Scope, cases: list[Case]) -> tuple[Stat, ...]:
    active = [number for number, case in enumerate(cases) if case.moves]
    idle = tuple(number for number, case in enumerate(cases) if not case.moves)
    stats = [Stat("count", f"{_verb(cases[n])}_count", "done", (n,)) for n in active]
    stats += [Stat("count", "left_alone", "done", idle)] if idle else []
    measure = desk.measure(scope.table, scope.rows)
    if measure is not None:
        chosen = desk.rng.choice(active)
        stats.append(Stat("total", f"{_verb(cases[chosen])}_{measure.name}", "done", (chosen,), measure.name))
    names = [stat.name for stat in stats]
    return tuple(stat for place, stat in enumerate(stats) if stat.name not in names[:place])


def _verb(case: Case) -> str:
    return case.moves[0].action.verb.replace(" ", "_").lower()
