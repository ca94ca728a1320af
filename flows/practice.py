"""Practice: many executed and verified oracle episodes over training environments and seeded variants, for SFT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prefect import task
from prefect.context import TaskRunContext

from flows.console import bar
from flows.costs import measured
from flows.discover import theme_hash
from flows.research import kept_researcher
from flows.runtime import cache_key, compute, stored, workers
from flows.synthesize import fingerprint, seen_tasks, world_hash
from schemas.base import canonical_json, content_hash
from schemas.environment import Rejection
from schemas.episode import Trajectory
from schemas.task import AgentTask
from schemas.theme import Theme
from schemas.tool import Tool
from tasks.store import (
    environment_rows,
    get_blob,
    list_keys,
    load_environment,
    open_store,
    put_blob,
    read_dataset,
    write_dataset,
)

VARIANT_STRIDE = 1000
"""Variant k of an environment is mined with the run's seed + k times this."""


@dataclass(frozen=True)
class PracticeJob:
    """Practice episodes to make: `count` in variant number `variant` of an environment (0: itself), under a label.

    `options` go to the task writer: skills and kinds. A share `easy` of the episodes are chains of one to three calls.
    """

    env_id: str
    variant: int
    count: int
    label: str = "practice"
    easy: float = 0.8
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of its tasks and trajectories in the store."""
        return f"{self.label}-{self.variant}/{self.env_id}"


def practise(store_uri: str, job: PracticeJob, seed: int, corpus: tuple[str, ...]) -> dict[str, Any]:
    """Make practice episodes in an environment (variant 0) or in a seeded variant of it, and write them.

    Variants have the environment's structure with other rows and other generated state. Their tools come from the same
    coder but are not tested again; their episodes are executed and verified, and no released task refers to them.
    Tasks that equal a stored one of the environment are left out.
    """
    from tasks.coding import write_tools
    from tasks.mining import mine, open_corpus
    from tasks.synthesis import practice

    store = open_store(store_uri)
    with measured() as cost:
        world = load_environment(store, job.env_id)
        database, snapshot, tools = world.database, world.snapshot, world.tools
        if job.variant:
            themes: list[Theme] = read_dataset(store, "themes", "all")
            theme = next(t for t in themes if t.theme_id == world.environment.theme_id)
            other = mine(
                theme,
                open_corpus(corpus),
                seed=seed + VARIANT_STRIDE * job.variant,
                rounds=database.complexified,
                researcher=kept_researcher(store, job.env_id),
            )
            database, snapshot = other.database, other.snapshot
            tools = tuple(write_tools(database, seed, snapshot))
        seen = withheld_tasks(store_uri, job.env_id)
        short = round(job.count * job.easy)
        made = [
            *practice(database, snapshot, tools, seed=seed + job.variant, n=short, easy=True, **job.options),
            *practice(database, snapshot, tools, seed=seed + job.variant, n=job.count - short, **job.options),
        ]
        pairs = [(task_, trajectory) for task_, trajectory in made if fingerprint(task_) not in seen]
    marks = {"split": "practice"}
    write_dataset(store, "agent_tasks", job.key, [task_.model_copy(update=marks) for task_, _ in pairs])
    write_dataset(store, "trajectories", job.key, [trajectory for _, trajectory in pairs])
    return {
        "env_id": job.env_id,
        "world": database.env_id,
        "key": job.key,
        "episodes": len(pairs),
        "tools": put_blob(store, canonical_json([tool.model_dump(mode="json") for tool in tools]).encode()),
        "cost": cost.as_dict(),
    }


def _practice_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from tasks.coding import STAGE_VERSION as CODING
    from tasks.mining import STAGE_VERSION as MINING
    from tasks.synthesis import STAGE_VERSION as SYNTHESIS
    from tasks.synthesis import templates_hash

    job: PracticeJob = arguments["job"]
    return cache_key(
        "practice",
        f"{MINING}/{CODING}/{SYNTHESIS}",
        templates_hash(),
        arguments["world"],
        arguments["seen"],
        arguments["origin"],
        arguments["seed"],
        job.key,
        job.count,
        job.easy,
        dict(job.options),
    )


@task(
    name="practise",
    task_run_name="{job.key}",
    cache_key_fn=_practice_key,
    retries=1,
    retry_delay_seconds=2,
)
def practise_task(
    store_uri: str, job: PracticeJob, world: str, seen: str, origin: str, seed: int, corpus: tuple[str, ...]
) -> dict[str, Any]:
    """Run `practise` on a worker. `world`, `seen` and `origin` are hashes for the cache key: of the environment, of
    the tasks to leave out, and of the theme and the data that a variant is mined from."""
    return compute(practise, store_uri, job, seed, corpus)


def withheld_tasks(store_uri: str, env_id: str) -> set[str]:
    """Return the fingerprints of an environment's tasks that SFT must not see: RL, development, diagnosis, arena."""
    store = open_store(store_uri)
    open_uses = {key.partition("/")[0] for key in list_keys(store, "agent_tasks")}
    shown = [use for use in open_uses if use.startswith(("train", "practice", "directed", "control"))]
    return seen_tasks(store_uri, env_id, without=shown)


