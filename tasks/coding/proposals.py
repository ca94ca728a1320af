"""Arguments worth trying on an action, drawn from the state by seed, sorted by what the action must answer."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schemas.database import Action, Column, Database, Rule, Table
from tasks.coding.interpreter import Outcome, perform
from tasks.coding.repair import Repairer
from tasks.coding.snapshot import State

_TRIES = 300


@dataclass
class Cases:
    """Found arguments (by column name) with the outcome that they must have."""

    successes: list[tuple[dict[str, Any], Outcome]] = field(default_factory=list)
    boundaries: list[tuple[dict[str, Any], Outcome]] = field(default_factory=list)
    refusals: dict[str, tuple[dict[str, Any], Outcome]] = field(default_factory=dict)


def find_cases(database: Database, action: Action, state: State, rng: random.Random, successes: int = 3,
               edges: bool = False) -> Cases:  # fmt: skip
    """Return successes, one refusal a code, and for ordered rules the arguments just inside and just outside.

    `edges` also looks through more rows for those that stand nearest to where a rule turns, on either side.
    """
    cases = Cases()
    nearest: dict[tuple[int, str], tuple[float, dict[str, Any], Outcome]] = {}
    for tried, arguments in enumerate(candidates(database, action, state, rng)):
        if tried >= _TRIES:
            break
        outcome = perform(database, action, state, arguments, database.start_time)
        if outcome.code:
            cases.refusals.setdefault(outcome.code, (arguments, outcome))
        elif len(cases.successes) < successes:
            cases.successes.append((arguments, outcome))
        for place, rule in enumerate(action.rules if edges and outcome.code != "NOT_FOUND" else ()):
            gap = _gap(database, action, state, arguments, rule)
            if outcome.code in ("", rule.code) and gap is not None:
                found = nearest.get((place, outcome.code))
                if found is None or gap < found[0]:
                    nearest[place, outcome.code] = (gap, arguments, outcome)
        enough = len(cases.successes) == successes and {rule.code for rule in action.rules} <= cases.refusals.keys()
        if not edges and enough and (action.kind != "transition" or "INVALID_STATE" in cases.refusals):
            break
    for arguments, _ in cases.successes[:2]:
        _add_boundaries(database, action, state, arguments, cases)
    cases.boundaries += [(arguments, outcome) for _, arguments, outcome in nearest.values()]
    return cases


def wrong_values(database: Database, action: Action, state: State, arguments: dict[str, Any]) -> Iterator[Any]:
    """Yield arguments with one value that cannot be right: an unknown reference, no date, a value that is taken."""
    table = database.table(action.table)
    for name in action.parameters:
        column = table.column(name)
        if column.references:
            yield {**arguments, name: unknown_key(database.table(column.references.split(".")[0]), state)}
        if column.type in ("date", "datetime"):
            yield {**arguments, name: "next Friday"}
        if column.unique:
            taken = [row[name] for key, row in state[table.name].items() if key != arguments.get(table.key)]
            yield from ({**arguments, name: value} for value in taken[:1] if value is not None)


def unknown_key(table: Table, state: State) -> Any:
    """Return a key of the right type that no row has."""
    keys = state[table.name]
    if table.column(table.key).type == "integer":
        return max((key for key in keys if isinstance(key, int)), default=0) + 1000
    key = "no-such-key"
    while key in keys:
        key += "-x"
    return key


def candidates(database: Database, action: Action, state: State, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield arguments by column name: rows in turn, other values at random, two of three repaired."""
    table = database.table(action.table)
    columns = [table.column(name) for name in action.parameters]
    if action.kind == "update" and len(columns) == 1:
        columns = [columns[0].model_copy(update={"nullable": False})]  # its only new value must be given
    parameters = [(column, _present(table, column, state)) for column in columns]
    repairer = Repairer(database, action, state)
    keys = list(state[table.name])
    rng.shuffle(keys)
    if action.kind == "transition":
        rows = state[table.name]
        ready = [key for key in keys if rows[key][action.status_column] in action.from_states]
        others = [key for key in keys if key not in set(ready)]
        keys = [key for pair in zip(ready, others, strict=False) for key in pair] + ready[len(others) :]
        keys += others[len(ready) :]
    for turn in range(_TRIES):
        arguments = {}
        if action.kind != "create":
            if not keys:
                return
            arguments[table.key] = keys[turn % len(keys)]
        for column, present in parameters:
            value = _plausible(database, column, present, rng)
            if value is not None:
                arguments[column.name] = value
        yield repairer.repair(arguments, rng) if turn % 3 else arguments


