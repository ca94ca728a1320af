"""What is served: an environment, and perhaps one of its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.database import Database
from schemas.task import AgentTask
from schemas.tool import Tool
from tasks.dialogue import ASK_USER, DESCRIPTION, PARAMETERS
from tasks.environment import EnvironmentImage


@dataclass(frozen=True)
class Served:
    """An environment as clients see it, and the task that is judged, if there is one.

    Attributes:
        image: what the sandbox runs.
        database: its schema, actions and documents.
        tools: the tools that a client sees; with a task, those that the task allows, and asking its user if it has one.
        task: the task whose prompt is offered and that scoring judges.
    """

    image: EnvironmentImage
    database: Database
    tools: tuple[Tool, ...]
    task: AgentTask | None = None

    @classmethod
    def of(cls, database: Database, tools: Sequence[Tool], snapshot: bytes, task: AgentTask | None = None) -> Served:
        """Return an environment to serve.

        Raises:
            ValueError: if the task is another environment's, or allows a tool that this one lacks.
        """
        offered = tuple(tools)
        if task is not None:
            known = {tool.name: tool for tool in tools}
            missing = [name for name in task.tools if name not in known]
            if task.env_id != database.env_id:
                raise ValueError(f"task {task.task_id!r} belongs to {task.env_id!r}, not to {database.env_id!r}")
            if missing:
                raise ValueError(f"task {task.task_id!r} allows tools that its environment lacks: {missing}")
            offered = tuple(known[name] for name in task.tools)
            offered += (_asking(database.env_id),) if task.user is not None else ()
        return cls(EnvironmentImage.of(database, tools, snapshot), database, offered, task)


def _asking(env_id: str) -> Tool:
    """Return how a client sees that it may ask the task's user; no sandbox runs it."""
    return Tool(
        env_id=env_id, name=ASK_USER, kind="get", description=DESCRIPTION, parameters=PARAMETERS, source_code="",
    )  # fmt: skip
