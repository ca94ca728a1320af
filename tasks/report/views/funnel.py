"""The funnel: themes, environments, tools, candidates, accepted tasks; how many came in, went on, and ended why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.environment import Environment, Rejection
from schemas.task import AgentTask
from schemas.theme import Theme
from schemas.tool import Tool
from schemas.yields import SynthesisYield
from tasks.report.data import ReportData

ENOUGH = 10
"""Tasks that an environment should give."""


@dataclass(frozen=True)
class FunnelStage:
    """One stage: what came in, what went on, and how many ended for which reason, the commonest first.

    What came in is what went on and what ended: `entered == kept + sum of lost`.
    """

    name: str
    product: str
    entered: int
    kept: int
    lost: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float | None:
        """The share that went on; None if nothing came in."""
        return self.kept / self.entered if self.entered else None


@dataclass(frozen=True)
class Funnel:
    """The stages in order, and what they come to.

    Attributes:
        stages: themes, environments, tools, candidates.
        accepted_environments: environments that were accepted, grown versions aside.
        enough: how many of them have at least `ENOUGH` accepted tasks.
        cpu_ms: CPU milliseconds a candidate: writing, executing, replays and red team; None if it was not measured.
    """

    stages: tuple[FunnelStage, ...]
    accepted_environments: int
    enough: int
    cpu_ms: float | None

    @property
    def enough_share(self) -> float | None:
        """The share of accepted environments with at least `ENOUGH` accepted tasks; None without environments."""
        return self.enough / self.accepted_environments if self.accepted_environments else None


def funnel(
    themes: Sequence[Theme],
    environments: Sequence[Environment],
    tools: Sequence[Tool],
    tasks: Sequence[AgentTask],
    rejections: Sequence[Rejection],
    yields: Sequence[SynthesisYield],
) -> Funnel:
    """Return the funnel of a store.

    Args:
        environments: all rows; versions that grew from another one are left out, since no theme stands for them.
        tools, tasks: the accepted ones.
        yields: what became of the candidates, see `SynthesisYield`; they, not `rejections`, count candidates, since two
            candidates that ended alike are one row there.
    """
    first = [row for row in environments if not row.lineage]
    accepted = {row.env_id for row in first if row.state == "accepted"}
    ends: Counter[str] = Counter()
    for row in yields:
        ends.update(row.rejected)
    went_on = sum(row.accepted for row in yields)
    by_environment = Counter(task.env_id for task in tasks)
    candidates = sum(row.candidates for row in yields)
    return Funnel(
        stages=(
            _stage("themes", "themes", len(themes), _gates(rejections, "themes")),
            _stage("environments", "environments", len(accepted), _builds(first, rejections, len(themes))),
            _stage("tools", "tools", len(tools), _gates(rejections, "coding")),
            _stage("candidates", "tasks", went_on, ends),
        ),
        accepted_environments=len(accepted),
        enough=sum(by_environment[env_id] >= ENOUGH for env_id in accepted),
        cpu_ms=1000 * sum(row.cpu_s for row in yields) / candidates if candidates else None,
    )


def funnel_of(data: ReportData) -> Funnel:
    """Return the funnel of a report's data."""
    return funnel(data.themes, data.environments, data.tools, data.tasks, data.rejections, data.yields)


def _stage(name: str, product: str, kept: int, lost: Mapping[str, int]) -> FunnelStage:
    ranked = sorted(((gate, n) for gate, n in lost.items() if n), key=lambda item: (-item[1], item[0]))
    return FunnelStage(name, product, kept + sum(lost.values()), kept, tuple(ranked))


def _gates(rejections: Sequence[Rejection], stage: str) -> Counter[str]:
    return Counter(rejection.gate for rejection in rejections if rejection.stage == stage)


def _builds(rows: Sequence[Environment], rejections: Sequence[Rejection], themes: int) -> Counter[str]:
    """Return how many themes gave no environment, by the gate that said so; "not_built" is what nobody asked for."""
    gates = {rejection.key: rejection.gate for rejection in rejections if rejection.stage in ("mining", "build")}
    ends = Counter(
        gates.get(row.env_id) or gates.get(row.theme_id) or row.state for row in rows if row.state != "accepted"
    )
    ends["not_built"] = max(0, themes - len(rows))
    return ends


def funnel_rows(found: Funnel) -> list[dict[str, str | int]]:
    """Return the funnel as a table: one row a stage with its counts, then one a reason for which something ended."""
    rows: list[dict[str, str | int]] = []
    for stage in found.stages:
        rows.append({"stage": stage.name, "end": "went on", "count": stage.kept, "of": stage.entered})
        rows += [{"stage": stage.name, "end": gate, "count": n, "of": stage.entered} for gate, n in stage.lost]
    return rows
