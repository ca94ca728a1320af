"""What an action must do, read straight from its rules and effects: the tester's yardstick.

It shares no code with the coder, so that a tool and its expected results cannot be wrong in the same way. Where the
records leave room, both follow these readings: operands are read before anything is written (a create's computed
columns are computed first, in order); a missing cell fails an ordered comparison; a rule or effect on an optional
parameter that was not given does not apply; computed numbers are rounded to six decimals.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.base import Scalar
from schemas.database import Action, Column, Database, Effect, Rule, Table
from tasks.coding.snapshot import State

_WRITTEN = {"date": r"\d{4}-\d{2}-\d{2}", "datetime": r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"}
_ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
MINTED = "$minted"
"""Stands for the key that a create mints."""


class _NotGiven(Exception):
    """An optional parameter that the caller left out."""


class _NoRow(Exception):
    """A reference that points nowhere."""


@dataclass(frozen=True)
class Outcome:
    """What an action does: the code of its refusal ('' if it succeeds) and the rows that it leaves changed."""

    code: str = ""
    rows: dict[tuple[str, Any], dict[str, Any]] = field(default_factory=dict)
    own: tuple[str, Any] = ("", None)

    @property
    def row(self) -> dict[str, Any]:
        """The action's own row as it is afterwards."""
        return self.rows[self.own]


def perform(database: Database, action: Action, state: State, arguments: Mapping[str, Any], now: str) -> Outcome:
    """Return what an action does to a state. `arguments` are by column name; the key of a create is `MINTED`.

    The state itself is left as it is.

    Raises:
        KeyError: if the action names a table or column that does not exist.
    """
    return _Performance(database, action, state, dict(arguments), now).outcome()


