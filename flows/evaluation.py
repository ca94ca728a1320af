"""Evaluate a stored policy on tasks, spread over Dask workers, and keep results and trajectories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from prefect import task
from prefect.context import TaskRunContext

from flows.console import bar
from flows.policies import checkpoint_of
from flows.runtime import cache_key, compute, stored, workers
from flows.synthesize import world_hash
from flows.worlds import load_or_reject
from flows.writing import open_gateway, user_models
from schemas.base import content_hash
from schemas.episode import ArenaResult, TrainingRun, Trajectory
from schemas.settings import Settings
from schemas.task import AgentTask
from tasks.store import (
    environment_rows,
    list_keys,
    open_store,
    read_dataset,
    read_table,
    write_dataset,
)

Purpose = Literal["arena", "diagnosis", "development"]


def _learnt(store_uri: str, env_ids: Collection[str]) -> set[str]:
    """Return the ids of all tasks of these environments that a training or a choice of settings may have seen."""
    store = open_store(store_uri)
    keys = [
        key
        for key in list_keys(store, "agent_tasks")
        if key.partition("/")[2] in env_ids and not key.startswith(("arena-", "diagnosis-"))
    ]
    return set(read_table(store, "agent_tasks", keys).column("task_id").to_pylist())


def evaluate_part(
    store_uri: str,
    run: TrainingRun,
    task_keys: Sequence[tuple[str, str]],
    marks: dict[str, Any],
    key: str,
    models: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Evaluate a policy on the stored tasks (use, env_id) and write `arena_results` and `trajectories` under a key.
    `models` say who plays the users of tasks, see `flows.writing.user_models`."""
    import torch

    from flows.costs import measured
    from tasks.arena import evaluate
    from tasks.dialogue import model_users, rule_user
    from tasks.environment import EnvironmentImage
    from tasks.policies import unpack_policy

    torch.set_num_threads(1)
    purpose = marks["purpose"]
    gateway = open_gateway(store_uri, dict(models))
    store = open_store(store_uri)
    with measured() as cost:
        loaded = {env: load_or_reject(store, env, "arena") for _, env in task_keys}
        worlds = {env: world for env, world in loaded.items() if world is not None}
        tasks_: list[AgentTask] = [
            t for use, env in task_keys if env in worlds for t in read_dataset(store, "agent_tasks", f"{use}/{env}")
        ]
        policy = unpack_policy(checkpoint_of(store_uri, run), temperature=0.0)
        seen = _learnt(store_uri, worlds) if purpose == "arena" else set()
        outcome = evaluate(
            policy,
            tasks_,
            {env: EnvironmentImage.of(w.database, w.tools, w.snapshot) for env, w in worlds.items()},
            environments=[w.environment for w in worlds.values()],
            tools={env: w.tools for env, w in worlds.items()},
            seen=seen,
            users=model_users(gateway) if gateway is not None else rule_user,
            **marks,
        )
    write_dataset(store, "arena_results", key, outcome.results)
    write_dataset(store, "trajectories", key, outcome.trajectories)
    return {"attempts": len(outcome.results), "cost": cost.as_dict()}


def _evaluation_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from tasks.arena import STAGE_VERSION

    run = arguments["run"]
    return cache_key("evaluate", STAGE_VERSION, run.checkpoint_sha256, run.policy_id, arguments["task_keys"],
                     arguments["inputs"], arguments["marks"], arguments["key"],
                     *([arguments["models"]["key"]] if arguments["models"] else []))  # fmt: skip


@task(
    name="evaluate",
    task_run_name="evaluate {key}",
    cache_key_fn=_evaluation_key,
    retries=1,
    retry_delay_seconds=2,
)
def evaluate_task(
    store_uri: str,
    run: TrainingRun,
    task_keys: list[tuple[str, str]],
    inputs: str,
    marks: dict[str, Any],
    key: str,
    models: dict[str, Any],
) -> dict[str, Any]:
    """Run `evaluate_part` on a worker. `inputs` is the hash of the tasks and worlds, for the cache key."""
    return compute(evaluate_part, store_uri, run, task_keys, marks, key, models)


def evaluate_policies(
    store_uri: str,
    title: str,
    use: str,
    arms: Sequence[tuple[str, TrainingRun]],
    *,
    round_number: int,
    purpose: Purpose,
    settings: Settings,
) -> dict[str, list[ArenaResult]]:
    """Evaluate policies on all tasks of a use with the same seeds; return the results by arm.

    Each arm's environments are dealt to as many parts as there are cores, so that a policy is loaded once a part.
    """
    store = open_store(store_uri)
    rows = {row.env_id: row for row in environment_rows(store, "accepted")}
    sizes = {
        env_id: tasks_
        for env_id in rows
        if store.exists(f"datasets/agent_tasks/{use}/{env_id}.parquet")
        and (tasks_ := read_dataset(store, "agent_tasks", f"{use}/{env_id}"))
    }
    parts: list[list[str]] = [[], []]
    for env_id in sorted(sizes, key=lambda e: (-len(sizes[e]), e)):
        min(parts, key=lambda part: sum(len(sizes[e]) for e in part)).append(env_id)
    work, models = stored(evaluate_task, store_uri), user_models(settings)
    jobs = []
    for arm, run in arms:
        for index, part in enumerate(parts):
            if part:
                inputs = content_hash(
                    [[world_hash(rows[e]), [t.model_dump(mode="json") for t in sizes[e]]] for e in sorted(part)]
                )
                marks = {"round": round_number, "arm": arm, "purpose": purpose, "seed": settings.seed}
                key = f"{purpose}-{round_number}-{arm}/{run.policy_id}-{index}"
                jobs.append((arm, key, (store_uri, run, [(use, e) for e in sorted(part)], inputs, marks, key, models)))
    results: dict[str, list[ArenaResult]] = {arm: [] for arm, _ in arms}
    with workers(), bar(title, len(jobs)) as advance:
        futures = [(arm, key, work.submit(*arguments)) for arm, key, arguments in jobs]
        for arm, key, future in futures:
            future.result()
            results[arm] += read_dataset(store, "arena_results", key)
            shown = [f"{name} {sum(r.success for r in rs)}/{len(rs)}" for name, rs in results.items() if rs]
            advance(1, ", ".join(shown))
    return results


def trajectories_of(store_uri: str, results: Sequence[ArenaResult]) -> list[Trajectory]:
    """Return the stored trajectories that belong to results of one purpose, round and arm."""
    store = open_store(store_uri)
    prefixes = {f"{r.purpose}-{r.round}-{r.arm}/{r.policy_id}-" for r in results}
    found: list[Trajectory] = []
    start = "datasets/trajectories/"
    for prefix in sorted(prefixes):
        for key in store.list(start + prefix):
            found += read_dataset(store, "trajectories", key.removeprefix(start).removesuffix(".parquet"))
    return found
