"""Published statistics of the arena: success by group with intervals, and paired comparisons of two arms."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record

Grouping = Literal["overall", "split", "category", "environment", "kind", "length", "class"]


class SuccessRate(Record):
    """Success of one arm on one group of tasks, with a Wilson score interval of `confidence`."""

    round: int
    arm: str
    by: Grouping
    group: str = Field(description="'all' for overall, else the split, category, env_id, kind, length bucket or class")
    successes: int
    attempts: int
    rate: float = Field(description="successes / attempts")
    low: float
    high: float
    confidence: float = 0.95


class Comparison(Record):
    """Arm `arm` against arm `baseline` on the same tasks.

    `difference` is the mean over tasks of (success of arm - success of baseline); `low` and `high` are a bootstrap
    percentile interval over tasks; `p_value` is the exact two-sided McNemar test over paired attempts.
    """

    round: int
    arm: str
    baseline: str
    group: str = Field(default="all", description="'all', 'train' or 'held_out': the environments' split")
    tasks: int
    attempts: int = Field(description="paired attempts")
    both: int
    only_arm: int
    only_baseline: int
    neither: int
    difference: float
    low: float
    high: float
    p_value: float
    confidence: float = 0.95
    seed: int
