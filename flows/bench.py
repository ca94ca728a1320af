"""Measure the environment engine on this machine, beside two stand-ins at the same work."""

from __future__ import annotations

import datetime
from typing import Any

from flows.report import machine
from tasks.coding import write_tools
from tasks.sandbox.benchmark import Work, measure

SNAPSHOT_MB = 2.0


def measure_engine(seconds: float = 1.0, megabytes: float = SNAPSHOT_MB) -> dict[str, Any]:
    """Return the machine, the date, the world and the figures.

    Args:
        seconds: how long each of a rate's three rounds takes; the best counts.
        megabytes: size of the measured world's snapshot, at least 0.1.
    """
    work = Work.of(write_tools, megabytes / SNAPSHOT_MB)
    return {
        "machine": machine(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "snapshot_kb": round(len(work.image.snapshot) / 1024),
        "rows": sum(map(len, work.rows.values())),
        "how": f"one core, CPU seconds of all processes together, best of 3 rounds of {seconds:g} s",
        "figures": [figure.record() for figure in measure(work, seconds)],
    }


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
