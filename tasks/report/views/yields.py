"""What each stage kept, and what it refused by which gate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from schemas.environment import Rejection
from tasks.report.data import ReportData

STAGES = ("themes", "taxonomy", "mining", "coding", "synthesis", "training", "quality")
PRODUCTS = {"themes": "themes", "mining": "environments", "coding": "tools", "synthesis": "tasks"}


@dataclass(frozen=True)
class Gate:
    """One gate of a stage: how many it refused, as a share of the stage's refusals, and one reason as an example."""

    name: str
    count: int
    share: float
    example: str


@dataclass(frozen=True)
class Yield:
    """One stage: what it kept (None if it makes nothing that is counted) and its gates, the busiest first."""

    stage: str
    product: str
    kept: int | None
    rejected: int
    gates: tuple[Gate, ...]

    @property
    def share(self) -> float | None:
        """The share of candidates that were kept; None if it is not known."""
        return None if self.kept is None or not self.kept + self.rejected else self.kept / (self.kept + self.rejected)


def yields(data: ReportData) -> list[Yield]:
    """Return the yield of each stage that kept or refused something, in the order of the loop."""
    kept = {
        "themes": len(data.themes),
        "mining": sum(e.state == "accepted" for e in data.environments),
        "coding": len(data.tools),
        "synthesis": len(data.tasks),
    }
    by_stage: dict[str, list[Rejection]] = {}
    for rejection in data.rejections:
        by_stage.setdefault(rejection.stage, []).append(rejection)
    names = [s for s in STAGES if by_stage.get(s) or kept.get(s)] + sorted(by_stage.keys() - set(STAGES))
    found = []
    for stage in names:
        rejected = by_stage.get(stage, [])
        found.append(Yield(stage, PRODUCTS.get(stage, "items"), kept.get(stage), len(rejected), _gates(rejected)))
    return found


def _gates(rejections: list[Rejection]) -> tuple[Gate, ...]:
    counts = Counter(r.gate for r in rejections)
    most = max(counts.values(), default=1)
    examples = {}
    for rejection in sorted(rejections, key=lambda r: (r.gate, r.key)):
        examples.setdefault(rejection.gate, f"{rejection.key}: {rejection.reason}")
    return tuple(
        Gate(gate.replace("_", " "), n, n / most, examples[gate])
        for gate, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )
