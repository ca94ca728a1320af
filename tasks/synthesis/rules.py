"""Whether an action's rules hold for a row, computed from the schema alone (never by the tool)."""

from __future__ import annotations

import operator
from typing import Any

from schemas.database import Action, Rule
from tasks.synthesis.atlas import Atlas, Row

_OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda left, right: left in right,
}


def look_up(atlas: Atlas, table: str, row: Row, path: str) -> Any:
    """Return the value at a rule's path: a column of the row, or a column behind one of its references."""
    first, _, rest = path.partition(".")
    if not rest:
        return row.get(first)
    column = atlas.column(f"{table}.{first}")
    found = atlas.target(table, column, row) if column is not None else None
    return found[1].get(rest) if found else None


def first_broken(atlas: Atlas, action: Action, row: Row, given: Row | None = None) -> Rule | None:
    """Return the first rule of an action that a row breaks, None if all hold.

    `given` are the values that the caller passes; rules see them in place of the row's own.
    """
    seen = {**row, **(given or {})}
    for rule in action.rules:
        value: Any = rule.value
        if isinstance(value, str) and value.startswith("$"):
            value = look_up(atlas, action.table, seen, value[1:])
        left = look_up(atlas, action.table, seen, rule.path)
        try:
            holds = left is not None and value is not None and bool(_OPERATORS[rule.operator](left, value))
        except TypeError:
            holds = False
        if not holds:
            return rule
    return None


def may_start(action: Action, row: Row) -> bool:
    """Say whether a transition may start from a row's present status (True for other kinds)."""
    return action.kind != "transition" or row.get(action.status_column) in action.from_states


def allowed(atlas: Atlas, action: Action, row: Row, given: Row | None = None) -> bool:
    """Say whether an action on a row would be carried out."""
    return may_start(action, row) and first_broken(atlas, action, row, given) is None


def tables_changed(atlas: Atlas, action: Action) -> set[str]:
    """Return the tables that an action writes: its own and those that its effects reach."""
    changed = {action.table}
    for effect in action.effects:
        first, _, rest = effect.path.partition(".")
        column = atlas.column(f"{action.table}.{first}")
        if rest and column is not None:
            changed.add(column.references.partition(".")[0])
    return changed


def rows_changed(atlas: Atlas, action: Action, row: Row) -> dict[tuple[str, Any], set[str]]:
    """Return (table, key) -> columns of the existing rows that an action on a row changes, by effects too."""
    key = row.get(atlas.tables[action.table].key)
    changed: dict[tuple[str, Any], set[str]] = {}
    if key is not None:
        own = {*action.parameters, action.status_column} if action.kind != "create" else set()
        changed[action.table, key] = own - {""}
    for effect in action.effects:
        first, _, rest = effect.path.partition(".")
        column = atlas.column(f"{action.table}.{first}")
        if rest and column is not None and row.get(first) is not None:
            changed.setdefault((column.references.partition(".")[0], row[first]), set()).add(rest)
        elif not rest and key is not None:
            changed[action.table, key].add(first)
    return changed
