"""The tester's tests: from a tool's schema, declaration and the state, without a look at its source.

Properties: the same call gives the same answer; a filter returns all rows that match and no other; an order is an
order; a limit cuts; a statistic agrees with one computed in Python; a write leaves exactly what the interpreter of
rules and effects says; a refusal changes nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from schemas.database import Action, Column, Database, Table
from schemas.tool import Tool, ToolField, ToolTest
from tasks.coding.examples import by_parameter, rename
from tasks.coding.interpreter import MINTED, Outcome, perform
from tasks.coding.proposals import find_cases, wrong_values
from tasks.coding.snapshot import Reader, State
from tasks.coding.witness import Witness, find_witness
from tasks.coding.words import identifier

Row = dict[str, Any]
_DEFAULT_LIMIT = 20
_FILTERS = ("equals", "contains", "at_least", "at_most")


def write_properties(database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int) -> list[ToolTest]:
    """Return the tester's tests of all tools.

    Raises:
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    with Reader(snapshot) as reader:
        state = reader.state(database)
        documents = reader.rows("SELECT name, title, media_type, content FROM documents ORDER BY name")
    witness = find_witness(database, snapshot, state, random.Random(f"witness-{seed}"))
    tests: list[ToolTest] = []
    for tool in tools:
        rng = random.Random(f"tester-{seed}-{tool.name}")
        tests += _Tester(database, state, documents, tool, tools, rng, witness).write()
    return tests


