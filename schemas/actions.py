"""Whether a database's actions fit its tables: every name resolves and every type agrees."""

from __future__ import annotations

import re

from schemas.base import Scalar
from schemas.database import Action, Column, Database, Effect, Rule, Table

CLOCK = "$clock"
"""The value that stands for the episode's present time in `Action.initial` and `Effect.value`."""

_NUMERIC = ("integer", "number")
_TEXTUAL = ("string", "date", "datetime")
_ORDERED = ("<", "<=", ">", ">=")


def resolve_path(database: Database, table: Table, path: str) -> tuple[Table, Column]:
    """Return the table and the column that a rule's or effect's path names, seen from a row of `table`.

    Raises:
        KeyError: if a name does not exist, a step is no reference, or there is more than one step.
    """
    first, _, rest = path.partition(".")
    column = table.column(first)
    if not rest:
        return table, column
    if not column.references:
        raise KeyError(f"{table.name}.{first} is no reference, so {path!r} leads nowhere")
    target = database.table(column.references.partition(".")[0])
    if "." in rest:
        raise KeyError(f"{path!r} takes more than one reference")
    return target, target.column(rest)


def check_actions(database: Database) -> list[str]:
    """Return what is wrong with a database's actions, one line each; an empty list if all is well."""
    problems: list[str] = []
    names: set[str] = set()
    for action in database.actions:
        if action.name in names:
            problems.append(f"{action.name}: the name is used twice")
        names.add(action.name)
        try:
            table = database.table(action.table)
        except KeyError as error:
            problems.append(f"{action.name}: {error.args[0]}")
            continue
        found = [*_check_shape(action, table)]
        for rule in action.rules:
            found += _check_rule(database, table, rule)
        for effect in action.effects:
            found += _check_effect(database, table, effect)
        problems += [f"{action.name}: {line}" for line in found]
    return problems


def _check_shape(action: Action, table: Table) -> list[str]:
    columns = {column.name: column for column in table.columns}
    problems = [
        f"{what} {name!r} is no column of {table.name}"
        for what, given in (("parameter", action.parameters), ("initial column", tuple(action.initial)))
        for name in given
        if name not in columns
    ]
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", action.name):
        problems.append("the name is no verb_noun in snake case")
    if table.key in action.parameters:
        problems.append("the key is no parameter: a create mints it, other kinds take it anyway")
    for name, value in action.initial.items():
        if name in columns and not _fits(value, columns[name]):
            problems.append(f"initial {name} = {value!r} does not fit its type {columns[name].type}")
    if action.kind == "create":
        given = {table.key, *action.parameters, *action.initial}
        given |= {effect.path for effect in action.effects if effect.operation == "set"}
        missing = [c.name for c in table.columns if not c.nullable and c.name not in given]
        problems += [f"nothing gives a value to the required column {name}" for name in missing]
    elif action.kind == "transition":
        problems += _check_transition(action, columns)
    elif not action.parameters:
        problems.append("an update without parameters changes nothing")
    return problems


def _check_transition(action: Action, columns: dict[str, Column]) -> list[str]:
    status = columns.get(action.status_column)
    if status is None:
        return [f"status column {action.status_column!r} is no column of {action.table}"]
    problems = [
        f"state {state!r} is none of {status.choices}"
        for state in (*action.from_states, action.to_state)
        if state not in status.choices
    ]
    if not action.from_states:
        problems.append("a transition needs the states that it may start from")
    if action.to_state in action.from_states:
        problems.append(f"the transition may start where it ends: {action.to_state!r}")
    return problems


def _check_rule(database: Database, table: Table, rule: Rule) -> list[str]:
    where = f"rule {rule.code}"
    problems = [] if re.fullmatch(r"[A-Z][A-Z0-9_]+", rule.code) else [f"{where}: code is not upper snake case"]
    try:
        _, column = resolve_path(database, table, rule.path)
        if isinstance(rule.value, tuple) != (rule.operator == "in"):
            problems.append(f"{where}: a list goes with 'in' and with nothing else")
        values = rule.value if isinstance(rule.value, tuple) else (rule.value,)
        for value in values:
            other = _reference_value(database, table, value)
            if other is not None and not _comparable(column, other):
                problems.append(f"{where}: {rule.path} ({column.type}) is compared with {value} ({other.type})")
            if other is None and not _fits(value, column):
                problems.append(f"{where}: {rule.path} ({column.type}) is compared with {value!r}")
    except KeyError as error:
        return [*problems, f"{where}: {error.args[0]}"]
    if rule.operator in _ORDERED and column.type == "boolean":
        problems.append(f"{where}: a boolean has no order")
    return problems


def _check_effect(database: Database, table: Table, effect: Effect) -> list[str]:
    where = f"effect on {effect.path}"
    try:
        target, column = resolve_path(database, table, effect.path)
        if column.name == target.key:
            return [f"{where}: a key never changes"]
        if effect.operation == "add" and column.type not in _NUMERIC:
            return [f"{where}: cannot add to a {column.type}"]
        if effect.value == CLOCK:
            return [] if column.type == "datetime" else [f"{where}: the clock is a datetime, not a {column.type}"]
        text = effect.value if isinstance(effect.value, str) else ""
        if text.startswith("-$") and (effect.operation != "add" or "*" in text):
            return [f"{where}: {text!r} is for 'add', and not with a product"]
        parts = [_reference_value(database, table, part.removeprefix("-")) for part in text.split("*")]
        if "*" in text and text.startswith("$"):
            numeric = all(part is not None and part.type in _NUMERIC for part in parts)
            return [] if numeric else [f"{where}: {text!r} is no product of two numbers"]
        if parts[0] is not None:
            return [] if _comparable(column, parts[0]) else [f"{where}: {text!r} is a {parts[0].type}"]
    except KeyError as error:
        return [f"{where}: {error.args[0]}"]
    return [] if _fits(effect.value, column) else [f"{where}: {effect.value!r} does not fit its type {column.type}"]


def _reference_value(database: Database, table: Table, value: Scalar) -> Column | None:
    """Return the column that "$name" or "$reference.name" stands for; None if the value is a plain scalar."""
    if not isinstance(value, str) or not value.startswith("$"):
        return None
    return resolve_path(database, table, value[1:])[1]


def _comparable(left: Column, right: Column) -> bool:
    if left.type in _NUMERIC or right.type in _NUMERIC:
        return left.type in _NUMERIC and right.type in _NUMERIC
    return left.type == right.type


def _fits(value: Scalar | tuple[Scalar, ...], column: Column) -> bool:
    if value == CLOCK:
        return column.type == "datetime"
    if value is None:
        return column.nullable
    if column.type == "boolean":
        return value in (0, 1)
    if isinstance(value, bool):
        return False
    if column.type == "integer":
        return isinstance(value, int)
    if column.type == "number":
        return isinstance(value, (int, float))
    return isinstance(value, str) and (not column.choices or value in column.choices)
