"""Move what hangs on something that fell through: end each record and make it anew with another party in its place."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.database import Action, Column, Table
from schemas.tool import Tool
from tasks.synthesis.atlas import required
from tasks.synthesis.families.kit import Change
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Case, Given, Move, Named, Playbook, Stat

_ENDING = frozenset(
    ["cancel", "withdraw", "reject", "refuse", "reverse", "end", "remove", "return", "release", "drop", "close", "void"]
)
"""Verbs of transitions after which a new record takes the old one's place."""


def rebook(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks of pairs of calls: a transition that ends a record, and a new one that takes its place."""
    pairs = [
        (change, action, tool)
        for change in desk.kit.transitions
        if set(change.action.verb.lower().split()) & _ENDING
        for action, tool in desk.atlas.action_tools
        if action.kind == "create" and action.table == change.action.table
    ]
    for change, action, tool in desk.rng.sample(pairs, len(pairs)):
        table = desk.atlas.tables[action.table]
        columns = {field.path: _column(table, field.entity) for field in tool.inputs if field.path in required(tool)}
        if None in columns.values() or not {c.name for c in columns.values() if c} <= desk.shown(table):
            continue
        moved = [path for path, column in columns.items() if column is not None and column.references]
        for path in desk.rng.sample(moved, len(moved)):
            yield from _moved(desk, change, action, tool, {p: c for p, c in columns.items() if c is not None}, path)


def _moved(
    desk: Desk, change: Change, action: Action, tool: Tool, columns: dict[str, Column], path: str
) -> Iterator[Playbook]:
    table, column = desk.atlas.tables[action.table], columns[path]
    status = change.action.status_column
    present = {row[status] for row in desk.atlas.rows[table.name]}
    states = [state for state in change.action.from_states if state in present]
    if not states:
        return
    for scope in desk.scopes(table, (status_in(status, states),), 2.0, tries=14):
        touches = scope.owned_by == column.name or any(t.path.startswith(f"{column.name}.") for t in scope.tests)
        if not touches:
            continue
        taken = {row.get(column.name) for row in scope.rows}
        for heir in [party for party in desk.parties(column) if party.key not in taken][:3]:
            yield _playbook(desk, scope, change, action, tool, columns, path, heir)


def _playbook(
    desk: Desk, scope: Scope, change: Change, action: Action, tool: Tool, columns: dict[str, Column], path: str,
    heir: Named,
) -> Playbook:  # fmt: skip
    given = tuple(
        Given(name, column, heir) if name == path else Given(name, column, path=column.name)
        for name, column in columns.items()
    )
    moves = (Move(change.action, change.tool, change.key), Move(action, tool, "", given))
    stats = [Stat("count", "moved", "done", (0,))]
    measure = desk.measure(scope.table, scope.rows)
    if measure is not None:
        stats.append(Stat("total", f"total_{measure.name}", "all", (), measure.name))
    order = desk.order(scope.table, scope.rows) if desk.rng.random() < 0.4 else None
    return Playbook(
        "rebook", scope.table, scope.tests, (Case((), moves),), scope.owners, scope.owned_by, order, stats=tuple(stats)
    )


def _column(table: Table, entity: str) -> Column | None:
    name, _, column = entity.partition(".")
    return table.column(column) if name == table.name else None
