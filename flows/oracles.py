"""Oracle trajectories of stored tasks: what SFT imitates of verified tasks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flows.console import bar
from flows.runtime import compute, workers
from flows.worlds import load_or_reject
from schemas.episode import Trajectory
from schemas.task import AgentTask
from schemas.tool import Tool
from tasks.store import list_keys, open_store, read_dataset, write_dataset


def record_oracles(store_uri: str, use: str, env_id: str) -> dict[str, Any]:
    """Execute the oracles of an environment's tasks of a use and write their trajectories; return how many."""
    from tasks.environment import EnvironmentImage
    from tasks.sandbox import SandboxWorker
    from tasks.synthesis import oracle_trajectory

    store = open_store(store_uri)
    world = load_or_reject(store, env_id, "training")
    if world is None:
        return {"episodes": 0}
    rows: list[AgentTask] = read_dataset(store, "agent_tasks", f"{use}/{env_id}")
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(world.database, world.tools, world.snapshot))
        done = [oracle_trajectory(task_, worker) for task_ in rows]
    write_dataset(store, "trajectories", f"oracle-{use}/{env_id}", done)
    return {"episodes": len(done)}


def ensure_oracles(store_uri: str, title: str, use: str) -> None:
    """Record the oracle trajectories of all tasks of a use that have none yet."""
    store = open_store(store_uri)
    recorded = set(list_keys(store, "trajectories"))
    missing = []
    for key in list_keys(store, "agent_tasks"):
        if key.startswith(f"{use}/"):
            wanted = {t.task_id for t in read_dataset(store, "agent_tasks", key)}
            place = f"oracle-{key}"
            if place not in recorded or wanted - {t.task_id for t in read_dataset(store, "trajectories", place)}:
                missing.append(key.partition("/")[2])
    done = 0
    with workers(), bar(title, len(missing)) as advance, ThreadPoolExecutor(8) as pool:
        for made in pool.map(lambda env_id: compute(record_oracles, store_uri, use, env_id), missing):
            done += made["episodes"]
            advance(1, f"{done} episodes")


def load_oracles(store_uri: str, use: str) -> tuple[list[tuple[AgentTask, Trajectory]], dict[str, list[Tool]]]:
    """Return the tasks of a use with their oracle trajectories, and the tools of their environments."""
    store = open_store(store_uri)
    pairs: list[tuple[AgentTask, Trajectory]] = []
    tools: dict[str, list[Tool]] = {}
    for key in list_keys(store, "agent_tasks"):
        if key.startswith(f"{use}/"):
            env_id = key.partition("/")[2]
            by_id = {t.task_id: t for t in read_dataset(store, "trajectories", f"oracle-{key}")}
            pairs += [(t, by_id[t.task_id]) for t in read_dataset(store, "agent_tasks", key) if t.task_id in by_id]
            tools[env_id] = read_dataset(store, "tools", env_id)
    return pairs, tools