class _Tester:
    def __init__(self, database: Database, state: State, documents: list[Row], tool: Tool, tools: Sequence[Tool],
                 rng: random.Random, witness: Witness) -> None:  # fmt: skip
        self.database, self.state, self.documents, self.tool = database, state, documents, tool
        self.witness = witness
        self.tools, self.rng = tools, rng
        self.tests: list[ToolTest] = []
        self.required = set(tool.parameters.get("required", []))

    def write(self) -> list[ToolTest]:
        kind = self.tool.kind
        if kind == "get":
            self._get()
        elif kind in ("search", "list"):
            self._search()
        elif kind == "aggregate":
            self._aggregate()
        elif kind == "document":
            self._document()
        else:
            self._action()
        self._schema_refusals()
        return self.tests

    def _add(self, name: str, kind: str, arguments: dict[str, Any], **expected: Any) -> None:
        name = f"{name}_{sum(test.name.rpartition('_')[0] == name for test in self.tests) + 1}"
        test = ToolTest(
            env_id=self.tool.env_id, tool=self.tool.name, name=name, kind=kind, author="tester",
            arguments=arguments, **expected,
        )  # fmt: skip
        self.tests.append(test)

    def _repeat(self, name: str, arguments: Row, observation: Row, kind: str = "property") -> None:
        """The same call twice: the second answer must be the expected one too, and nothing may have changed."""
        setup = ({"tool": self.tool.name, "arguments": arguments},)
        self._add(name, kind, arguments, observation=observation, unchanged=True, setup=setup)

    @property
    def _rows(self) -> dict[Any, Row]:
        return self.state[self.tool.table]

    @property
    def _table(self) -> Table:
        return self.database.table(self.tool.table)

    def _column(self, field: ToolField) -> Column:
        return self._table.column(field.of.split(".")[1])

    def _get(self) -> None:
        keys = list(self._rows)
        for key in self.rng.sample(keys, min(3, len(keys))):
            self._repeat("same_row_again", {self.tool.inputs[0].path: key}, self._rows[key])

    # Searches and lists

    def _filters(self, required: bool) -> list[ToolField]:
        filters = [field for field in self.tool.inputs if field.meaning in _FILTERS]
        return [field for field in filters if (field.path in self.required) == required]

    def _sample(self, field: ToolField, rows: Sequence[Row]) -> list[Any]:
        """Return a value of a filter's column that rows have, as an argument; of words two, in either case."""
        column = self._column(field)
        values = sorted({row[column.name] for row in rows if row[column.name] is not None})
        if field.meaning == "contains":
            words = {word for value in values for word in re.findall(r"[A-Za-z]{3,}", str(value))}
            picked = self.rng.sample(sorted(words), min(2, len(words)))
            return [word.upper() if place else word for place, word in enumerate(picked)]
        picked = self.rng.sample(values, min(1, len(values)))
        if field.meaning in ("at_least", "at_most"):
            picked = [value[:10] if isinstance(value, str) else value for value in picked]
        return [bool(value) for value in picked] if field.type == "boolean" else picked

    def _matching(self, arguments: dict[str, Any]) -> list[Row]:
        fields = {field.path: field for field in self._filters(True) + self._filters(False)}
        given = [(fields[name], value) for name, value in arguments.items() if name in fields]
        rows = self._rows.values()
        return [row for row in rows if all(_matches(row[self._column(f).name], f.meaning, v) for f, v in given)]

    def _bases(self) -> list[dict[str, Any]]:
        """Return required arguments: none, or parents with many, few and no children."""
        parents = self._filters(True)
        if not parents:
            return [{}]
        (field,) = parents
        name, _, key = field.entity.partition(".")
        column = self._column(field).name
        counts = {row[key]: 0 for row in self.state[name].values()}
        for row in self._rows.values():
            if row[column] in counts:
                counts[row[column]] += 1
        ranked = sorted(counts, key=lambda value: (-counts[value], str(value)))
        if not ranked:
            return []
        return [{field.path: value} for value in dict.fromkeys((ranked[0], ranked[len(ranked) // 2], ranked[-1]))]

    def _search(self) -> None:
        bases = self._bases()
        for base in bases if self._filters(True) else []:
            self._expect_rows("children_all_and_only", base)
        if not bases:
            return
        base = bases[0]
        rows = self._matching(base)
        optional = self._filters(False)
        for field in optional:
            for value in self._sample(field, rows):
                self._expect_rows(f"{field.path}_all_and_only", {**base, field.path: value})
        for pair in self._pairs(optional, rows):
            self._expect_rows("filters_must_all_hold", {**base, **pair})
        self._orders(base)
        self._limits(base, rows)

    def _pairs(self, fields: Sequence[ToolField], rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return arguments for two filters at once, from one row (which matches) and from two (which may not)."""
        pairs: list[dict[str, Any]] = []
        for place, (first, second) in enumerate(zip(fields, fields[1:], strict=False)):
            for other in (False, True) if place < 2 and len(rows) > 1 else (False,):
                picked = self.rng.sample(list(rows), min(1 + other, len(rows)))
                values = [self._sample(first, picked[:1]), self._sample(second, picked[-1:])]
                if all(values):
                    pairs.append({first.path: values[0][0], second.path: values[1][0]})
        return pairs

    def _orders(self, base: dict[str, Any]) -> None:
        for field in self.tool.inputs:
            if field.meaning == "sort_by":
                for place, column in enumerate(self.tool.parameters["properties"][field.path]["enum"]):
                    more = {"descending": True} if place % 2 == 0 else {"descending": False}
                    self._expect_rows("sorted", {**base, field.path: column, **more})
        if any(field.meaning == "descending" for field in self.tool.inputs):
            self._expect_rows("reversed", {**base, "descending": True})

    def _limits(self, base: dict[str, Any], rows: list[Row]) -> None:
        size = next((field.path for field in self.tool.inputs if field.meaning == "limit"), None)
        if size is None:
            return
        highest = self.tool.parameters["properties"][size].get("maximum", 100)
        for limit in {max(1, min(len(rows), highest)), highest}:
            self._expect_rows("limit_cuts", {**base, size: limit}, kind="boundary")

    def _expect_rows(self, name: str, arguments: dict[str, Any], kind: str = "property") -> None:
        key = self._table.key
        rows = self._matching(arguments)
        total = len(rows)
        column = arguments.get("sort_by")
        rows.sort(key=lambda row: row[key], reverse=bool(arguments.get("descending")) and column in (None, key))
        if column not in (None, key):
            present = [row for row in rows if row[column] is not None]
            present.sort(key=lambda row: row[column], reverse=bool(arguments.get("descending")))
            rows = present + [row for row in rows if row[column] is None]
        rows = rows[: arguments.get("limit", _DEFAULT_LIMIT)]
        expected: dict[str, Any] = {"total": total, f"{self.tool.table}[].{key}": [row[key] for row in rows]}
        if rows:
            expected |= {f"{self.tool.table}[0].{name}": value for name, value in rows[0].items()}
        self._repeat(name, arguments, expected, kind)

    # Statistics

    def _aggregate(self) -> None:
        output = next((field for field in self.tool.outputs if field.path == "value" and field.meaning), None)
        if output is None:
            return
        rows = list(self._rows.values())
        arguments: list[dict[str, Any]] = []
        for field in self._filters(False):
            arguments += [{field.path: value} for value in self._sample(field, rows)]
        arguments += self._pairs(self._filters(False), rows)
        ranges = [field for field in self._filters(False) if field.meaning in ("at_least", "at_most")]
        if len(ranges) >= 2 and rows:
            low, high = self._column(ranges[0]).name, ranges[:2]
            values = sorted(row[low] for row in rows if row[low] is not None)
            if values:
                none = {high[0].path: values[-1], high[1].path: values[0]}
                arguments.append({k: v[:10] if isinstance(v, str) else v for k, v in none.items()})
        for given in arguments:
            value = _statistic(self._matching(given), output)
            self._repeat("agrees_with_the_rows", given, {"value": value})
        for field in self.tool.inputs:
            if field.meaning == "group_by":
                for column in self.tool.parameters["properties"][field.path]["enum"]:
                    for given in arguments[-1:] or [{}]:
                        self._expect_groups(field, column, given, output)

    def _expect_groups(self, field: ToolField, column: str, given: dict[str, Any], output: ToolField) -> None:
        groups: dict[Any, list[Row]] = {}
        for row in self._matching(given):
            groups.setdefault(row[column], []).append(row)
        names = sorted(groups, key=lambda value: (value is not None, value if value is not None else 0))
        expected = {
            f"groups[].{column}": names,
            "groups[].value": [_statistic(groups[name], output) for name in names],
        }
        self._repeat(f"groups_by_{column}", {**given, field.path: column}, expected)

    def _document(self) -> None:
        if not self.tool.inputs:
            expected = {"documents": [{"name": d["name"], "title": d["title"]} for d in self.documents]}
            self._repeat("lists_all_again", {}, expected)
        for field in self.tool.inputs:
            if field.meaning == "equals":
                for document in self.rng.sample(self.documents, min(3, len(self.documents))):
                    self._repeat("same_document_again", {field.path: document["name"]}, document)
            if field.meaning == "contains":
                self._document_search(field)

    def _document_search(self, field: ToolField) -> None:
        texts = {d["name"]: f"{d['title']} {d['content']}" for d in self.documents}
        words = sorted({word for text in texts.values() for word in re.findall(r"[A-Za-z]{4,12}", text[:4000])})
        for place, word in enumerate(self.rng.sample(words, min(3, len(words)))):
            given = word.upper() if place else word
            names = [name for name, text in texts.items() if word.lower() in text.lower()]
            expected = {"total": len(names), "documents[].name": names[:10]}
            self._repeat("words_all_and_only", {field.path: given}, expected)
        expected = {"total": len(texts), "documents[].name": list(texts)[:1]}
        if all("e" in text.lower() for text in texts.values()):
            self._repeat("limit_cuts", {field.path: "e", "limit": 1}, expected, "boundary")

    # Writes

    def _action(self) -> None:
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
        seen = {column: value for column, value in outcome.row.items() if value != MINTED}
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

    # What the schema itself refuses

    def _schema_refusals(self) -> None:
        properties = self.tool.parameters["properties"]
        if self.required:
            self._add("refuses_missing_arguments", "refusal", {}, error="INVALID_ARGUMENTS", unchanged=True)
        self._refuse_extra()
        for name, schema in properties.items():
            if "enum" in schema and self.tool.kind in ("search", "aggregate"):
                wrong = {name: "no such choice"}
                self._add("refuses_another_choice", "refusal", wrong, error="INVALID_ARGUMENTS", unchanged=True)
                break
        for field in self.tool.inputs:
            dated = field.meaning in ("at_least", "at_most") and "YYYY-MM-DD" in properties[field.path]["description"]
            if dated and self.tool.kind in ("search", "aggregate"):
                wrong = {field.path: "next Friday"}
                self._add("refuses_what_is_no_date", "refusal", wrong, error="INVALID_DATE", unchanged=True)

    def _refuse_extra(self) -> None:
        extra = {"no_such_parameter": 1}
        self._add("refuses_extra_arguments", "refusal", extra, error="INVALID_ARGUMENTS", unchanged=True)


def _matches(cell: Any, meaning: str, value: Any) -> bool:
    if cell is None:
        return False
    if meaning == "contains":
        return str(value).lower() in str(cell).lower()
    if meaning == "equals":
        return cell == value
    if isinstance(cell, str):
        cell, value = cell[:10], value[:10]
    compare: Callable[[Any, Any], bool] = (lambda a, b: a >= b) if meaning == "at_least" else (lambda a, b: a <= b)
    return compare(cell, value)


def _statistic(rows: Sequence[Row], output: ToolField) -> Any:
    if output.meaning == "count":
        return len(rows)
    column = output.of.split(".")[1]
    values = [row[column] for row in rows if row[column] is not None]
    if output.meaning == "sum":
        return round(sum(values), 6)
    if not values:
        return None
    if output.meaning == "average":
        return round(sum(values) / len(values), 6)
    return min(values) if output.meaning == "minimum" else max(values)


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
