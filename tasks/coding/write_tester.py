"""The tester's tests of tools that write: they leave exactly what the interpreter of rules and effects says."""

from __future__ import annotations

from typing import Any

from schemas.database import Action
from tasks.coding.examples import by_parameter, rename
from tasks.coding.interpreter import MINTED, Outcome, perform
from tasks.coding.proposals import find_cases, wrong_values
from tasks.coding.snapshot import State
from tasks.coding.tester import Tester
from tasks.coding.words import identifier


class WriteTester(Tester):
    """Expects what the interpreter computes, and that a refusal changes nothing."""

    def _properties(self) -> None:
        action = next((action for action in self.database.actions if action.name == self.tool.action), None)
        if action is None:
            return
        names = by_parameter(self.tool)
        cases = find_cases(self.database, action, self.state, self.rng, edges=True)
        for arguments, outcome in cases.successes:
            self._expect_outcome("leaves_what_the_rules_say", "property", action, arguments, outcome, names)
        for arguments, outcome in cases.boundaries[:12]:
            self._expect_outcome("at_the_edge", "boundary", action, arguments, outcome, names)
        for code, (arguments, outcome) in sorted(cases.refusals.items()):
            self._expect_outcome(f"refuses_{code.lower()}", "refusal", action, arguments, outcome, names)
        for arguments in self.witness.arguments.get(action.name, []):
            state = self.witness.state
            outcome = perform(self.database, action, state, arguments, self.database.start_time)
            self._expect_outcome("in_another_state", "property", action, arguments, outcome, names, state=state)
        for given, _ in cases.successes[:1]:
            for arguments in wrong_values(self.database, action, self.state, given):
                outcome = perform(self.database, action, self.state, arguments, self.database.start_time)
                self._expect_outcome("judges_a_wrong_value", "refusal", action, arguments, outcome, names)
        if cases.successes:
            self._optional_left_out(action, cases.successes[0][0], names)
            self._after_itself(action, *cases.successes[0], names)
        if action.kind == "transition":
            self._after_create(action, names)

    def _optional_left_out(self, action: Action, arguments: dict[str, Any], names: dict[str, str]) -> None:
        optional = [name for name in action.parameters if name in arguments and names[name] not in self.required]
        for name in optional[:2]:
            fewer = {key: value for key, value in arguments.items() if key != name}
            outcome = perform(self.database, action, self.state, fewer, self.database.start_time)
            self._expect_outcome(f"without_{names[name]}", "boundary", action, fewer, outcome, names)

    def _after_itself(self, action: Action, arguments: dict[str, Any], outcome: Outcome, names: dict[str, str]) -> None:
        """The same write a second time, judged on the state that the first one leaves."""
        if action.kind == "create":
            return
        later = _applied(self.state, outcome)
        again = perform(self.database, action, later, arguments, self.database.start_time)
        setup = ({"tool": self.tool.name, "arguments": rename(arguments, names)},)
        self._expect_outcome("a_second_time", "property", action, arguments, again, names, setup)

    def _after_create(self, action: Action, names: dict[str, str]) -> None:
        """A transition of a row that was created just before."""
        for tool in self.tools:
            create = next((a for a in self.database.actions if a.name == tool.action and a.kind == "create"), None)
            if create is None or create.table != action.table or action.parameters:
                continue
            if create.initial.get(action.status_column) not in action.from_states:
                continue
            for arguments, created in find_cases(self.database, create, self.state, self.rng, 1).successes:
                later = _applied(self.state, created)
                key = self._table.key
                outcome = perform(self.database, action, later, {key: MINTED}, self.database.start_time)
                setup = ({"tool": tool.name, "arguments": rename(arguments, by_parameter(tool))},)
                reference = {key: {"$ref": f"0.{key}"}}
                self._expect_outcome("of_a_new_row", "property", action, reference, outcome, names, setup)

    def _expect_outcome(self, name: str, kind: str, action: Action, arguments: dict[str, Any], outcome: Outcome,
                        names: dict[str, str], setup: tuple[dict[str, Any], ...] = (),
                        state: State | None = None) -> None:  # fmt: skip
        statements = self.witness.statements if state is not None else ()
        given = rename(arguments, names)
        if self._outside_schema(given):
            outcome = Outcome("INVALID_ARGUMENTS")
        if outcome.code:
            kind = "refusal" if kind == "property" else kind
            self._add(name, kind, given, error=outcome.code, unchanged=True, setup=setup, state=statements)
            return
        shown = {field.path for field in self.tool.outputs}
        seen = {column: value for column, value in outcome.row.items() if value != MINTED and column in shown}
        sql = []
        for (table, key), row in outcome.rows.items():
            if key == MINTED:
                continue
            where = f"{identifier(self.database.table(table).key)} = {_literal(key)}"
            before = (state or self.state)[table].get(key, {})
            for column, value in row.items():
                if setup or before.get(column) != value or (table, key) == outcome.own:
                    sql.append((f"SELECT {identifier(column)} FROM {identifier(table)} WHERE {where}", value))
        self._add(name, kind, given, observation=seen, sql=tuple(sql), setup=setup, state=statements)

    def _outside_schema(self, arguments: dict[str, Any]) -> bool:
        if self.required - arguments.keys():
            return True
        for name, value in arguments.items():
            schema = self.tool.parameters["properties"].get(name, {})
            if "enum" in schema and value not in schema["enum"]:
                return True
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if value < schema.get("minimum", value) or value > schema.get("maximum", value):
                return True
        return False


def _applied(state: State, outcome: Outcome) -> State:
    """Return the state after an outcome; only the tables that changed are copied."""
    later = dict(state)
    for (table, key), row in outcome.rows.items():
        if later[table] is state[table]:
            later[table] = dict(state[table])
        later[table][key] = row
    return later


def _literal(key: Any) -> str:
    return "'" + key.replace("'", "''") + "'" if isinstance(key, str) else repr(key)