class _Performance:
    def __init__(self, database: Database, action: Action, state: State, arguments: dict[str, Any], now: str) -> None:
        self.database, self.action, self.state, self.now = database, action, state, now
        self.table: Table = database.table(action.table)
        self.given = {k: int(v) if isinstance(v, bool) else v for k, v in arguments.items()}
        self.view: dict[str, Any] = {}

    def outcome(self) -> Outcome:
        key = MINTED
        if self.action.kind != "create":
            key = self.given.get(self.table.key)
            row = self.state[self.table.name].get(key)
            if row is None:
                return Outcome("NOT_FOUND")
            self.view = dict(row)
            if self.action.kind == "transition" and row[self.action.status_column] not in self.action.from_states:
                return Outcome("INVALID_STATE")
        refused = self._refuse_parameters(key)
        if refused:
            return Outcome(refused)
        before = {column.name: self.view.get(column.name) for column in self.table.columns}
        self.view |= {name: self.given.get(name) for name in self.action.parameters}
        if self.action.kind == "create":
            fixed = {name: self._scalar(value) for name, value in self.action.initial.items()}
            self.view = {**before, **fixed, **{n: self.given.get(n) for n in self.action.parameters}}
            self.view[self.table.key] = key
            for effect in self.action.effects:
                if "." not in effect.path:
                    self.view[effect.path] = self._changed(effect, self.view.get(effect.path), None)
        for rule in self.action.rules:
            if not self._holds(rule):
                return Outcome(rule.code)
        return self._write(key, before)

    def _refuse_parameters(self, key: Any) -> str:
        rows = self.state[self.table.name]
        parameters = [self.table.column(name) for name in self.action.parameters]
        several = len(parameters) > 1 and all(column.nullable for column in parameters)
        if self.action.kind == "update" and several and all(self.given.get(c.name) is None for c in parameters):
            return "NOTHING_TO_CHANGE"
        for column in parameters:
            value = self.given.get(column.name)
            if column.type in _WRITTEN and value is not None and not re.fullmatch(_WRITTEN[column.type], value):
                return "INVALID_DATE"
        for column in parameters:
            value = self.given.get(column.name)
            if column.references and value is not None and self._referred(column, value) is None:
                return "NOT_FOUND"
        for column in parameters:
            value = self.given.get(column.name)
            if column.unique and value is not None:
                taken = any(row[column.name] == value for other, row in rows.items() if other != key)
                if taken:
                    return "ALREADY_EXISTS"
        return ""

    def _write(self, key: Any, before: dict[str, Any]) -> Outcome:
        own = (self.table.name, key)
        if self.action.kind == "create":
            after = dict(self.view)
        else:
            after = dict(before)
            if self.action.kind == "transition":
                after[self.action.status_column] = self.action.to_state
            after |= {n: self.given[n] for n in self.action.parameters if self.given.get(n) is not None}
            after |= {name: self._scalar(value) for name, value in self.action.initial.items()}
            for effect in self.action.effects:
                if "." not in effect.path:
                    after[effect.path] = self._changed(effect, after[effect.path], after[effect.path])
        rows = {own: after}
        for effect in self.action.effects:
            if "." not in effect.path:
                continue
            reference, _, name = effect.path.partition(".")
            target = self.table.column(reference).references.split(".")[0]
            referred = self._referred(self.table.column(reference), self.view[reference])
            if referred is None:
                continue
            place = (target, referred[self.database.table(target).key])
            row = dict(rows.get(place) or referred)
            row[name] = self._changed(effect, row[name], row[name], self.database.table(target).column(name))
            rows[place] = row
        broken = any(self._breaks(name, row) for (name, _), row in rows.items())
        return Outcome("CONSTRAINT") if broken else Outcome(rows=rows, own=own)

    def _holds(self, rule: Rule) -> bool:
        try:
            left = self._read(rule.path)
            if isinstance(rule.value, tuple):
                return left in [self._value(value) for value in rule.value]
            right = self._value(rule.value)
        except _NotGiven:
            return True
        except _NoRow:
            return False
        if rule.operator in ("==", "!="):
            return (left == right) == (rule.operator == "==")
        return left is not None and right is not None and bool(_ORDERED[rule.operator](left, right))

    def _read(self, path: str) -> Any:
        first, _, rest = path.partition(".")
        value = self.view.get(first)
        if value is None and first in self.action.parameters:
            raise _NotGiven
        if not rest:
            return value
        row = self._referred(self.table.column(first), value)
        if row is None:
            raise _NoRow
        return row[rest]

    def _referred(self, column: Column, value: Any) -> dict[str, Any] | None:
        """Return the row that a reference's value points to."""
        name, _, target = column.references.partition(".")
        if target == self.database.table(name).key:
            return self.state[name].get(value)
        return next((row for row in self.state[name].values() if value is not None and row[target] == value), None)

    def _scalar(self, value: Scalar) -> Any:
        return self.now if value == "$clock" else int(value) if isinstance(value, bool) else value

    def _value(self, value: Scalar) -> Any:
        if not isinstance(value, str) or "$" not in value or value == "$clock":
            return self._scalar(value)
        if not value.startswith("-") and "*" not in value:
            return self._read(value[1:])
        product: Any = 1
        for factor in value.removeprefix("-").split("*"):
            number = self._read(factor[1:]) if factor.startswith("$") else float(factor)
            product *= number or 0
        return round(-product if value.startswith("-") else product, 6)

    def _changed(self, effect: Effect, present: Any, otherwise: Any, column: Column | None = None) -> Any:
        """Return a cell's new value; `otherwise` where a `set` has nothing to set."""
        column = column or self.table.column(effect.path)
        try:
            operand = self._value(effect.value)
        except (_NotGiven, _NoRow):
            return otherwise if effect.operation == "set" else present
        if effect.operation == "set":
            return operand
        total = (present or 0) + (operand or 0)
        return round(total, 6) if column.type == "number" else total

    def _breaks(self, name: str, row: dict[str, Any]) -> bool:
        """Say whether a row would violate what its columns declare."""
        for column in self.database.table(name).columns:
            value = row.get(column.name)
            if value is None or value == MINTED:
                if value is None and not column.nullable:
                    return True
                continue
            if column.choices and value not in column.choices:
                return True
            if column.type == "integer" and value != int(value):
                return True
            if column.type in ("integer", "number") and isinstance(value, int | float):
                low, high = column.minimum, column.maximum
                if (low is not None and value < low) or (high is not None and value > high):
                    return True
        return False
