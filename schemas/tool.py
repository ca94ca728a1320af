"""A tool that an agent may call, and its unit tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from schemas.base import Record

ToolKind = Literal[
    "get", "search", "list", "aggregate", "create", "update", "transition", "document", "read", "write"
]  # fmt: skip
"""What a tool does. "read" and "write" are imported tools whose work is none of the others'."""


Meaning = Literal[
    "",
    "equals",
    "contains",
    "at_least",
    "at_most",
    "new_value",
    "sort_by",
    "descending",
    "limit",
    "group_by",
    "cell",
    "matches",
    "count",
    "sum",
    "average",
    "minimum",
    "maximum",
]


class ToolField(Record):
    """The meaning of one parameter or one output of a tool.

    `path` is the parameter's name, or the place in the observation: "order_id", "orders[].order_id", "total".
    `entity` is the "table.column" whose value stands there ("" for counts, sums and the like).
    `meaning` says what a parameter does (a filter on `entity`: equals, contains, at_least, at_most; a value that is
    written; or a control) and what an output is (a cell of a row; `matches`, the number of matching rows; or a
    statistic). `of` is the "table.column" that is filtered, shown, written or summarised, or the table that is
    counted; it differs from `entity` where that column refers to another table's key.
    """

    path: str
    type: Literal["integer", "number", "string", "boolean", "array", "object"]
    entity: str = ""
    meaning: Meaning = ""
    of: str = ""


class Tool(Record):
    """A typed Python function over the environment context; `source_code` is one module that defines `name`."""

    env_id: str
    name: str
    kind: ToolKind
    description: str
    parameters: dict[str, Any] = Field(description="JSON Schema of the arguments: an object, no extra properties")
    inputs: tuple[ToolField, ...] = ()
    outputs: tuple[ToolField, ...] = ()
    table: str = Field(default="", description="the main table")
    action: str = Field(default="", description="the Action that it performs; '' for reading tools")
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    cites: tuple[str, ...] = Field(default=(), description="its rules with their source: 'CODE: document: sentence'")
    source_code: str
    author: str = Field(default="rules", description="'rules' or the model's id")
    tests_passed: int = 0
    tests_total: int = 0
    mutation_score: float | None = Field(default=None, description="share of mutants killed; None if none was made")
    evidence: tuple[str, ...] = Field(default=(), description="which trust checks held")


class ToolTest(Record):
    """One unit test: `setup` calls, then the tested call, in a fresh episode.

    It passes if every given expectation holds: `error` is the code of the expected refusal; `observation` is a part
    of the expected result (each named path equals); `sql` are queries over the final state with their one value;
    `unchanged` says that the state must equal the one before the tested call.
    """

    env_id: str
    tool: str
    name: str
    kind: Literal["normal", "boundary", "refusal", "property"]
    author: Literal["coder", "tester"]
    state: tuple[str, ...] = ()
    setup: tuple[dict[str, Any], ...] = Field(default=(), description="calls {tool, arguments}")
    arguments: dict[str, Any] = {}
    error: str = ""
    observation: dict[str, Any] = {}
    sql: tuple[tuple[str, Any], ...] = ()
    unchanged: bool = False
    passed: bool | None = None
    message: str = ""
