"""What all of the tester's tests have in common, and the refusals that a tool's schema itself promises."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.database import Column, Database, Table
from schemas.tool import Tool, ToolField, ToolTest
from tasks.coding.snapshot import State
from tasks.coding.witness import Witness

Row = dict[str, Any]


@dataclass(frozen=True)
class Knowledge:
    """What the tester knows of an environment: declarations and state, but no source."""

    database: Database
    state: State
    documents: list[Row]
    tools: Sequence[Tool]
    witness: Witness


class Tester(ABC):
    """Writes the tests of one tool."""

    def __init__(self, known: Knowledge, tool: Tool, rng: random.Random) -> None:
        self.database, self.state, self.documents = known.database, known.state, known.documents
        self.tools, self.witness = known.tools, known.witness
        self.tool, self.rng = tool, rng
        self.tests: list[ToolTest] = []
        self.required = set(tool.parameters.get("required", []))

    def write(self) -> list[ToolTest]:
        """Return the tests."""
        self._properties()
        self._schema_refusals()
        return self.tests

    @abstractmethod
    def _properties(self) -> None:
        """Add the tests of what the tool does."""

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
