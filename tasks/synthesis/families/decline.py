"""Asked for something that a rule forbids: nothing may change, and the answer says why."""

from __future__ import annotations

from typing import Any

from schemas.database import Action
from tasks.synthesis.atlas import Row
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Change, Kit, Program
from tasks.synthesis.families.scope import Scope, fetch, is_walkable, scopes, where
from tasks.synthesis.filters import matching, row_columns
from tasks.synthesis.rules import first_broken, may_start


def decline(kit: Kit) -> Program | None:
    """Return a program that tries an action which is refused, and reports the refusal's code and the record's state."""
    rng = kit.rng
    for change in rng.sample(kit.transitions, len(kit.transitions)):
        for scope in scopes(kit, change.action.table, change.action.status_column):
            found = _refused(kit, scope, change)
            if found is not None:
                return _program(kit, scope, change, *found)
    return None


def _refused(kit: Kit, scope: Scope, change: Change) -> tuple[Row, Condition, tuple[str, bool]] | None:
    """Return a refused row, its state and the superlative that names it among the scope's rows in that state.

    Rows that a rule forbids come before rows that are in the wrong state.
    """
    status = change.action.status_column
    if status not in row_columns(scope.finder):
        return None
    states = sorted({row[status] for row in scope.rows if row.get(status) is not None})
    kit.rng.shuffle(states)
    states.sort(key=lambda state: state not in change.action.from_states)
    for state in states:
        condition = Condition(status, "equals", state)
        if not is_walkable(scope, [condition], least=1):
            continue
        peers = matching(scope.rows, [condition])
        for measure in kit.measures(scope.finder, peers):
            if measure.name in {c.column for c in scope.base}:
                continue
            for descending in kit.rng.sample((True, False), 2):
                values = [row[measure.name] for row in peers]
                best = max(values) if descending else min(values)
                row = peers[values.index(best)]
                if values.count(best) == 1 and is_refused(kit, change.action, row):
                    return row, condition, (measure.name, descending)
    return None


def is_refused(kit: Kit, action: Action, row: Row) -> bool:
    """Say whether an action on a row is refused, by its state or by a rule."""
    return not may_start(action, row) or first_broken(kit.atlas, action, row) is not None


def _program(
    kit: Kit, scope: Scope, change: Change, row: Row, condition: Condition, order: tuple[str, bool]
) -> Program:
    table, (column, descending) = scope.table, order
    words = column.replace("_", " ")
    body = (
        *fetch(kit, scope, [condition]),
        f"row = {'max' if descending else 'min'}(rows, key=lambda row: row[{column!r}])",
        f"done = call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
        "if 'error' in done:",
        f"    return {{'done': False, 'reason': done['error']['code'], 'value': row[{column!r}]}}",
        f"return {{'done': True, 'reason': '', 'value': row[{column!r}]}}",
    )
    sentence = kit.speaker.say(
        "program_decline", verb=change.action.verb, noun=table.noun, nouns=table.nouns, column=words,
        extreme=kit.speaker.extreme(table.name, column, descending), conditions=where(kit, scope, [condition]),
    )  # fmt: skip
    predicted: dict[str, Any] = {"done": False, "value": row[column]}
    rule = first_broken(kit.atlas, change.action, row)
    if rule is not None and may_start(change.action, row):
        predicted["reason"] = rule.code
    return Program(
        body=body,
        sentences=(sentence,),
        fields=(
            kit.field("done", "boolean", "true if it was carried out, false if it was refused"),
            kit.field("reason", "string", "the error code if it was refused, else an empty text"),
            kit.field("value", table.column(column).type, f"the {words} of that {table.noun}"),
        ),
        predicted=predicted,
        constructs=("decline", "conditional"),
        tools=(*scope.tools, change.tool.name),
        refusals=1,
    )
