"""Many attempts in lockstep: at each round the policy decides for all open episodes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schemas.base import content_hash
from schemas.episode import Step, Trajectory
from schemas.task import AgentTask, Call
from tasks.dialogue import ASK_USER, User, UserMaker, answers, rule_user
from tasks.environment import EnvironmentImage, Verdict, judge, shaped_reward
from tasks.rollout.view import Answer, Policy, ToolSignature, View, first_view
from tasks.sandbox import Episode, SandboxError, SandboxWorker

MAX_OPEN = 64
"""Episodes that are open at the same time; a further attempt begins when one of them ends."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task.

    Attributes:
        task: what to do.
        image: the environment to do it in.
        seed: seeds the episode's ids and the policy's sampling.
        tools: signatures to show; () shows the image's names and schemas without description and kind.
    """

    task: AgentTask
    image: EnvironmentImage
    seed: int = 0
    tools: tuple[ToolSignature, ...] = ()


def step_limit(task: AgentTask) -> int:
    """Return how many calls an attempt may make: half as many again as the oracle makes, at least six more."""
    return task.oracle_calls + max(6, task.oracle_calls // 2)


def episode_id(policy_id: str, attempt: Attempt) -> str:
    """Return the id of an attempt's episode, the same for the same policy, task and seed."""
    return "ep-" + content_hash([policy_id, attempt.task.task_id, attempt.image.digest, attempt.seed])[:16]


@dataclass
class _Open:
    """An episode under way."""

    attempt: Attempt
    view: View
    episode: Episode
    limit: int
    user: User | None = None
    steps: list[Step] = field(default_factory=list)
    answer: dict[str, Any] | None = None
    error: str = ""
    done: bool = False

    def take(self, move: Call | Answer) -> None:
        """Carry out one decision."""
        if isinstance(move, Answer):
            self.answer, self.done = move.value, True
            return
        if len(self.steps) >= self.limit:
            self.error, self.done = "step_limit", True
            return
        if move.tool == ASK_USER and self.user is not None:
            observation = answers(self.user)(move.arguments)
        elif move.tool in self.attempt.task.tools:
            try:
                observation = self.episode.call(move.tool, move.arguments)
            except SandboxError as error:
                self.error, self.done = error.outcome, True
                return
            except (ValueError, TypeError, RecursionError) as error:
                observation = {"error": {"code": "INVALID_ARGUMENTS", "message": f"no JSON: {error}"}}
                move = Call(tool=move.tool)
        else:
            observation = {"error": {"code": "UNKNOWN_TOOL", "message": f"there is no tool {move.tool!r}"}}
        self.steps.append(Step(tool=move.tool, arguments=move.arguments, observation=observation))
        self.view = replace(self.view, steps=tuple(self.steps))

    def finish(self, policy_id: str) -> Trajectory:
        """Judge the episode and close it."""
        task = self.attempt.task
        changes = ()
        try:
            changes = self.episode.changes()
        except SandboxError as error:
            self.error = self.error or error.outcome
        finally:
            self.episode.close()
        verdict = judge(task, self.answer, changes)
        success = verdict.success and not self.error
        return Trajectory(
            episode_id=episode_id(policy_id, self.attempt),
            task_id=task.task_id,
            env_id=task.env_id,
            policy_id=policy_id,
            steps=tuple(self.steps),
            calls=len(self.steps),
            answer=self.answer,
            success=success,
            reward=self._reward(replace(verdict, success=success)),
            checks=verdict.checks,
            changes=tuple(change.model_dump(mode="json") for change in changes),
            error=self.error,
            seed=self.attempt.seed,
        )

    def _reward(self, verdict: Verdict) -> float:
        task = self.attempt.task
        if task.kind == "rubric" and not verdict.success:
            return 0.0 if self.error else verdict.reward
        return shaped_reward(verdict, len(self.steps), task.oracle_calls)


def _signatures(attempt: Attempt) -> tuple[ToolSignature, ...]:
    return attempt.tools or tuple(ToolSignature(name, "", schema) for name, schema in attempt.image.schemas.items())


class _Pool:
    """Sandbox workers to spread episodes over: an environment stays with one worker, which has it loaded."""

    def __init__(self, workers: Sequence[SandboxWorker], users: UserMaker) -> None:
        self._workers = workers
        self._users = users
        self._home: dict[str, SandboxWorker] = {}

    def begin(self, attempt: Attempt, max_calls: int | None) -> _Open:
        digest = attempt.image.digest
        worker = self._home.setdefault(digest, self._workers[len(self._home) % len(self._workers)])
        isolation = "episode" if attempt.image.foreign else "environment"
        return _Open(
            attempt,
            first_view(attempt.task, _signatures(attempt)),
            worker.episode(attempt.seed, attempt.image, isolation=isolation),
            step_limit(attempt.task) if max_calls is None else max_calls,
            self._users(attempt.task, attempt.seed),
        )


def rollout(
    policy: Policy,
    attempts: Sequence[Attempt],
    max_calls: int | None = None,
    *,
    workers: Sequence[SandboxWorker] | None = None,
    max_open: int = MAX_OPEN,
    users: UserMaker = rule_user,
) -> list[Trajectory]:
    """Let a policy make attempts, each in an episode of its own, and judge them.

    Episodes of environments whose tools are made by rules use processes one after the other (isolation "environment");
    episodes with foreign code never do.

    Args:
        policy: whatever acts. It decides for up to `max_open` open episodes at once.
        attempts: the attempts; those of one environment should stand together.
        max_calls: the most tool calls of an episode; None: `step_limit` of its task.
        workers: sandbox workers to use; None starts one for the time of this call.
        max_open: the most episodes open at the same time.
        users: makes the user whom an episode's policy may ask, where the task has one; by rules, if not given.

    Returns:
        A trajectory for each attempt, in their order. A failing sandbox ends its episode with `error` set, never the
        others. The reward is `shaped_reward`.

    Raises:
        ValueError: if a task allows a tool that its environment lacks, or the policy returns another number of moves
            than there are views.
        SandboxError: "start" or "refused", if an environment cannot be loaded.
    """
    if workers is None:
        with SandboxWorker() as worker:
            return rollout(policy, attempts, max_calls, workers=[worker], max_open=max_open, users=users)
    pool = _Pool(workers, users)
    waiting = list(enumerate(attempts))[::-1]
    under_way: dict[int, _Open] = {}
    finished: dict[int, Trajectory] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < max_open:
                index, attempt = waiting.pop()
                under_way[index] = pool.begin(attempt, max_calls)
            _round(policy, under_way)
            for index in [index for index, one in under_way.items() if one.done]:
                finished[index] = under_way.pop(index).finish(policy.policy_id)
    finally:
        for one in under_way.values():
            one.episode.close()
    return [finished[index] for index in range(len(attempts))]


def _round(policy: Policy, under_way: Mapping[int, _Open]) -> None:
    """Take one decision in every open episode."""
    open_now = list(under_way.values())
    moves = policy.moves([one.view for one in open_now], [one.attempt.seed for one in open_now])
    if len(moves) != len(open_now):
        raise ValueError(f"policy {policy.policy_id!r} returned {len(moves)} moves for {len(open_now)} views")
    for one, move in zip(open_now, moves, strict=True):
        one.take(move)
