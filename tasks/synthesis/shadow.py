"""A second opinion on what actions do: rows of an environment, changed by the rules and effects of the schema alone.

No tool code runs here. Where a long task's moves meet in one row (a stock, a quota), this says which are refused and
what is left, so that the executed answer and state can be checked against it.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from schemas.database import Action, Column, Effect
from tasks.synthesis.atlas import Atlas, Row

_COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda left, right: left in right,
}  # fmt: skip
Place = tuple[str, Any]
"""(table, key) of a row."""


class Unclear(Exception):
    """An action whose outcome this reading of the schema does not settle."""


class Shadow:
    """The rows of an atlas with changes on top; the atlas stays as it is."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self.changed: dict[Place, Row] = {}
        self.made: list[Place] = []

    def row(self, table: str, key: Any) -> Row | None:
        """Return a row as it is now, None if there is none."""
        found = self.changed.get((table, key))
        return found if found is not None else self.atlas.by_key[table].get(key)

    def cell(self, table: str, row: Row, path: str) -> Any:
        """Return the value at a path: a column of the row, or one behind its reference.

        Raises:
            Unclear: if the reference points to no key.
        """
        first, _, rest = path.partition(".")
        value = row.get(first)
        if not rest or value is None:
            return None if rest else value
        column = self._column(table, first)
        target, _, key = column.references.partition(".")
        if self.atlas.tables[target].key != key:
            raise Unclear(f"{table}.{first} refers to {column.references}, which is no key")
        found = self.row(target, value)
        return None if found is None else found.get(rest)

    def perform(self, action: Action, key: Any, given: Mapping[str, Any]) -> str:
        """Carry out an action on the row of that key (None: make one); return '' or the code of its refusal.

        Raises:
            Unclear: if what happens cannot be told from the schema.
        """
        table = self.atlas.tables[action.table]
        start = self.atlas.database.start_time
        fixed = {name: start if value == "$clock" else value for name, value in action.initial.items()}
        if action.kind == "create":
            own: Place = (table.name, ("new", len(self.made)))
            row: Row = {column.name: None for column in table.columns} | fixed | dict(given) | {table.key: own[1]}
            for effect in action.effects:
                if "." not in effect.path:
                    row[effect.path] = self._after(action.table, row, effect, row.get(effect.path))
        else:
            found = self.row(table.name, key)
            if found is None:
                raise Unclear(f"{action.name}: no row {key!r}")
            own, row = (table.name, key), dict(found)
            if action.kind == "transition" and row[action.status_column] not in action.from_states:
                return "INVALID_STATE"
        if any(self._column(table.name, name).unique for name in given):
            raise Unclear(f"{action.name}: a value that must be the only one of its kind")
        seen = row | dict(given)
        for rule in action.rules:
            if not self._holds(action.table, seen, rule.path, rule.operator, rule.value):
                return rule.code
        if action.kind != "create":
            row |= dict(given) | fixed
            if action.kind == "transition":
                row[action.status_column] = action.to_state
            for effect in action.effects:
                if "." not in effect.path:
                    row[effect.path] = self._after(action.table, seen, effect, row.get(effect.path))
        rows = {own: row}
        self._reach(action, seen, rows)
        self._check(rows)
        self.changed |= rows
        if action.kind == "create":
            self.made.append(own)
        return ""

    def _reach(self, action: Action, seen: Row, rows: dict[Place, Row]) -> None:
        """Apply the effects on other rows."""
        for effect in action.effects:
            first, _, rest = effect.path.partition(".")
            if not rest or seen.get(first) is None:
                continue
            column = self._column(action.table, first)
            place = (column.references.partition(".")[0], seen[first])
            other = rows.get(place) or self.row(*place)
            if other is None:
                raise Unclear(f"{action.name}: {effect.path} leads nowhere")
            rows[place] = other | {rest: self._after(action.table, seen, effect, other.get(rest))}

    def _holds(self, table: str, row: Row, path: str, compare: str, value: Any) -> bool:
        right = self.cell(table, row, value[1:]) if isinstance(value, str) and value.startswith("$") else value
        left = self.cell(table, row, path)
        if compare in ("==", "!=", "in"):
            return bool(_COMPARE[compare](left, right))
        return left is not None and right is not None and bool(_COMPARE[compare](left, right))

    def _after(self, table: str, row: Row, effect: Effect, present: Any) -> Any:
        operand = self._operand(table, row, effect.value)
        if effect.operation == "set":
            return operand
        total = (present or 0) + (operand or 0)
        return round(total, 6) if isinstance(total, float) else total

    def _operand(self, table: str, row: Row, value: Any) -> Any:
        if value == "$clock":
            return self.atlas.database.start_time
        if not isinstance(value, str) or "$" not in value:
            return value
        if "*" not in value and not value.startswith("-"):
            return self.cell(table, row, value[1:])
        product: Any = 1
        for factor in value.removeprefix("-").split("*"):
            product *= (self.cell(table, row, factor[1:]) if factor.startswith("$") else float(factor)) or 0
        return round(-product if value.startswith("-") else product, 6)

    def _check(self, rows: Mapping[Place, Row]) -> None:
        """Raise `Unclear` if a row would break what its columns declare."""
        for (table, _), row in rows.items():
            for column in self.atlas.tables[table].columns:
                value = row.get(column.name)
                if value is None and not column.nullable:
                    raise Unclear(f"{table}.{column.name} would be empty")
                if isinstance(value, (int, float)) and column.type in ("integer", "number"):
                    low, high = column.minimum, column.maximum
                    if (low is not None and value < low) or (high is not None and value > high):
                        raise Unclear(f"{table}.{column.name} would be {value}")

    def _column(self, table: str, name: str) -> Column:
        column = self.atlas.column(f"{table}.{name}")
        if column is None:
            raise Unclear(f"there is no column {table}.{name}")
        return column
