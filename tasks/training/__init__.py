"""Training: SFT on oracle episodes and GRPO from verifier rewards, each in a process that survives a kill.

Importing this package needs no torch; running a training does (`MissingTraining` says how to get it).
"""

from __future__ import annotations

from tasks.policies.missing import MissingTraining
from tasks.training.config import Progress, TrainingConfig
from tasks.training.examples import ExampleCounts, prepare_sft
from tasks.training.launch import TrainingFailed, TrainingOutcome, launch_training
from tasks.training.rewards import group_advantages

__all__ = [
    "ExampleCounts",
    "MissingTraining",
    "Progress",
    "TrainingConfig",
    "TrainingFailed",
    "TrainingOutcome",
    "group_advantages",
    "launch_training",
    "prepare_sft",
]
