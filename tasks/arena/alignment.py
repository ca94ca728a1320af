"""What the oracle needed against what an episode did, call by call."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.episode import Step
from schemas.task import AgentTask, Call
from tasks.environment import resolve_references


@dataclass(frozen=True)
class Alignment:
    """An episode's calls beside the oracle's.

    missing: names of needed tools that were called too few times, with repeats.
    outside: names of called tools that the oracle has no use for.
    misused: names of needed tools whose call differs from the oracle's, or never succeeded.
    """

    missing: tuple[str, ...]
    outside: tuple[str, ...]
    misused: tuple[str, ...]


def align(task: AgentTask, steps: Sequence[Step]) -> Alignment:
    """Lay an episode's steps beside its task's oracle.

    A chain of calls is matched in order: for each oracle call the first unused step of the same tool with the same
    arguments, else the first unused step of the same tool, which then counts as misused. References resolve against
    the matched steps, as the oracle's own observations are not kept with the task. Of a script only the names of its
    tools are known: those outside a branch are needed once, those inside are allowed.
    """
    if task.oracle.calls:
        return _align_chain(task.oracle.calls, steps)
    needed, allowed = script_tools(task.oracle.script)
    called = Counter(step.tool for step in steps)
    succeeded = {step.tool for step in steps if not refused(step)}
    return Alignment(
        missing=tuple(sorted(needed - called.keys())),
        outside=tuple(sorted(called.keys() - allowed)),
        misused=tuple(sorted((needed & called.keys()) - succeeded)),
    )


def script_tools(script: str) -> tuple[set[str], set[str]]:
    """Return the tools that an oracle script calls by name: (outside any branch, anywhere)."""
    needed: set[str] = set()
    allowed: set[str] = set()

    def visit(node: ast.AST, branch: bool) -> None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "call" and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                allowed.add(name.value)
                if not branch:
                    needed.add(name.value)
        for field, value in ast.iter_fields(node):
            inside = branch or (isinstance(node, ast.If | ast.IfExp) and field != "test")
            inside = inside or isinstance(node, ast.ExceptHandler)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, inside)

    visit(ast.parse(script), False)
    return needed, allowed


def refused(step: Step) -> bool:
    """Say whether a call came back as an error: a refusal, bad arguments or a crash."""
    return isinstance(step.observation.get("error"), dict)


def _align_chain(calls: Sequence[Call], steps: Sequence[Step]) -> Alignment:
    unused = list(range(len(steps)))
    observations: list[dict[str, Any] | None] = []
    missing: list[str] = []
    misused: list[str] = []
    for call in calls:
        same_tool = [i for i in unused if steps[i].tool == call.tool]
        wanted = _resolve(call.arguments, observations)
        exact = [i for i in same_tool if wanted is None or steps[i].arguments == wanted]
        if not same_tool:
            missing.append(call.tool)
            observations.append(None)
            continue
        chosen = (exact or same_tool)[0]
        unused.remove(chosen)
        if not exact:
            misused.append(call.tool)
        observations.append(steps[chosen].observation)
    known = {call.tool for call in calls}
    outside = {step.tool for step in steps} - known
    return Alignment(tuple(missing), tuple(sorted(outside)), tuple(misused))


def _resolve(arguments: dict[str, Any], observations: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Fill references in; None if what they point to was never observed (then any argument may be meant)."""
    try:
        return resolve_references(arguments, observations)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
