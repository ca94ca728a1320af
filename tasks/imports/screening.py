"""Which foreign tools are kept: logs apart, faults that are fatal, answers that change by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.task import Change
from tasks.environment import EnvironmentImage
from tasks.imports.database import owners_of
from tasks.imports.faults import Judgement, judge, log_files, same_outcome, uncovered
from tasks.imports.outcome import Build
from tasks.imports.probe import Prober, ToolProbes
from tasks.imports.values import Data
from tasks.imports.world import ForeignTool
from tasks.sandbox import SandboxWorker


def find_logs(build: Build, data: Data, layout: Mapping[str, Any], probes: Mapping[str, ToolProbes]) -> list[str]:
    """Return the files that reading tools write as a log, which are no part of the state; record who writes them."""
    owners = owners_of(layout)

    def file_of(change: Change) -> str:
        return str(change.key) if change.table == "documents" else owners.get(change.table, change.table)

    changed = {name: {file_of(c) for p in found.done for c in p.changes} for name, found in probes.items()}
    about = {table.name for tool in build.world.tools for table in data.subject(tool)[:1]}
    core = {owners[table.name] for table in data.tables if table.name in about and len(data.rows[table.name]) > 2}
    logs, written = log_files(probes, changed, core)
    for file, readers in logs.items():
        for name in readers:
            text = f"it reads and yet writes {file}: kept out of the state, and fresh in every episode"
            build.find(name, "reads_write_log", "repaired", text, file=file)
    for file, readers in written.items():
        for name in readers:
            text = f"it reads and yet writes {file}, which is data: it counts as a writing tool"
            build.find(name, "reads_write_log", "note", text, file=file)
    return list(logs)


def healthy(
    build: Build, data: Data, probes: Mapping[str, ToolProbes], prober: Prober, broken: Prober,
    known: frozenset[str], shapes: Mapping[str, str],
) -> list[ForeignTool]:  # fmt: skip
    """Return the tools without a fatal fault; record every fault and every tool that is left out."""
    kept = []
    for tool in build.world.tools:
        found = probes[tool.name]
        changes = {id(probe): probe.changes for probe in found.all}
        judgements: list[Judgement] = judge(data, found, prober, broken, known, shapes, changes)
        if build.world.origin == "tau2":  # a benchmark stays whole
            judgements = [replace(one, severity="note") for one in judgements]
        for one in judgements:
            build.find(tool.name, one.fault, one.severity, one.detail, **one.evidence)
        fatal = [one for one in judgements if one.severity == "fatal"]
        if fatal:
            build.reject(tool.name, fatal[0].fault, fatal[0].detail)
            continue
        missing = uncovered(found)
        if missing:
            text = f"no call went with: {', '.join(missing)}"
            build.find(tool.name, "uncovered_parameter", "note", text, parameters=missing)
        kept.append(tool)
    return kept


def deterministic(
    build: Build, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes], image: EnvironmentImage,
    data: Data, seed: int,
) -> list[ForeignTool]:  # fmt: skip
    """Leave out the tools that answer differently in a process with another hash seed and wall clock."""
    kept = []
    with SandboxWorker(hash_seed=4217, clock_skew_s=-7_776_123) as other:
        again = Prober(image, data, other, seed)
        for tool in tools:
            different = next(
                (p for p in probes[tool.name].done[:3] if not same_outcome(p, again.call(tool.name, p.arguments))), None
            )
            if different is None:
                kept.append(tool)
                continue
            text = "with another hash seed and clock the same call gives something else"
            build.find(tool.name, "not_deterministic", "fatal", text, arguments=different.arguments)
            build.reject(tool.name, "not_deterministic", text)
    return kept
