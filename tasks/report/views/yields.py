"""What each stage kept, and what it refused by which gate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from schemas.environment import Rejection
from tasks.report.data import ReportData

STAGES = ("themes", "taxonomy", "mining", "coding", "build", "synthesis", "training", "quality")
PRODUCTS = {"themes": "themes", "mining": "environments", "coding": "tools", "synthesis": "tasks"}


@dataclass(frozen=True)
class Gate:
    """One gate of a stage: how many it refused, relative to the busiest gate, and one reason as an example."""

    name: str
    count: int
    share: float
    example: str


@dataclass(frozen=True)
class Yield:
    """One stage: what it kept of how many candidates (None where that is not counted), and its gates, busiest first.

    `rejected` counts refusals of all that the stage looks at; mining also refuses files, tables and rows, which are
    no candidates for environments.
    """

    stage: str
    product: str
    kept: int | None
    candidates: int | None
    rejected: int
    gates: tuple[Gate, ...]

    @property
    def share(self) -> float | None:
        """The share of candidates that were kept; None if it is not known."""
        return self.kept / self.candidates if self.candidates and self.kept is not None else None


def yields(data: ReportData) -> list[Yield]:
    """Return the yield of each stage that kept or refused something, in the order of the loop."""
    by_stage: dict[str, list[Rejection]] = {}
    for rejection in data.rejections:
        by_stage.setdefault(rejection.stage, []).append(rejection)
    kept = {"themes": len(data.themes), "coding": len(data.tools), "synthesis": len(data.tasks)}
    candidates = {stage: n + len(by_stage.get(stage, [])) for stage, n in kept.items()}
    kept["mining"] = sum(e.state == "accepted" for e in data.environments)
    candidates["mining"] = len(data.environments)
    names = [s for s in STAGES if by_stage.get(s) or candidates.get(s)] + sorted(by_stage.keys() - set(STAGES))
    return [
        Yield(
            stage=stage,
            product=PRODUCTS.get(stage, "items"),
            kept=kept.get(stage),
            candidates=candidates.get(stage),
            rejected=len(by_stage.get(stage, [])),
            gates=_gates(by_stage.get(stage, [])),
        )
        for stage in names
    ]


def _gates(rejections: list[Rejection]) -> tuple[Gate, ...]:
    counts = Counter(r.gate for r in rejections)
    most = max(counts.values(), default=1)
    examples: dict[str, str] = {}
    for rejection in sorted(rejections, key=lambda r: (r.gate, r.key)):
        examples.setdefault(rejection.gate, f"{rejection.key}: {rejection.reason}")
    return tuple(
        Gate(gate.replace("_", " "), n, n / most, examples[gate])
        for gate, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
