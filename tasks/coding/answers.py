"""What a model answers as coder and as tester: the JSON objects of its steps, as the prompts describe them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Scalar

JsonType = Literal["string", "integer", "number", "boolean", "array", "object"]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PlannedParameter(_Answer):
    """One parameter of a planned tool; it becomes a property of the tool's JSON Schema."""

    name: str
    type: JsonType
    description: str
    required: bool = True
    enum: list[str | int | float] = []
    minimum: int | float | None = None
    maximum: int | float | None = None
    default: Any = None


class PlannedOutput(_Answer):
    """One place in a planned tool's answer: "total", "orders", "orders[].order_id"."""

    path: str
    type: JsonType
    description: str


class PlannedRefusal(_Answer):
    """When a planned tool refuses; a business rule cites the sentence of the document that states it."""

    code: str
    when: str
    document: str = ""
    quote: str = ""


class PlannedRule(_Answer):
    """A guard of a planned action, as `schemas.database.Rule`; its words are those of the refusal with its code."""

    path: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in"]
    value: Scalar | list[Scalar]
    code: str


class PlannedEffect(_Answer):
    """A change that a planned action makes, as `schemas.database.Effect`."""

    path: str
    operation: Literal["set", "add"]
    value: Scalar


class PlannedAction(_Answer):
    """What a writing tool does, as `schemas.database.Action`, so that tasks can be made with it and checked."""

    verb: str
    kind: Literal["create", "transition", "update"]
    table: str
    parameters: list[str] = []
    initial: dict[str, Scalar] = {}
    status_column: str = ""
    from_states: list[str] = []
    to_state: str = ""
    rules: list[PlannedRule] = []
    effects: list[PlannedEffect] = []


class PlannedTool(_Answer):
    """One tool that the coder wants to write."""

    name: str
    purpose: str
    kind: Literal["read", "write"]
    parameters: list[PlannedParameter] = []
    returns: list[PlannedOutput]
    refusals: list[PlannedRefusal] = []
    reads: list[str] = []
    writes: list[str] = []
    action: PlannedAction | None = None


class ToolPlans(_Answer):
    """The coder's first answer: which tools it wants to write."""

    tools: list[PlannedTool]


class Expected(_Answer):
    """What stands at a path of the answer: a value, or what a query over the initial state gives."""

    path: str
    value: Any = None
    sql: str = ""


class After(_Answer):
    """What a query over the final state gives: a value, or what another query over the initial state gives."""

    query: str
    value: Any = None
    sql: str = ""


class SetupCall(_Answer):
    """A call before the tested one."""

    tool: str
    arguments: dict[str, Any] = {}


class WrittenTest(_Answer):
    """One unit test of a tool, by either hand."""

    name: str
    kind: Literal["normal", "boundary", "refusal"]
    setup: list[SetupCall] = []
    arguments: dict[str, Any] = {}
    expect: list[Expected] = []
    after: list[After] = []
    error: str = ""


class WrittenTool(_Answer):
    """The coder's second answer: a tool's module and the coder's own tests of it.

    `returns` is empty unless the answer mends a tool whose planned places were wrong: these take their place then.
    """

    source_code: str
    reads: list[str] = []
    writes: list[str] = []
    returns: list[PlannedOutput] = []
    tests: list[WrittenTest]


class WrittenTests(_Answer):
    """The tester's answer: its tests of a tool whose code it has not seen."""

    tests: list[WrittenTest]


class ReviewedTest(_Answer):
    """The tester's word on one failing test of its own: it stands, is corrected, or is withdrawn."""

    name: str
    verdict: Literal["keep", "correct", "withdraw"]
    reason: str
    corrected: WrittenTest | None = None


class Review(_Answer):
    """The tester's answer to a disagreement."""

    tests: list[ReviewedTest] = Field(min_length=1)
