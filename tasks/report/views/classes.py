"""Tasks by class: how many, how long, how hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from tasks.report.data import ReportData

CLASSES = (
    ("long", "Long (7 calls or more)"),
    ("decline", "To decline: a rule forbids it"),
    ("multi_turn", "With a user to ask"),
)


@dataclass(frozen=True)
class ClassRow:
    """One class: its tasks, their oracle calls (mean, median, most), and the share above 40 calls."""

    name: str
    tasks: int
    mean: float
    median: float
    most: int
    beyond: float
    difficulty: float | None


def class_rows(data: ReportData) -> list[ClassRow]:
    """Return a row for each class that some task has; classes overlap."""
    rows = []
    for key, name in CLASSES:
        tasks = [task for task in data.tasks if key in task.classes]
        if tasks:
            calls = [task.oracle_calls for task in tasks]
            hard = [task.difficulty for task in tasks if task.difficulty is not None]
            rows.append(_row(name, calls, hard))
    return rows


def _row(name: str, calls: Sequence[int], hard: Sequence[float]) -> ClassRow:
    return ClassRow(
        name, len(calls), fmean(calls), median(calls), max(calls), sum(count > 40 for count in calls) / len(calls),
        fmean(hard) if hard else None,
    )  # fmt: skip
