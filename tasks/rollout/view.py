"""What a policy sees and what it may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from schemas.episode import Step
from schemas.task import AgentTask, AnswerField, Call
from schemas.tool import Tool
from tasks.dialogue import ASK_USER, DESCRIPTION, PARAMETERS


@dataclass(frozen=True)
class ToolSignature:
    """A tool as a policy sees it: nothing of its code or of its effects.

    `parameters` is the JSON Schema of its arguments, `kind` is a `ToolKind` ('' if unknown).
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: str = ""

    @classmethod
    def of(cls, tool: Tool) -> ToolSignature:
        """Return the signature of a tool."""
        return cls(tool.name, tool.description, tool.parameters, tool.kind)


@dataclass(frozen=True)
class View:
    """What a policy sees at one decision: never the state, the oracle or the verifier's expectations."""

    prompt: str
    tools: tuple[ToolSignature, ...]
    answer: tuple[AnswerField, ...]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The decision to end the episode with this answer."""

    value: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Policy(Protocol):
    """Whatever acts: a trained model, an endpoint, a script."""

    policy_id: str

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return one decision for each view; `seeds` are the episodes' seeds, for policies that sample."""
        ...


ASK_SIGNATURE = ToolSignature(ASK_USER, DESCRIPTION, PARAMETERS, "user")
"""How a policy sees that it may ask the user; only tasks that have one show it."""


def first_view(task: AgentTask, tools: Sequence[ToolSignature]) -> View:
    """Return the view at the start of a task, with the tools that the task allows in the task's order, then asking.

    Raises:
        ValueError: if a tool that the task names is not among `tools`.
    """
    known = {tool.name: tool for tool in tools}
    missing = [name for name in task.tools if name not in known]
    if missing:
        raise ValueError(f"task {task.task_id!r} allows tools that its environment lacks: {missing}")
    asking = (ASK_SIGNATURE,) if task.user is not None else ()
    return View(task.prompt, (*(known[name] for name in task.tools), *asking), task.verifier.answer)
