"""What a training is asked to do: one JSON file, handed to the process that `accelerate launch` starts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record

LEASH = "AGENTWORLD_TRAINING_LEASH"
"""Set in a training process whose standard input is a pipe from the process that started it."""


class TrainingConfig(Record):
    """Settings of one training. With the same files and settings it gives the same weights, unless a limit in CPU
    seconds ends it.

    SFT learns from oracle trajectories; GRPO (Shao et al. 2024, "DeepSeekMath") from verifier rewards alone, with
    the asymmetric clip of DAPO (Yu et al. 2025), which is the paper's 0.2 / 0.28.
    """

    method: Literal["sft", "grpo"]
    run_id: str
    policy_id: str
    arm: str = ""
    seed: int = 0
    steps: int = Field(default=400, ge=1, description="optimizer steps of SFT, rounds of rollouts of GRPO")
    processes: int = Field(default=1, ge=1, description="SFT: processes that share each step's episodes")
    batch: int = Field(default=8, ge=1, description="SFT: episodes a step in each process")
    easy_steps: int = Field(
        default=150, ge=0, description="SFT from random weights: first steps, on the shortest third"
    )
    learning_rate: float = Field(default=3e-3, gt=0)
    warmup: int = Field(default=40, ge=0, description="steps until the full learning rate")
    floor: float = Field(default=0.05, description="share of the learning rate at the end of the cosine")
    weight_decay: float = 0.01
    gradient_limit: float = 1.0
    max_cpu_seconds: float = Field(
        default=0.0, ge=0, description="end earlier after so much CPU time of all processes; 0: no limit"
    )
    threads: int = Field(
        default=1, ge=1, description="of each process; a second one saves nothing for so small a network"
    )
    checkpoint_every: int = Field(default=50, ge=1)
    log_every: int = Field(default=10, ge=1)
    width: int = 96
    layers: int = 4
    max_units: int = Field(default=900, description="longer episodes are left out of SFT, and counted")
    tasks_a_step: int = Field(default=8, ge=1, description="GRPO: tasks a round")
    rollouts_a_task: int = Field(default=8, ge=2, description="GRPO: episodes a task, the group")
    clip_low: float = 0.2
    clip_high: float = 0.28
    updates: int = Field(default=2, ge=1, description="GRPO: optimizer steps over the episodes of a round")
    temperature: float = 1.0
    call_limit: int = Field(default=0, description="GRPO: most calls an episode; 0: the rollout's default")


class Progress(Record):
    """One line that a training prints: where it is, and its present curves' values (absent ones are None)."""

    step: int
    steps: int
    cpu_seconds: float
    loss: float | None = None
    reward: float | None = None
    entropy: float | None = None
    values: dict[str, float] = {}
