"""Measure the environment engine on this machine, with an environment and a task of the store."""

from __future__ import annotations

from typing import Any

from flows.errors import Refused
from flows.report import machine, released_tasks
from tasks.environment import EnvironmentImage
from tasks.sandbox.benchmark import measure
from tasks.store import load_environment, open_store

CALLS = 8
"""The oracle that is measured makes about so many calls."""


def measure_engine(store: str, seconds: float = 2.0) -> dict[str, Any]:
    """Return the engine's figures by name, with the machine, the environment and the task that they were taken on.

    Raises:
        Refused: if the store holds no graph task.
    """
    objects = open_store(store)
    chains = [task for task in released_tasks(objects.uri) if task.oracle.calls]
    if not chains:
        raise Refused(f"no tasks in {objects.uri} to measure with: run `agentworld run` or `synthesize` first")
    task = min(chains, key=lambda t: (abs(t.oracle_calls - CALLS), not t.writes, t.task_id))
    world = load_environment(objects, task.env_id)
    figures = measure(EnvironmentImage.of(world.database, world.tools, world.snapshot), task.oracle.calls, seconds)
    return {
        "machine": machine(),
        "environment": task.env_id,
        "snapshot_kb": round(len(world.snapshot) / 1024),
        "task": task.task_id,
        "oracle_calls": task.oracle_calls,
        **{name: round(value, 3) if value < 10 else round(value) for name, value in figures.items()},
    }
