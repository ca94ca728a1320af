"""The arena stage: split environments, evaluate policies on unseen tasks, type errors, diagnose, and compare arms."""

from __future__ import annotations

from tasks.arena.comparison import compare_arms, mcnemar_exact, paired_bootstrap
from tasks.arena.diagnose import Diagnostician, diagnose
from tasks.arena.errors import classify_error
from tasks.arena.evaluate import EvaluationResult, evaluate
from tasks.arena.split import split_environments
from tasks.arena.statistics import success_rates, wilson

STAGE_VERSION = "1"
"""Part of the cache key of everything that this stage computes; raise it when results would change."""

__all__ = [
    "STAGE_VERSION",
    "Diagnostician",
    "EvaluationResult",
    "classify_error",
    "compare_arms",
    "diagnose",
    "evaluate",
    "mcnemar_exact",
    "paired_bootstrap",
    "split_environments",
    "success_rates",
    "wilson",
]
