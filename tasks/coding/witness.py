"""A second state in which rules fail that hold everywhere in the snapshot, so that every rule is tested.

The snapshot's rows came about by the actions themselves, so some refusals never occur in it (no failed run stands on
a frozen pool), or some transition has no row to start from. A few cells are set to values that make them occur.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schemas.database import Action, Column, Database, Rule
from tasks.coding.interpreter import perform
from tasks.coding.proposals import candidates, find_cases
from tasks.coding.snapshot import State
from tasks.coding.words import identifier

_TRIES = 60


@dataclass
class Witness:
    """The statements that alter the snapshot, the state that they leave, and arguments worth trying in it."""

    statements: tuple[str, ...] = ()
    state: State = field(default_factory=dict)
    arguments: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def find_witness(database: Database, snapshot: bytes, state: State, rng: random.Random) -> Witness:
    """Return an altered state for the outcomes of actions that the snapshot's own state cannot show."""
    return _Search(database, snapshot, state, rng).run()


def altered(snapshot: bytes, statements: tuple[str, ...]) -> bytes:
    """Return a snapshot after the statements.

    Raises:
        sqlite3.Error: if one of them does not fit the snapshot's tables or checks.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(snapshot)
        for statement in statements:
            connection.execute(statement)
        return connection.serialize()
    finally:
        connection.close()


class _Search:
    def __init__(self, database: Database, snapshot: bytes, state: State, rng: random.Random) -> None:
        self.database, self.rng = database, rng
        self.state = {name: {key: dict(row) for key, row in rows.items()} for name, rows in state.items()}
        self.original = state
        self.taken: set[tuple[str, Any]] = set()
        self.statements: list[str] = []
        self.arguments: dict[str, list[dict[str, Any]]] = {}
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.deserialize(snapshot)

    def run(self) -> Witness:
        for action in self.database.actions:
            cases = find_cases(self.database, action, self.original, random.Random(f"witness-{action.name}"))
            if not cases.successes and not self._allow(action):
                continue
            for rule in action.rules:
                if rule.code not in cases.refusals:
                    self._break(action, rule)
        self.connection.close()
        return Witness(tuple(self.statements), self.state, self.arguments)

    def _tries(self, action: Action) -> Iterator[dict[str, Any]]:
        for tried, arguments in enumerate(candidates(self.database, action, self.state, self.rng)):
            if tried == _TRIES:
                return
            if not self._rows(action, arguments) & self.taken:
                yield arguments

    def _rows(self, action: Action, arguments: dict[str, Any]) -> set[tuple[str, Any]]:
        """Return the rows that an action looks at: its own and those that it refers to."""
        table = self.database.table(action.table)
        own = arguments.get(table.key)
        row = {**self.state[table.name].get(own, {}), **arguments}
        found = {(table.name, own)} if own is not None else set()
        for column in table.columns:
            if column.references and row.get(column.name) is not None:
                found.add((column.references.split(".")[0], row[column.name]))
        return found

    def _allow(self, action: Action) -> bool:
        """Let an action succeed once: set its row's state, and cells that its rules compare with constants."""
        for arguments in self._tries(action):
            changes: dict[tuple[str, Any, str], Any] = {}
            table = self.database.table(action.table)
            if action.kind == "transition":
                changes[table.name, arguments[table.key], action.status_column] = action.from_states[0]
            for rule in action.rules:
                place = self._place(action, arguments, rule)
                if place is not None and not isinstance(rule.value, tuple) and "$" not in str(rule.value):
                    changes[place] = self._value(rule, place, holds=True)
            if self._try(action, arguments, changes, ""):
                return True
        return False

    def _break(self, action: Action, rule: Rule) -> bool:
        """Make one rule of an action fail where it would succeed otherwise."""
        for arguments in self._tries(action):
            place = self._place(action, arguments, rule)
            if place is None:
                return False
            if perform(self.database, action, self.state, arguments, self.database.start_time).code:
                continue
            value = self._value(rule, place, holds=False, arguments=arguments, action=action)
            if self._try(action, arguments, {place: value}, rule.code):
                return True
        return False

    def _place(self, action: Action, arguments: dict[str, Any], rule: Rule) -> tuple[str, Any, str] | None:
        """Return (table, key, column) of the cell that a rule looks at; None if the caller gives its value."""
        table = self.database.table(action.table)
        first, _, rest = rule.path.partition(".")
        own = arguments.get(table.key)
        if not rest:
            return None if own is None or first in action.parameters else (table.name, own, first)
        row = {**self.state[table.name].get(own, {}), **arguments}
        target, _, key = table.column(first).references.partition(".")
        if key != self.database.table(target).key or row.get(first) not in self.state[target]:
            return None
        return target, row[first], rest

    def _value(self, rule: Rule, place: tuple[str, Any, str], holds: bool, arguments: dict[str, Any] | None = None,
               action: Action | None = None) -> Any:  # fmt: skip
        """Return a value of a cell for which a rule holds or fails; the cell's own value if there is none to offer."""
        name, key, column_name = place
        column: Column = self.database.table(name).column(column_name)
        edge = rule.value
        if isinstance(edge, str) and edge.startswith("$") and "*" not in edge and action is not None:
            edge = self._operand(action, arguments or {}, edge[1:])
        operator = rule.operator
        if not holds:
            operator = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in"}[operator]
        if operator == "==":
            return edge
        if operator in ("!=", "not in"):
            bad = edge if isinstance(edge, tuple) else (edge,)
            options = [0, 1] if column.type == "boolean" else list(column.choices)
            return next((option for option in options if option not in bad), self.state[name][key][column_name])
        if isinstance(edge, int | float) and column.type in ("integer", "number"):
            return edge + {"<": -1, "<=": 0, ">": 1, ">=": 0}[operator]
        return self.state[name][key][column_name]

    def _operand(self, action: Action, arguments: dict[str, Any], path: str) -> Any:
        table = self.database.table(action.table)
        first, _, rest = path.partition(".")
        value = {**self.state[table.name].get(arguments.get(table.key), {}), **arguments}.get(first)
        if not rest or value is None:
            return value
        return self.state[table.column(first).references.split(".")[0]].get(value, {}).get(rest)

    def _try(self, action: Action, arguments: dict[str, Any], changes: dict[tuple[str, Any, str], Any],
             code: str) -> bool:  # fmt: skip
        """Set the cells if the tables' checks allow it and the action then ends with the code; undo it otherwise."""
        before = {place: self.state[place[0]][place[1]][place[2]] for place in changes}
        statements = [self._statement(place, value) for place, value in changes.items() if value != before[place]]
        self.connection.execute("SAVEPOINT attempt")
        try:
            for statement in statements:
                self.connection.execute(statement)
        except sqlite3.Error:
            self.connection.execute("ROLLBACK TO attempt")
            return False
        for (name, key, column), value in changes.items():
            self.state[name][key][column] = value
        if perform(self.database, action, self.state, arguments, self.database.start_time).code == code:
            self.statements += statements
            self.arguments.setdefault(action.name, []).append(arguments)
            self.taken |= self._rows(action, arguments)
            self.connection.execute("RELEASE attempt")
            return True
        for (name, key, column), value in before.items():
            self.state[name][key][column] = value
        self.connection.execute("ROLLBACK TO attempt")
        return False

    def _statement(self, place: tuple[str, Any, str], value: Any) -> str:
        name, key, column = place
        quoted = [self.connection.execute("SELECT quote(?)", (item,)).fetchone()[0] for item in (value, key)]
        where = f"{identifier(self.database.table(name).key)} = {quoted[1]}"
        return f"UPDATE {identifier(name)} SET {identifier(column)} = {quoted[0]} WHERE {where}"
