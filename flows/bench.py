"""Measure the environment engine on this machine, beside two stand-ins at the same work."""

from __future__ import annotations

import datetime
from typing import Any

from flows.errors import Refused
from flows.report import machine, released_tasks
from tasks.coding import write_tools
from tasks.environment import EnvironmentImage
from tasks.sandbox.benchmark import ROUNDS, Figure, Work, measure, measure_chains
from tasks.sandbox.benchmark.meter import one_core
from tasks.store import load_environment, open_store

SNAPSHOT_MB = 2.0


def measure_engine(seconds: float = 0.5, megabytes: float = SNAPSHOT_MB, store: str | None = None) -> dict[str, Any]:
    """Return the machine, the date, the world and the figures.

    Args:
        seconds: how long each of a rate's rounds takes; the best counts.
        megabytes: size of the measured world's snapshot, at least 0.1.
        store: also judge the episodes of this store's own tasks.

    Raises:
        Refused: if the store has no task whose oracle is a chain of calls.
    """
    work = Work.of(write_tools, megabytes / SNAPSHOT_MB)
    own = [] if store is None else [_own_tasks(store, seconds)]
    return {
        "machine": machine(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "snapshot_kb": round(len(work.image.snapshot) / 1024),
        "rows": sum(map(len, work.rows.values())),
        "how": f"one core, CPU seconds of all processes together, best of {ROUNDS} rounds of {seconds:g} s",
        "figures": [figure.record() for figure in (*measure(work, seconds), *own)],
    }


def _own_tasks(store: str, seconds: float) -> Figure:
    """Return the rate of judged episodes over a store's tasks whose oracle is a chain and whose tools rules wrote."""
    objects = open_store(store)
    chains: dict[str, list[Any]] = {}
    for task in released_tasks(objects.uri):
        if task.oracle.calls:
            chains.setdefault(task.env_id, []).append(task.oracle.calls)
    worlds = []
    for env_id in sorted(chains):
        world = load_environment(objects, env_id)
        image = EnvironmentImage.of(world.database, world.tools, world.snapshot)
        if not image.foreign:
            worlds.append((image, chains[env_id]))
    found = [len(calls) for _, own in worlds for calls in own]
    if not found:
        raise Refused(f"no tasks in {objects.uri} to measure with: run `agentworld run` or `synthesize` first")
    what = f"judged episodes of the store's {len(found):,} chains, {sum(found) / len(found):.1f} calls each"
    with one_core():
        return Figure("store_episodes", what, "/CPU s", measure_chains(worlds, seconds))


def table(report: dict[str, Any]) -> list[str]:
    """Return the lines of a report for people: figure, target, measured, ratio."""
    lines = [
        f"{report['machine']}; {report['date']}",
        f"snapshot {report['snapshot_kb']:,} kB, {report['rows']:,} rows; {report['how']}",
        "",
        f"{'figure':<58} {'target':>12} {'measured':>14} {'ratio':>7}",
    ]
    for figure in report["figures"]:
        sign = "" if figure["target"] is None else "<= " if figure["at_most"] else ">= "
        target = "" if figure["target"] is None else f"{sign}{figure['target']:,.5g}"
        measured = "unknown" if figure["measured"] is None else f"{figure['measured']:,.5g} {figure['unit']}"
        ratio = "" if figure["ratio"] is None else f"{figure['ratio']:.2f}"
        lines.append(f"{figure['what']:<58} {target:>12} {measured:>14} {ratio:>7}".rstrip())
    return lines
