"""Turning random arguments into ones that an action's rules are likely to accept."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

from schemas.database import Action, Database, Rule
from tasks.coding.snapshot import State

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda value, options: value in options,
}  # fmt: skip


class Repairer:
    """Knows the rows that rules with constants accept, and makes the two sides of an equality agree.

    It only proposes; what an action answers is up to the interpreter.
    """

    def __init__(self, database: Database, action: Action, state: State) -> None:
        self._table = database.table(action.table)
        self._state = state
        self._key = self._table.key
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._referred = {c.name: c.references.partition(".")[::2] for c in self._table.columns if c.references}
        self._parameters = action.parameters
        for name in action.parameters:
            if name in self._referred:
                rules = [rule for rule in action.rules if rule.path.startswith(f"{name}.") and _is_constant(rule)]
                rows = state[self._referred[name][0]].values()
                self._rows[name] = [row for row in rows if all(_accepts(rule, row) for rule in rules)]
        self._equalities = [
            (rule.path, rule.value[1:])
            for rule in action.rules
            if rule.operator == "==" and isinstance(rule.value, str) and rule.value.startswith("$")
        ]

    def repair(self, arguments: dict[str, Any], rng: random.Random) -> dict[str, Any]:
        """Return arguments whose references point to rows that the rules accept, with equal sides made equal."""
        repaired = dict(arguments)
        for name, rows in self._rows.items():
            if rows and name in repaired:
                repaired[name] = rng.choice(rows)[self._referred[name][1]]
        for left, right in self._equalities:
            for changed, other in ((right, left), (left, right)):
                if self._agree(repaired, changed, self._look(repaired, other), rng):
                    break
        return repaired

    def _agree(self, arguments: dict[str, Any], path: str, wanted: Any, rng: random.Random) -> bool:
        """Change the argument behind a path so that the path has the wanted value; False if that cannot be."""
        first, _, rest = path.partition(".")
        if wanted is None or first not in self._parameters:
            return False
        if not rest:
            arguments[first] = wanted
            return True
        rows = [row for row in self._rows.get(first, ()) if row[rest] == wanted]
        if rows:
            arguments[first] = rng.choice(rows)[self._referred[first][1]]
        return bool(rows)

    def _look(self, arguments: dict[str, Any], path: str) -> Any:
        first, _, rest = path.partition(".")
        value = {**self._state[self._table.name].get(arguments.get(self._key), {}), **arguments}.get(first)
        if not rest or value is None:
            return value
        name, key = self._referred[first]
        row = self._state[name].get(value)
        if row is None or row[key] != value:
            row = next((row for row in self._state[name].values() if row[key] == value), {})
        return row.get(rest)


def _is_constant(rule: Rule) -> bool:
    values = rule.value if isinstance(rule.value, tuple) else (rule.value,)
    return not any(isinstance(value, str) and "$" in value for value in values)


def _accepts(rule: Rule, row: dict[str, Any]) -> bool:
    value = row[rule.path.split(".")[1]]
    if value is None and rule.operator not in ("==", "!=", "in"):
        return False
    return _TESTS[rule.operator](value, rule.value)
