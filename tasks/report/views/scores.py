"""What each set of tasks gives to agents without skill, as a table: sets down, agents across."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.scores import AGENTS, set_scores
from tasks.report.data import ReportData


@dataclass(frozen=True)
class ScoreRow:
    """One set: how many tasks it has, and each agent's mean pass rate in the order of `AGENTS` (None: not measured)."""

    name: str
    tasks: int
    scores: tuple[float | None, ...]


def score_rows(data: ReportData) -> list[ScoreRow]:
    """Return a row for each set of tasks, and one for all of them."""
    found: dict[str, dict[str, tuple[int, float]]] = {}
    for score in set_scores(data.tasks, "all"):
        found.setdefault(score.set_name, {})[score.policy_id] = (score.tasks, score.score)
    return [
        ScoreRow(
            name,
            max(tasks for tasks, _ in by_agent.values()),
            tuple(by_agent[agent][1] if agent in by_agent else None for agent in AGENTS),
        )
        for name, by_agent in sorted(found.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
