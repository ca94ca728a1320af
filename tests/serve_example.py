"""A shop with a task, to serve: the task cancels a pending order and asks how many units go back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worlds import shop_database, shop_snapshot, shop_tools

from schemas.environment import Environment
from schemas.task import AgentTask, AnswerField, Call, Oracle, Verifier
from schemas.tool import Tool
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker
from tasks.serve import Served
from tasks.store import commit_environment, open_store, write_dataset

TOKEN = "a-token-that-only-the-operator-has"
DATABASE, SNAPSHOT, TOOLS = shop_database(), shop_snapshot(), shop_tools()
SLOW = TOOLS[0].model_copy(
    update={
        "name": "wait_forever",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
        "source_code": "def wait_forever(ctx) -> dict:\n    while True:\n        pass\n",
    }
)


def shop_task() -> AgentTask:
    """Return the task, made by running its oracle."""
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(DATABASE, TOOLS, SNAPSHOT))
        with worker.episode() as episode:
            order = episode.call("list_orders", {"status": "pending"})["orders"][0]
            call = Call(tool="cancel_order", arguments={"order_id": order["order_id"]})
            episode.run([call])
            changes = episode.changes()
    answer = {"units": order["quantity"]}
    return AgentTask(
        task_id="task-cancel-one",
        env_id=DATABASE.env_id,
        kind="graph",
        prompt="Cancel the first pending order. How many units go back to stock?",
        tools=("list_orders", "cancel_order", "place_order"),
        oracle=Oracle(calls=(call,), answer=answer),
        oracle_calls=1,
        expected_answer=answer,
        verifier=Verifier(
            answer=(AnswerField(name="units", type="integer"),), expected_answer=answer, expected_changes=changes
        ),
        writes=True,
    )


def shop_served(task: AgentTask | None = None, more: tuple[Tool, ...] = ()) -> Served:
    """Return the shop as it is served, with further tools."""
    return Served.of(DATABASE, (*TOOLS, *more), SNAPSHOT, task)


def oracle_of(task: AgentTask) -> tuple[str, dict[str, Any]]:
    """Return the one call of the task's oracle."""
    return task.oracle.calls[0].tool, dict(task.oracle.calls[0].arguments)


def fill_store(folder: Path, task: AgentTask) -> Path:
    """Write the shop and its task into a new store."""
    store = open_store(str(folder))
    row = Environment(env_id=DATABASE.env_id, theme_id=DATABASE.theme_id, name=DATABASE.name, state="accepted")
    commit_environment(store, row, DATABASE, SNAPSHOT, TOOLS, [], [], [])
    write_dataset(store, "agent_tasks", f"train/{DATABASE.env_id}", [task])
    return folder
