"""Training examples: oracle episodes as a policy would have seen them, as JSON lines beside their tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.base import Record, canonical_json
from schemas.episode import Step, Trajectory
from schemas.task import AgentTask, AnswerField
from schemas.tool import Tool
from tasks.rollout import ASK_SIGNATURE, ToolSignature
from tasks.training.order import in_order_of_mention

EXAMPLES = "examples.jsonl"
TOOLS = "tools.json"


class Example(Record):
    """One episode to imitate: what was seen, what was done, what was answered."""

    task_id: str
    env_id: str
    family: str
    prompt: str
    tools: tuple[str, ...]
    fields: tuple[AnswerField, ...]
    steps: tuple[Step, ...]
    answer: dict[str, Any]


class Signature(Record):
    """What a policy sees of a tool."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: str


@dataclass(frozen=True)
class ExampleCounts:
    """How many examples were written, and how many pairs were left out because their episode had failed."""

    written: int
    failed: int


def prepare_sft(
    pairs: Iterable[tuple[AgentTask, Trajectory]],
    tools: Mapping[str, Sequence[Tool]],
    workdir: Path,
    families: Mapping[str, str] | None = None,
) -> ExampleCounts:
    """Write the examples of a training's folder from tasks and their successful trajectories.

    `tools` are each environment's; `families` name what environments that differ by seed only share (default: each
    its own). The files are replaced whole.

    Raises:
        ValueError: if a task's environment or one of its tools is not in `tools`.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    families = families or {}
    lines, failed, used = [], 0, set()
    for task, trajectory in pairs:
        if not trajectory.success or trajectory.answer is None:
            failed += 1
            continue
        used.add(task.env_id)
        known = {tool.name: tool for tool in tools.get(task.env_id, ())}
        if unknown := [name for name in task.tools if name not in known]:
            raise ValueError(f"task {task.task_id} of {task.env_id}: no tools {unknown} among those given; pass them")
        steps = trajectory.steps
        if task.kind == "graph":
            steps = in_order_of_mention(task.prompt, steps, known)
        lines.append(
            canonical_json(
                Example(
                    task_id=task.task_id,
                    env_id=task.env_id,
                    family=families.get(task.env_id, task.env_id),
                    prompt=task.prompt,
                    tools=(*task.tools, *([ASK_SIGNATURE.name] if task.user is not None else [])),
                    fields=task.verifier.answer,
                    steps=steps,
                    answer=trajectory.answer,
                )
            )
        )
    save_tools({env_id: tools[env_id] for env_id in used}, workdir)
    write_whole(workdir / EXAMPLES, "".join(line + "\n" for line in lines).encode())
    return ExampleCounts(len(lines), failed)


def save_tools(tools: Mapping[str, Sequence[Tool]], workdir: Path) -> None:
    """Write what a policy sees of each environment's tools."""
    seen = {
        env: [_signature(tool).model_dump(mode="json") for tool in (*group, ASK_SIGNATURE)]
        for env, group in sorted(tools.items())
    }
    write_whole(workdir / TOOLS, canonical_json(seen).encode())


def read_examples(workdir: Path) -> Iterator[Example]:
    """Yield the examples of a training's folder.

    Raises:
        FileNotFoundError: if none were prepared.
    """
    with (workdir / EXAMPLES).open(encoding="utf-8") as file:
        for line in file:
            yield Example.model_validate_json(line)


def read_tools(workdir: Path) -> dict[str, dict[str, Signature]]:
    """Return the signatures of each environment's tools by name."""
    found = json.loads((workdir / TOOLS).read_bytes())
    return {env: {tool["name"]: Signature(**tool) for tool in tools} for env, tools in found.items()}


def _signature(tool: Tool | ToolSignature) -> Signature:
    return Signature(name=tool.name, description=tool.description, parameters=tool.parameters, kind=tool.kind)


def write_whole(path: Path, raw: bytes) -> None:
    """Write a file so that a reader, or a kill, meets the old content or the new, never a part."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(raw)
    part.replace(path)