def _origins(store_uri: str, corpus: tuple[str, ...]) -> dict[str, str]:
    """Return, for each theme, the hash of what a variant of its environments is mined from."""
    from tasks.mining import corpus_fingerprint

    data = corpus_fingerprint(corpus)
    return {
        t.theme_id: content_hash([theme_hash(t), data]) for t in read_dataset(open_store(store_uri), "themes", "all")
    }


def run_practice(
    store_uri: str, title: str, jobs: Sequence[PracticeJob], seed: int, corpus: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Make practice episodes; a job that breaks is left out and counted in the bar's note.

    Raises:
        RuntimeError: if every job breaks.
    """
    rows = {row.env_id: row for row in environment_rows(open_store(store_uri), "accepted")}
    work = stored(practise_task, store_uri)
    origins = _origins(store_uri, corpus) if any(job.variant for job in jobs) else {}
    results: list[dict[str, Any]] = []
    broken = 0
    with workers(), bar(title, len(jobs)) as advance:
        futures = []
        for job in jobs:
            seen = content_hash(sorted(withheld_tasks(store_uri, job.env_id)))
            origin = origins.get(rows[job.env_id].theme_id, "") if job.variant else ""
            futures.append(work.submit(store_uri, job, world_hash(rows[job.env_id]), seen, origin, seed, corpus))
        for job, future in zip(jobs, futures, strict=True):
            try:
                results.append(future.result())
            except Exception as error:  # recorded; training goes on with the others
                broken += 1
                reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
                row = Rejection(stage="training", key=job.key, gate="failed", reason=reason, env_id=job.env_id)
                write_dataset(open_store(store_uri), "rejections", f"practice-{job.key.replace('/', '-')}", [row])
            note = f"{sum(r['episodes'] for r in results)} episodes" + (f", {broken} jobs failed" if broken else "")
            advance(1, note)
    if not results:
        raise RuntimeError("no practice episodes: every job failed; look at the task runs' logs in the Prefect UI")
    return results


def load_practice(
    store_uri: str, made: Sequence[Mapping[str, Any]]
) -> tuple[list[tuple[AgentTask, Trajectory]], dict[str, list[Tool]], dict[str, str]]:
    """Return the pairs of task and trajectory, each world's tools, and the environment that each world varies."""
    import json

    store = open_store(store_uri)
    pairs: list[tuple[AgentTask, Trajectory]] = []
    tools: dict[str, list[Tool]] = {}
    families: dict[str, str] = {}
    for job in made:
        tasks_ = read_dataset(store, "agent_tasks", job["key"])
        trajectories = {t.task_id: t for t in read_dataset(store, "trajectories", job["key"])}
        pairs += [(task_, trajectories[task_.task_id]) for task_ in tasks_ if task_.task_id in trajectories]
        tools[job["world"]] = [Tool.model_validate(row) for row in json.loads(get_blob(store, job["tools"]))]
        families[job["world"]] = job["env_id"]
    return pairs, tools, families
