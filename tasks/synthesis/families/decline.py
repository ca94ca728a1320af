"""Asked for something that a rule forbids: nothing may change, and the answer says why."""

from __future__ import annotations

from typing import Any

from schemas.database import Action
from tasks.synthesis.atlas import Row
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Change, Kit, Link, Program, shown
from tasks.synthesis.filters import matching, row_columns
from tasks.synthesis.rules import first_broken, may_start


def decline(kit: Kit) -> Program | None:
    """Return a program that tries an action which is refused, and reports the refusal's code and the record's state."""
    rng = kit.rng
    pairs = [(link, c) for link in kit.links for c in kit.transitions if c.action.table == link.child.name]
    rng.shuffle(pairs)
    for link, change in pairs:
        for owner in kit.owners(link)[:16]:
            children = kit.children(link, owner)
            if not shown(children):
                continue
            found = _refused(kit, link, change, children)
            if found is not None:
                return _program(kit, link, change, owner, *found)
    return None


def _refused(kit: Kit, link: Link, change: Change, rows: list[Row]) -> tuple[Row, Condition, tuple[str, bool]] | None:
    """Return a refused row, its state and the superlative that names it among the party's rows in that state."""
    status = change.action.status_column
    states = sorted({row[status] for row in rows if row.get(status) is not None})
    kit.rng.shuffle(states)
    for state in states:
        condition = Condition(status, "equals", state)
        peers = matching(rows, [condition])
        for measure in kit.measures(link.find_children, peers):
            for descending in kit.rng.sample((True, False), 2):
                values = [row[measure.name] for row in peers]
                best = max(values) if descending else min(values)
                row = peers[values.index(best)]
                if (
                    values.count(best) == 1
                    and is_refused(kit, change.action, row)
                    and status in row_columns(link.find_children)
                ):
                    return row, condition, (measure.name, descending)
    return None


def is_refused(kit: Kit, action: Action, row: Row) -> bool:
    """Say whether an action on a row is refused, by its state or by a rule."""
    return not may_start(action, row) or first_broken(kit.atlas, action, row) is not None


def _program(
    kit: Kit, link: Link, change: Change, owner: Row, row: Row, condition: Condition, order: tuple[str, bool]
) -> Program:
    table, tool = link.child, change.tool
    column, descending = order
    kind = table.column(column).type
    body = (
        kit.find_owner(link, owner),
        *kit.list_children(link, [condition]),
        f"row = {'max' if descending else 'min'}(rows, key=lambda row: row[{column!r}])",
        f"done = call({tool.name!r}, {change.key}=row[{table.key!r}])",
        "if 'error' in done:",
        f"    return {{'done': False, 'reason': done['error']['code'], 'value': row[{column!r}]}}",
        f"return {{'done': True, 'reason': '', 'value': row[{column!r}]}}",
    )
    owned = kit.speaker.owned(table.name, link.column.name, kit.owner_phrase(link, owner))
    sentence = kit.speaker.say(
        "program_decline", verb=change.action.verb, noun=table.noun, nouns=table.nouns,
        column=column.replace("_", " "), extreme=kit.speaker.extreme(table.name, column, descending),
        conditions=kit.conditions_phrase(table.name, [condition], owned),
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
            kit.field("value", kind, f"the {column.replace('_', ' ')} of that {table.noun}"),
        ),
        predicted=predicted,
        constructs=("decline", "conditional"),
        tools=(link.find_parent.name, link.find_children.name, tool.name),
        refusals=1,
    )
