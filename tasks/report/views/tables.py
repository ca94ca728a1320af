"""The page's tables: environments, costs, sources and audits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from schemas.environment import Environment
from schemas.statistics import SuccessRate
from tasks.report.data import ReportData, StageCost
from tasks.report.views.arena import arm_order, last_round

MOST_SOURCES = 200


@dataclass(frozen=True)
class EnvironmentRow:
    """One environment with what hangs on it; `rates` by arm of the latest round."""

    environment: Environment
    tools: int
    tasks: int
    rates: tuple[SuccessRate, ...]
    link: str


@dataclass(frozen=True)
class CostRow:
    """A stage's cost and its share of the whole wall time."""

    cost: StageCost
    share: float


@dataclass(frozen=True)
class SourceRow:
    """Sources of one origin (a package's version, a folder, a generator) under one licence."""

    origin: str
    version: str
    licence: str
    sources: int
    retrieved: str
    title: str


@dataclass(frozen=True)
class AuditRow:
    """The expectations on one dataset: how many held, and those that did not."""

    dataset: str
    held: int
    total: int
    failed: tuple[str, ...]


def environment_rows(data: ReportData) -> list[EnvironmentRow]:
    """Return all environments: accepted ones first, by name."""
    tools = Counter(t.env_id for t in data.tools)
    tasks = Counter(t.env_id for t in data.tasks)
    latest: dict[tuple[str, str], SuccessRate] = {}
    last = last_round(data)
    for rate in sorted((r for r in data.rates if r.by == "environment" and r.round <= last), key=lambda r: r.round):
        latest[rate.group, rate.arm] = rate
    rates: dict[str, list[SuccessRate]] = {}
    for (env_id, _), rate in latest.items():
        rates.setdefault(env_id, []).append(rate)
    order = sorted(data.environments, key=lambda e: (e.state != "accepted", e.name.casefold(), e.env_id))
    return [
        EnvironmentRow(
            environment=e,
            tools=tools[e.env_id] or e.n_tools,
            tasks=tasks[e.env_id],
            rates=tuple(sorted(rates.get(e.env_id, []), key=lambda r: arm_order(r.arm))),
            link=data.links.get(e.env_id, ""),
        )
        for e in order
    ]


def cost_rows(data: ReportData) -> list[CostRow]:
    """Return the stages in the order in which they ran, with their share of the wall time."""
    whole = sum(c.wall_s for c in data.costs)
    return [CostRow(c, c.wall_s / whole if whole else 0.0) for c in data.costs]


def source_rows(data: ReportData) -> tuple[list[SourceRow], int]:
    """Return sources grouped by origin and licence, and how many groups were left out beyond MOST_SOURCES."""
    groups: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for source in data.sources:
        key = (source.uri.partition("#")[0], source.version, source.licence)
        groups.setdefault(key, []).append((source.retrieved_at, source.title))
    rows = [
        SourceRow(origin, version, licence, len(found), min(found)[0], next((t for _, t in sorted(found) if t), ""))
        for (origin, version, licence), found in sorted(groups.items())
    ]
    return rows[:MOST_SOURCES], max(0, len(rows) - MOST_SOURCES)


def audit_rows(data: ReportData) -> list[AuditRow]:
    """Return the audit's outcome by dataset."""
    rows = []
    for dataset in sorted({q.dataset for q in data.quality}):
        results = [q for q in data.quality if q.dataset == dataset]
        failed = tuple(
            f"{q.expectation} {q.column}".strip() + f": {q.unexpected:,} of {q.evaluated:,} rows"
            + (f" ({q.detail})" if q.detail else "")
            for q in results
            if not q.success
        )  # fmt: skip
        rows.append(AuditRow(dataset, sum(q.success for q in results), len(results), failed))
    return rows
