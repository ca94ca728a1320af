"""Gather what a run left in the store and render the report."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from flows.policies import CURRENT
from schemas.environment import Rejection
from schemas.episode import ArenaResult, Trajectory
from schemas.settings import Settings, is_quick
from schemas.statistics import Comparison
from schemas.task import AgentTask
from tasks.arena import compare_arms, success_rates
from tasks.report import Funnel, ReportData, StageCost, funnel
from tasks.store import environment_rows, list_keys, open_store, read_dataset

PAGE = "report.html"


def machine() -> str:
    """Return one line on this machine: cores, memory, system, Python, sandbox."""
    import psutil

    from tasks.sandbox import sandbox_strength

    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, sandbox {sandbox_strength().name}"
    )


def _comparisons(results: Sequence[ArenaResult], seed: int) -> list[Comparison]:
    found = []
    for number in sorted({r.round for r in results}):
        rows = [r for r in results if r.round == number and r.purpose == "arena"]
        arms = {r.arm for r in rows}
        for arm, baseline in (("directed", "before"), ("control", "before"), ("directed", "control")):
            if {arm, baseline} <= arms:
                splits = {str(r.environment_split) for r in rows}
                found += [compare_arms(rows, arm, baseline, seed=seed, split=s) for s in ("", *sorted(splits))]
    return found


def _trajectories(store_uri: str, wanted: set[str], task_ids: set[str]) -> list[Trajectory]:
    """Return the diagnoses' example episodes and a few attempts at the tasks that are shown."""
    store = open_store(store_uri)
    found: list[Trajectory] = []
    for key in list_keys(store, "trajectories"):
        if key.startswith(("diagnosis", "arena")):
            rows: list[Trajectory] = read_dataset(store, "trajectories", key)
            found += [t for t in rows if t.episode_id in wanted or t.task_id in task_ids]
    return found


def released_tasks(store_uri: str) -> list[AgentTask]:
    """Return all verified tasks: every use but practice and free texts."""
    store = open_store(store_uri)
    keys = [key for key in list_keys(store, "agent_tasks") if not key.startswith(("practice", "rubric"))]
    return [task_ for key in keys for task_ in read_dataset(store, "agent_tasks", key)]


def funnel_of(store_uri: str) -> Funnel:
    """Return the funnel of what the store holds now."""
    store = open_store(store_uri)
    environments = environment_rows(store)
    accepted = [row.env_id for row in environments if row.state == "accepted"]
    tools = [tool for env_id in accepted for tool in read_dataset(store, "tools", env_id)]
    themes, rejections = read_dataset(store, "themes"), read_dataset(store, "rejections")
    tasks_, yields = released_tasks(store_uri), read_dataset(store, "yields")
    return funnel(themes, environments, tools, tasks_, rejections, yields)


def gather(
    store_uri: str,
    settings: Settings,
    run_id: str,
    started_at: str,
    costs: Sequence[Mapping[str, Any]] = (),
    missing: Sequence[str] = (),
    redrawn_at: str = "",
) -> ReportData:
    """Return the report's data from the store."""
    from importlib.metadata import version

    store = open_store(store_uri)
    environments = environment_rows(store)
    accepted = {row.env_id for row in environments if row.state == "accepted"}
    rejections: list[Rejection] = read_dataset(store, "rejections")
    results: list[ArenaResult] = read_dataset(store, "arena_results")
    diagnoses = read_dataset(store, "diagnoses")
    tasks_ = released_tasks(store_uri)
    sources = {s.source_id: s for s in read_dataset(store, "sources")}
    examples = {episode for d in diagnoses for episode in d.examples}
    links = {env_id: f"docs/environments.html#{env_id}" for env_id in accepted} | {"Data Docs": "docs/index.html"}
    return ReportData(
        run_id=run_id,
        started_at=started_at,
        machine=machine(),
        seed=settings.seed,
        quick=is_quick(settings),
        redrawn_at=redrawn_at,
        version=version("agentworld-factory"),
        themes=tuple(read_dataset(store, "themes")),
        environments=tuple(environments),
        tools=tuple(tool for env_id in sorted(accepted) for tool in read_dataset(store, "tools", env_id)),
        tasks=tuple(tasks_),
        rejections=tuple(rejections),
        yields=tuple(read_dataset(store, "yields")),
        training_runs=tuple(read_dataset(store, "training_runs")),
        results=tuple(results),
        rates=tuple(success_rates(results)),
        comparisons=tuple(_comparisons(results, settings.seed)),
        trajectories=tuple(_trajectories(store_uri, examples, set())),
        diagnoses=tuple(sorted(diagnoses, key=lambda d: (d.round, d.rank))),
        sources=tuple(sources[key] for key in sorted(sources)),
        quality=tuple(read_dataset(store, "quality_results")),
        costs=tuple(StageCost.model_validate(cost) for cost in costs),
        model_calls=tuple(read_dataset(store, "model_calls")),
        judges=tuple(read_dataset(store, "judge_agreement")),
        links=links,
        missing=tuple(missing),
        next_commands=next_commands(store_uri, bool(accepted), tasks_),
    )


def place_of(store_uri: str) -> str:
    """Return a store's URI as a person writes it after --store: a folder as its path."""
    from urllib.parse import unquote, urlparse

    return unquote(urlparse(store_uri).path) if store_uri.startswith("file:") else store_uri


def next_commands(store_uri: str, worlds: bool, tasks_: Sequence[AgentTask]) -> tuple[str, ...]:
    """Return commands that are worth trying on this store, and that what it holds suffices for.

    Args:
        worlds: whether it has an accepted environment.
    """
    place = place_of(store_uri)
    if tasks_:
        words = ["ls tasks", f"show {tasks_[0].task_id}", f"play {tasks_[0].task_id}"]
        if open_store(store_uri).exists(CURRENT):
            words.append("evolve --rounds 1")
    elif worlds:
        words = ["ls", "synthesize"]
    else:
        words = ["ls themes", "ls", "rebuild --failed"]
    return tuple(f"agentworld {command} --store {place}" for command in (*words, "up"))


def write_report(data: ReportData, store_uri: str) -> str:
    """Render the page into the store and return its address."""
    from tasks.report import render_report

    store = open_store(store_uri)
    store.put(PAGE, render_report(data).encode())
    return f"{store.uri}/{PAGE}"


def headline(data: ReportData) -> list[dict[str, Any]]:
    """Return the success rates over everything and by split, by round and arm, as JSON objects."""
    return [rate.model_dump(mode="json") for rate in data.rates if rate.by in ("overall", "split")]
