"""Run a policy on tasks and record every attempt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.base import content_hash
from schemas.environment import Environment
from schemas.episode import ArenaResult, Trajectory
from schemas.task import AgentTask
from schemas.tool import Tool
from tasks.arena.errors import classify_error
from tasks.dialogue import UserMaker, rule_user
from tasks.environment import EnvironmentImage
from tasks.rollout import Attempt, Policy, ToolSignature, rollout
from tasks.sandbox import SandboxWorker

Purpose = Literal["arena", "diagnosis", "development"]

SPLITS: dict[Purpose, tuple[str, ...]] = {
    "arena": ("train", "held_out"),
    "diagnosis": ("train",),
    "development": ("train", "development"),
}
"""Where each purpose may run: a diagnosis of held-out environments would aim training at what must stay unseen."""


@dataclass(frozen=True)
class EvaluationResult:
    """One result a (task, attempt), and the trajectory of each, in the same order."""

    results: list[ArenaResult]
    trajectories: list[Trajectory]


def evaluate(
    policy: Policy,
    tasks: Sequence[AgentTask],
    images: Mapping[str, EnvironmentImage],
    *,
    round: int,
    arm: str,
    purpose: Purpose,
    environments: Iterable[Environment],
    seed: int,
    attempts: int = 1,
    seen: Collection[str] = (),
    tools: Mapping[str, Sequence[Tool]] | None = None,
    max_calls: int | None = None,
    workers: Sequence[SandboxWorker] | None = None,
    users: UserMaker = rule_user,
) -> EvaluationResult:
    """Let a policy attempt each task, `attempts` times, each in a private copy of its environment.

    An attempt's seed depends on `seed`, the task and the attempt alone, so that arms evaluated with one seed meet the
    same episodes. Failures get their error type.

    Args:
        policy: who acts.
        tasks: what it is asked, each at most once.
        images: env_id -> image, for all environments of the tasks.
        round: number of the loop's round.
        arm: before, directed, control or a training arm's name.
        purpose: arena measures; diagnosis may be looked at and learnt from; development chooses settings.
        environments: records with category and split, for all environments of the tasks.
        seed: base of the attempts' seeds.
        attempts: attempts a task.
        seen: ids of tasks that training has seen.
        tools: env_id -> tools, for their descriptions and kinds; without them the policy sees names and schemas only.
        max_calls: step limit of an episode; None leaves it to the rollout.
        workers: sandbox workers to use; None starts one for the time of this call.
        users: makes the users whom policies may ask.

    Raises:
        ValueError: if the arena is asked to measure on tasks that training saw, if a task comes twice, or if an
            environment is missing or its split does not fit the purpose (see SPLITS).
    """
    records = {environment.env_id: environment for environment in environments}
    _check(tasks, images, records, purpose, seen)
    planned = [(task, attempt) for task in tasks for attempt in range(attempts)]
    signatures = {env_id: tuple(map(ToolSignature.of, given)) for env_id, given in (tools or {}).items()}
    trajectories = rollout(
        policy,
        [
            Attempt(task, images[task.env_id], _seed(seed, task.task_id, attempt), signatures.get(task.env_id, ()))
            for task, attempt in planned
        ],
        max_calls,
        workers=workers,
        users=users,
    )
    results = []
    for (task, attempt), trajectory in zip(planned, trajectories, strict=True):
        environment = records[task.env_id]
        writers = images[task.env_id].writes or ()
        results.append(
            ArenaResult(
                round=round,
                arm=arm,
                policy_id=policy.policy_id,
                env_id=task.env_id,
                task_id=task.task_id,
                attempt=attempt,
                success=trajectory.success,
                reward=trajectory.reward,
                kind=task.kind,
                category_l1=environment.category_l1,
                environment_split=environment.split,  # type: ignore[arg-type]
                purpose=purpose,
                error_type="" if trajectory.success else classify_error(task, trajectory, writers),
                calls=trajectory.calls,
                oracle_calls=task.oracle_calls,
                classes=task.classes,
            )
        )
    return EvaluationResult(results, trajectories)


def _check(
    tasks: Sequence[AgentTask],
    images: Mapping[str, EnvironmentImage],
    records: Mapping[str, Environment],
    purpose: Purpose,
    seen: Collection[str],
) -> None:
    known = set(seen)
    met: set[str] = set()
    for task in tasks:
        if purpose == "arena" and task.task_id in known:
            raise ValueError(
                f"task {task.task_id} was seen in training: the arena measures fresh tasks only; synthesize others"
            )
        if task.task_id in met:
            raise ValueError(f"task {task.task_id} comes twice; use `attempts` for more than one attempt")
        met.add(task.task_id)
        if task.env_id not in images or task.env_id not in records:
            raise ValueError(f"task {task.task_id} needs environment {task.env_id}: its image or record is missing")
        if records[task.env_id].split not in SPLITS[purpose]:
            raise ValueError(
                f"environment {task.env_id} has split {records[task.env_id].split!r}; purpose {purpose!r} uses"
                f" {' and '.join(SPLITS[purpose])} only (split_environments assigns splits)"
            )


def _seed(seed: int, task_id: str, attempt: int) -> int:
    """Return the attempt's seed, 32 bits."""
    return int(content_hash([seed, task_id, attempt])[:8], 16)
