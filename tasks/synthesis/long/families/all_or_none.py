"""All or nothing: if a rule forbids it for one record, the whole request is declined and nothing may change."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.database import Rule
from tasks.synthesis.families.kit import Change
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Case, Move, Operator, Playbook, Stat, Test

BAND = (7, 40)
"""Records that are looked at; longer reading is no harder."""

_OPERATORS: dict[str, Operator] = {
    "==": "equals", "!=": "differs", ">=": "at_least", "<=": "at_most", ">": "above", "<": "below", "in": "in",
}  # fmt: skip


def all_or_none(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks over records that all may be moved, or of which some may not: which, only reading tells."""
    wanted = desk.rng.random() < 0.7
    others: list[Playbook] = []
    small = Desk(desk.kit, BAND)
    changes = [
        c for c in desk.kit.transitions if any("." in path for r in c.action.rules for path in rule_test(r).paths)
    ]
    for change in desk.rng.sample(changes, len(changes)):
        table = desk.atlas.tables[change.action.table]
        tests = tuple(rule_test(rule) for rule in change.action.rules)
        if change.action.status_column not in desk.shown(table):
            continue
        for state in desk.rng.sample(change.action.from_states, len(change.action.from_states)):
            for scope in small.scopes(table, (status_in(change.action.status_column, [state]),), 1.0, tries=20):
                blocked = len(desk.where(table, scope.rows, tests)) < len(scope.rows)
                if blocked == wanted:
                    yield _playbook(desk, scope, change, tests)
                elif len(others) < 4:
                    others.append(_playbook(desk, scope, change, tests))
    yield from others


def rule_test(rule: Rule) -> Test:
    """Return an action's rule as a condition on the record."""
    if isinstance(rule.value, str) and rule.value.startswith("$"):
        return Test(rule.path, _OPERATORS[rule.operator], against=rule.value[1:])
    return Test(rule.path, _OPERATORS[rule.operator], rule.value)


def _playbook(desk: Desk, scope: Scope, change: Change, tests: tuple[Test, ...]) -> Playbook:
    verb = change.action.verb.replace(" ", "_").lower()
    stats = [
        Stat("flag", "done"),
        Stat("code", "reason"),
        Stat("count", "forbidden", "refused"),
        Stat("count", f"to_{verb}", "all"),
    ]
    measure = desk.measure(scope.table, scope.rows)
    if measure is not None:
        stats.append(Stat("total", f"total_{measure.name}", "all", (), measure.name))
    case = Case(tests, (Move(change.action, change.tool, change.key),))
    return Playbook(
        "all_or_none", scope.table, scope.tests, (case,), scope.owners, scope.owned_by, stats=tuple(stats),
        careful=True, one_by_one=True,
    )  # fmt: skip
