"""The coder's own tests: what whoever wrote a tool would try first, with expected values computed by SQL."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from schemas.database import Action, Database, Table
from schemas.tool import Tool, ToolField, ToolTest
from tasks.coding.proposals import find_cases, unknown_key
from tasks.coding.signature import DEFAULT_LIMIT
from tasks.coding.snapshot import Reader, State
from tasks.coding.words import identifier


def write_examples(database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int) -> list[ToolTest]:
    """Return normal, boundary and refusal examples for each tool.

    Expected values come from SQL over the snapshot; of a write they are what the action's declaration says outright
    (the new state, the values that were given).

    Raises:
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    with Reader(snapshot) as reader:
        state = reader.state(database)
        tests: list[ToolTest] = []
        for tool in tools:
            tests += _Examples(database, reader, state, tool, random.Random(f"{seed}-{tool.name}")).write()
        return tests


class _Examples:
    def __init__(self, database: Database, reader: Reader, state: State, tool: Tool, rng: random.Random) -> None:
        self.database, self.reader, self.state, self.tool, self.rng = database, reader, state, tool, rng
        self.tests: list[ToolTest] = []

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
        return self.tests

    def _add(self, name: str, kind: str, arguments: dict[str, Any], **expected: Any) -> None:
        self.tests.append(
            ToolTest(
                env_id=self.tool.env_id, tool=self.tool.name, name=name, kind=kind, author="coder",
                arguments=arguments, **expected,
            )
        )  # fmt: skip

    def _input(self, meaning: str, required: bool | None = None) -> list[ToolField]:
        wanted = self.tool.parameters.get("required", [])
        return [
            field
            for field in self.tool.inputs
            if field.meaning == meaning and (required is None or (field.path in wanted) == required)
        ]

    @property
    def _table(self) -> Table:
        return self.database.table(self.tool.table)

    def _get(self) -> None:
        table, (parameter, *_) = self._table, [field.path for field in self.tool.inputs]
        sql = f"SELECT * FROM {identifier(table.name)} ORDER BY {identifier(table.key)} LIMIT 1"
        for row in self.reader.rows(sql):
            self._add("returns_the_first_row", "normal", {parameter: row[table.key]}, observation=row, unchanged=True)
        unknown = unknown_key(table, self.state)
        self._add("refuses_an_unknown_key", "refusal", {parameter: unknown}, error="NOT_FOUND", unchanged=True)

    def _search(self) -> None:
        table = self._table
        base, where, values = self._parent()
        if None in base.values():
            return
        self._expect_rows("returns_all_by_default", "normal", base, where, values)
        self._expect_rows("stops_at_the_limit", "boundary", {**base, "limit": 1}, where, values, limit=1)
        for field in self._input("equals", required=False)[:2]:
            column = field.of.split(".")[1]
            found = self.reader.value(
                f"SELECT {identifier(column)} FROM {identifier(table.name)} WHERE {identifier(column)} IS NOT NULL "
                f"ORDER BY {identifier(table.key)} DESC LIMIT 1"
            )
            if found is not None:
                value = bool(found) if field.type == "boolean" else found
                clause = f"{where} AND {identifier(column)} = ?"
                self._expect_rows(f"filters_by_{field.path}", "normal", {**base, field.path: value}, clause,
                                  [*values, found])  # fmt: skip
        for field in self._input("contains")[:1]:
            arguments = {**base, field.path: "zzqx-nothing-like-it"}
            self._expect_rows("finds_nothing", "boundary", arguments, f"{where} AND 0", values)
        if self.tool.kind == "list":
            self._refuse_unknown_parent(base)

    def _parent(self) -> tuple[dict[str, Any], str, list[Any]]:
        """Return the required arguments of a list (a parent with children) and their condition."""
        arguments, where, values = {}, "1", []
        for field in self._input("equals", required=True):
            column = identifier(field.of.split(".")[1])
            value = self.reader.value(
                f"SELECT {column} FROM {identifier(self._table.name)} WHERE {column} IS NOT NULL GROUP BY {column} "
                f"ORDER BY COUNT(*) DESC, {column} LIMIT 1"
            )
            arguments[field.path] = value
            where, values = f"{where} AND {column} = ?", [*values, value]
        return arguments, where, values

    def _refuse_unknown_parent(self, base: dict[str, Any]) -> None:
        for field in self._input("equals", required=True):
            parent = self.database.table(field.entity.split(".")[0])
            arguments = {**base, field.path: unknown_key(parent, self.state)}
            self._add("refuses_an_unknown_parent", "refusal", arguments, error="NOT_FOUND", unchanged=True)

    def _expect_rows(self, name: str, kind: str, arguments: dict[str, Any], where: str, values: list[Any],
                     limit: int = DEFAULT_LIMIT) -> None:  # fmt: skip
        table, key = identifier(self._table.name), identifier(self._table.key)
        keys = self.reader.column(f"SELECT {key} FROM {table} WHERE {where} ORDER BY {key} LIMIT {limit}", values)
        total = self.reader.value(f"SELECT COUNT(*) FROM {table} WHERE {where}", values)
        expected = {"total": total, f"{self.tool.table}[].{self._table.key}": keys}
        self._add(name, kind, arguments, observation=expected, unchanged=True)

    def _aggregate(self) -> None:
        table = identifier(self._table.name)
        (output,) = [field for field in self.tool.outputs if field.path == "value"][:1] or [None]
        if output is None or not output.meaning:
            return
        column = identifier(output.of.split(".")[1]) if "." in output.of else "*"
        function = {"count": "COUNT", "sum": "TOTAL", "average": "AVG", "minimum": "MIN", "maximum": "MAX"}
        value = f"{function[output.meaning]}({column})"
        self._add("takes_all_rows", "normal", {}, observation={"value": self._statistic(value, table)}, unchanged=True)
        for field in self._input("equals")[:1]:
            name = identifier(field.of.split(".")[1])
            found = self.reader.value(f"SELECT MAX({name}) FROM {table}")
            if found is not None:
                given = bool(found) if field.type == "boolean" else found
                expected = self._statistic(value, f"{table} WHERE {name} = ?", [found])
                self._add(f"filters_by_{field.path}", "normal", {field.path: given}, observation={"value": expected},
                          unchanged=True)  # fmt: skip
        for field in self._input("group_by"):
            group = self.tool.parameters["properties"][field.path]["enum"][0]
            name = identifier(group)
            sql = f"SELECT {name} AS k, ROUND({value}, 6) AS v FROM {table} GROUP BY {name} ORDER BY {name}"
            rows = self.reader.rows(sql)
            expected = {f"groups[].{group}": [row["k"] for row in rows], "groups[].value": [row["v"] for row in rows]}
            self._add(f"groups_by_{group}", "normal", {field.path: group}, observation=expected, unchanged=True)

    def _statistic(self, value: str, source: str, values: Sequence[Any] = ()) -> Any:
        return self.reader.value(f"SELECT ROUND({value}, 6) FROM {source}", values)

    def _document(self) -> None:
        documents = self.reader.rows("SELECT name, title, media_type, content FROM documents ORDER BY name")
        if not self.tool.inputs:
            names = [document["name"] for document in documents]
            self._add("lists_all", "normal", {}, observation={"documents[].name": names}, unchanged=True)
        for field in self._input("equals"):
            for document in documents[:1]:
                arguments = {field.path: document["name"]}
                self._add("reads_the_first", "normal", arguments, observation=document, unchanged=True)
            unknown = {field.path: "no-such-document"}
            self._add("refuses_an_unknown_name", "refusal", unknown, error="NOT_FOUND", unchanged=True)
        for field in self._input("contains"):
            word = documents[-1]["title"]
            clause = "instr(lower(title || ' ' || content), lower(?)) > 0"
            names = self.reader.column(f"SELECT name FROM documents WHERE {clause} ORDER BY name", [word])
            expected = {"total": len(names), "documents[].name": names[:10]}
            self._add("finds_a_title", "normal", {field.path: word}, observation=expected, unchanged=True)
            nothing = {field.path: "zzqx-nothing-like-it"}
            self._add("finds_nothing", "boundary", nothing, observation={"total": 0, "documents": []}, unchanged=True)

    def _action(self) -> None:
        action = next(action for action in self.database.actions if action.name == self.tool.action)
        table = self.database.table(action.table)
        cases = find_cases(self.database, action, self.state, self.rng, successes=1)
        names = by_parameter(self.tool)
        for arguments, _ in cases.successes:
            self._success(action, table, arguments, names)
            if action.kind != "create":
                unknown = {**arguments, table.key: unknown_key(table, self.state)}
                self._add("refuses_an_unknown_key", "refusal", rename(unknown, names), error="NOT_FOUND",
                          unchanged=True)  # fmt: skip
            for name in action.parameters:
                column = table.column(name)
                if column.references and name in arguments:
                    parent = self.database.table(column.references.split(".")[0])
                    unknown = {**arguments, name: unknown_key(parent, self.state)}
                    self._add(f"refuses_an_unknown_{names[name]}", "refusal", rename(unknown, names),
                              error="NOT_FOUND", unchanged=True)  # fmt: skip
        if action.kind == "transition":
            status = identifier(action.status_column)
            marks = ", ".join("?" for _ in action.from_states)
            key = identifier(table.key)
            sql = f"SELECT {key} FROM {identifier(table.name)} WHERE {status} NOT IN ({marks}) ORDER BY {key} LIMIT 1"
            for key in self.reader.column(sql, action.from_states):
                arguments = {table.key: key, **{n: v for n, v in self._given(cases).items() if n != table.key}}
                self._add("refuses_another_state", "refusal", rename(arguments, names), error="INVALID_STATE",
                          unchanged=True)  # fmt: skip

    @staticmethod
    def _given(cases: Any) -> dict[str, Any]:
        return cases.successes[0][0] if cases.successes else {}

    def _success(self, action: Action, table: Table, arguments: dict[str, Any], names: dict[str, str]) -> None:
        """Expect what the declaration says outright: the state, the values given, one row more."""
        effects = {effect.path for effect in action.effects}
        seen = {name: arguments[name] for name in action.parameters if name in arguments and name not in effects} | (
            {action.status_column: action.to_state} if action.kind == "transition" else {}
        )
        rows = identifier(table.name)
        if action.kind == "create":
            sql = [(f"SELECT COUNT(*) FROM {rows}", self.reader.value(f"SELECT COUNT(*) FROM {rows}") + 1)]
            sql = [] if table.log else sql
        else:
            column = identifier(table.key)
            key = self.reader.value("SELECT quote(?)", [arguments[table.key]])
            sql = [
                (f"SELECT {identifier(name)} FROM {rows} WHERE {column} = {key}", value) for name, value in seen.items()
            ]
        self._add(f"{action.verb or action.kind}s_when_all_holds", "normal", rename(arguments, names),
                  observation=seen, sql=tuple(sql))  # fmt: skip


def by_parameter(tool: Tool) -> dict[str, str]:
    """Return column name -> parameter name of an action's tool."""
    return {field.of.split(".")[1]: field.path for field in tool.inputs if "." in field.of}


def rename(arguments: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return arguments by parameter name instead of by column name."""
    return {names.get(column, column): value for column, value in arguments.items()}
