"""The trajectory of a task's own oracle: what imitation learns of a verified task."""

from __future__ import annotations

from schemas.base import content_hash
from schemas.episode import Trajectory
from schemas.task import AgentTask
from tasks.environment import verify
from tasks.sandbox import SandboxWorker
from tasks.synthesis.replay import Run, execute

ORACLE_ID = "oracle"
"""The policy id of oracle trajectories."""


def oracle_trajectory(task: AgentTask, worker: SandboxWorker) -> Trajectory:
    """Execute a task's oracle in a fresh episode of the worker's environment, which must be the task's."""
    return trajectory_of(task, execute(worker, task.oracle, user=task.user))


def trajectory_of(task: AgentTask, run: Run) -> Trajectory:
    """Return an executed oracle as a trajectory; one that broke, or that the verifier refuses, has no success."""
    verdict = verify(task.verifier, run.answer, run.changes)
    return Trajectory(
        episode_id="ep-" + content_hash([ORACLE_ID, task.task_id])[:16],
        task_id=task.task_id,
        env_id=task.env_id,
        policy_id=ORACLE_ID,
        steps=run.steps,
        calls=len(run.steps),
        answer=run.answer,
        success=verdict.success and not run.error,
        reward=verdict.reward if not run.error else 0.0,
        checks=verdict.checks,
        changes=tuple(change.model_dump(mode="json") for change in run.changes),
        error=run.error,
    )