def _present(table: Table, column: Column, state: State) -> list[Any]:
    """Return the values that a column has; of a reference, those that it may have."""
    if column.references:
        name, _, key = column.references.partition(".")
        return [row[key] for row in state[name].values()]
    return [row[column.name] for row in state[table.name].values() if row[column.name] is not None]


def _plausible(database: Database, column: Column, present: list[Any], rng: random.Random) -> Any:
    """Return a value that a caller might give for a column; None to leave a nullable one out."""
    if column.nullable and rng.random() < 0.2:
        return None
    if column.references:
        return rng.choice(present) if present else None
    if column.type == "boolean":
        return rng.random() < 0.5
    if column.choices:
        return rng.choice(column.choices)
    if column.type in ("date", "datetime"):
        moment = datetime.datetime.fromisoformat(database.start_time) + datetime.timedelta(days=rng.randint(-3, 30))
        moved = moment.isoformat() if column.type == "datetime" else moment.date().isoformat()
        return rng.choice([moved, moved, *rng.sample(present, min(1, len(present)))])
    if column.type in ("integer", "number"):
        return _number(column, present, rng)
    if column.unique or not present:
        return f"New {column.name.replace('_', ' ')} {rng.randint(1000, 9999)}"
    return rng.choice(present)


def _number(column: Column, present: list[Any], rng: random.Random) -> int | float:
    low = column.minimum if column.minimum is not None else 0
    options = [low, low + 1, low + 2, low - 1, rng.randint(1, 9), rng.randint(10, 500)]
    if present:
        pick = rng.choice(present)
        options += [pick, pick, pick + 1]
    if column.maximum is not None:
        options = [value for value in options if value <= column.maximum] or [column.maximum]
    if column.minimum is not None:
        options = [value for value in options if value >= low or rng.random() < 0.5] or [low]
    value = rng.choice(options)
    return int(value) if column.type == "integer" else round(float(value), 2)


def _add_boundaries(database: Database, action: Action, state: State, arguments: dict[str, Any], cases: Cases) -> None:
    """Move a numeric parameter to the edge that a rule draws, and one step to either side."""
    table = database.table(action.table)
    for rule in action.rules:
        for parameter, edge in _edges(database, action, table, state, arguments, rule):
            column = table.column(parameter)
            step = 1 if column.type == "integer" else 0.01
            for value in (edge, edge - step, edge + step):
                value = int(value) if column.type == "integer" else round(float(value), 2)
                moved = {**arguments, parameter: value}
                outcome = perform(database, action, state, moved, database.start_time)
                if all(known != moved for known, _ in cases.boundaries):
                    cases.boundaries.append((moved, outcome))
                if outcome.code:
                    cases.refusals.setdefault(outcome.code, (moved, outcome))


def _look(database: Database, table: Table, state: State, arguments: dict[str, Any], path: Any) -> Any:
    """Return the value at a rule's path for the given arguments, or the constant itself; None if there is none."""
    if not isinstance(path, str):
        return path
    first, _, rest = path.partition(".")
    row = {**state[table.name].get(arguments.get(table.key), {}), **arguments}
    value = row.get(first)
    if rest and value is not None:
        value = state[table.column(first).references.split(".")[0]].get(value, {}).get(rest)
    return value


def _sides(rule: Rule) -> tuple[Any, Any] | None:
    """Return both sides of an ordered rule as paths or constants."""
    if rule.operator not in ("<", "<=", ">", ">=") or isinstance(rule.value, tuple):
        return None
    return rule.path, rule.value[1:] if isinstance(rule.value, str) and rule.value.startswith("$") else rule.value


def _gap(database: Database, action: Action, state: State, arguments: dict[str, Any], rule: Rule) -> float | None:
    """Return how far the arguments stand from where an ordered rule turns."""
    sides = _sides(rule)
    if sides is None:
        return None
    left, right = (_look(database, database.table(action.table), state, arguments, side) for side in sides)
    return abs(left - right) if isinstance(left, int | float) and isinstance(right, int | float) else None


def _edges(database: Database, action: Action, table: Table, state: State, arguments: dict[str, Any],
           rule: Rule) -> Iterator[tuple[str, Any]]:  # fmt: skip
    """Yield (numeric parameter, the value where the rule turns)."""
    sides = _sides(rule)
    for parameter, other in (sides, sides[::-1]) if sides else ():
        if parameter not in action.parameters or table.column(parameter).type not in ("integer", "number"):
            continue
        edge = _look(database, table, state, arguments, other)
        if isinstance(edge, int | float):
            yield parameter, edge
