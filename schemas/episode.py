"""Episodes and what training and the arena record of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from schemas.base import Record


class Step(Record):
    """One tool call of an episode and what came back."""

    tool: str
    arguments: dict[str, Any]
    observation: dict[str, Any]


class Trajectory(Record):
    """The record of one attempt in a private copy of the environment."""

    episode_id: str
    task_id: str
    env_id: str
    policy_id: str
    steps: tuple[Step, ...]
    calls: int
    answer: dict[str, Any] | None
    success: bool
    reward: float
    checks: dict[str, bool] = Field(default={}, description="verdict by check: one an answer field, 'state', 'format'")
    changes: tuple[dict[str, Any], ...] = Field(default=(), description="the state difference that it left")
    error: str = Field(default="", description="why it ended early: step_limit, timeout, killed, ...")
    seed: int = 0


class TrainingRun(Record):
    """One row a training stage (SFT, GRPO or an SFT control)."""

    run_id: str
    policy_id: str
    parent_id: str = ""
    method: Literal["sft", "grpo"]
    arm: str = Field(default="", description="'' | rl | sft_control | directed | control")
    checkpoint_sha256: str
    parameters: int
    steps: int
    episodes: int
    seed: int
    cpu_seconds: float
    wall_seconds: float
    curves: dict[str, list[float]] = Field(default={}, description="per logged step: step, loss, reward, entropy ...")
    settings: dict[str, Any] = {}


class ArenaResult(Record):
    """One attempt in the arena."""

    round: int
    arm: str = Field(description="before | directed | control | a training arm's name")
    policy_id: str
    env_id: str
    task_id: str
    attempt: int
    success: bool
    reward: float
    kind: str
    category_l1: str
    environment_split: Literal["train", "development", "held_out"]
    purpose: Literal["arena", "diagnosis", "development"] = "arena"
    error_type: str = Field(default="", description="'' on success, else one of Diagnosis' error types")
    calls: int = 0
    oracle_calls: int = 0
    classes: tuple[str, ...] = Field(default=(), description="the task's classes: long, decline, multi_turn")


ErrorType = Literal[
    "wrong_tool",
    "wrong_argument",
    "missing_state_update",
    "extra_state_update",
    "premature_stop",
    "wrong_aggregation",
    "wrong_answer",
    "format",
    "step_limit",
]


class Diagnosis(Record):
    """One weak environment, ranked; `guideline` says what to generate for it."""

    round: int
    rank: int
    env_id: str
    guideline_id: str
    failures: int
    attempts: int
    success_rate: float
    error_counts: dict[str, int]
    skill_rates: dict[str, float] = Field(description="success by skill (tool kind or program construct)")
    examples: tuple[str, ...] = Field(description="episode ids of example trajectories")
    weakness: str = Field(description="one sentence for people")
    guideline: dict[str, Any] = Field(description="{skills: [...], kinds: [...], needs_data: bool, n_tasks: int}")


class QualityResult(Record):
    """One expectation's outcome over one dataset."""

    dataset: str
    expectation: str
    column: str = ""
    success: bool
    evaluated: int
    unexpected: int
    detail: str = ""
