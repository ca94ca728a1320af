"""From failures to a ranked list of weak environments, each with a guideline for regeneration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.base import content_hash
from schemas.environment import Environment
from schemas.episode import ArenaResult, Diagnosis, Trajectory
from schemas.task import AgentTask
from tasks.arena.errors import classify_error
from tasks.arena.guideline import Weakness, describe, write_guideline

PRIOR_STRENGTH = 8.0
EXAMPLES = 3


class Diagnostician(Protocol):
    """Whoever turns an evaluation into diagnoses: these rules by default, or a model behind the same call."""

    def __call__(
        self,
        results: Sequence[ArenaResult],
        trajectories: Sequence[Trajectory],
        tasks: Sequence[AgentTask],
        environments: Sequence[Environment],
        *,
        round: int,
        top: int,
        n_tasks: int,
    ) -> list[Diagnosis]:
        """Return at most `top` diagnoses, the weakest environment first, that ask for `n_tasks` tasks together."""
        ...


def diagnose(
    results: Sequence[ArenaResult],
    trajectories: Sequence[Trajectory],
    tasks: Sequence[AgentTask],
    environments: Sequence[Environment],
    *,
    round: int,
    top: int = 5,
    n_tasks: int = 60,
) -> list[Diagnosis]:
    """Rank weak environments by rules and write a guideline for each.

    Environments are ordered by the posterior mean of their success under a beta prior around the mean over all
    attempts with PRIOR_STRENGTH pseudo-attempts (beta-binomial shrinkage: Gelman et al., Bayesian Data Analysis,
    3rd ed., ch. 5), so that two failures of two do not outrank thirty of forty. Those without a failure are left out.
    `n_tasks` is the budget of targeted tasks over all guidelines, shared out by failures, each at least one.

    Raises:
        ValueError: if a result is for the arena's own measurement (`purpose`), on an environment that is held out, or
            refers to an unknown task, environment or episode; if `top` or `n_tasks` is below 1.
    """
    if top < 1 or n_tasks < 1:
        raise ValueError(f"top ({top}) and n_tasks ({n_tasks}) must be at least 1")
    evidence = _gather(results, trajectories, tasks, environments)
    attempts = sum(e.attempts for e in evidence)
    mean = sum(e.attempts - len(e.failures) for e in evidence) / max(1, attempts)
    weak = sorted((e for e in evidence if e.failures), key=lambda e: (e.posterior_mean(mean), e.environment.env_id))[
        :top
    ]
    shares = _share_out(n_tasks, [len(e.failures) for e in weak])
    return [
        _diagnosis(e, round, rank, share) for rank, (e, share) in enumerate(zip(weak, shares, strict=True), start=1)
    ]


@dataclass
class _Evidence:
    """All attempts on one environment."""

    environment: Environment
    tasks: dict[str, AgentTask] = field(default_factory=dict)
    attempts: int = 0
    failures: list[tuple[AgentTask, Trajectory | None, str]] = field(default_factory=list)
    by_skill: dict[str, Counter[bool]] = field(default_factory=dict)
    by_kind: dict[str, Counter[bool]] = field(default_factory=dict)

    def posterior_mean(self, mean: float) -> float:
        """Return the success expected of this environment, shrunk towards the mean of all."""
        won = self.attempts - len(self.failures)
        return (won + PRIOR_STRENGTH * mean) / (self.attempts + PRIOR_STRENGTH)


def _gather(
    results: Iterable[ArenaResult],
    trajectories: Iterable[Trajectory],
    tasks: Iterable[AgentTask],
    environments: Iterable[Environment],
) -> list[_Evidence]:
    known = {task.task_id: task for task in tasks}
    records = {environment.env_id: environment for environment in environments}
    episodes: dict[tuple[str, str], list[Trajectory]] = {}
    for trajectory in trajectories:
        episodes.setdefault((trajectory.task_id, trajectory.policy_id), []).append(trajectory)
    gathered: dict[str, _Evidence] = {}
    for result in results:
        if result.purpose == "arena":
            raise ValueError(
                f"task {result.task_id} measures the arena (purpose 'arena'): a diagnosis that saw it would spoil the"
                " measurement; evaluate other tasks with purpose 'diagnosis'"
            )
        if result.environment_split == "held_out":
            raise ValueError(
                f"environment {result.env_id} is held out: a guideline from it would train on what must stay unseen;"
                " diagnose on training environments"
            )
        if result.task_id not in known or result.env_id not in records:
            raise ValueError(f"result on task {result.task_id} of {result.env_id}: no such task or environment given")
        evidence = gathered.setdefault(result.env_id, _Evidence(records[result.env_id]))
        _add(evidence, result, known[result.task_id], episodes.get((result.task_id, result.policy_id), []))
    return list(gathered.values())


def _add(evidence: _Evidence, result: ArenaResult, task: AgentTask, episodes: Sequence[Trajectory]) -> None:
    evidence.tasks[task.task_id] = task
    evidence.attempts += 1
    evidence.by_kind.setdefault(result.kind, Counter())[result.success] += 1
    for skill in task.skills:
        evidence.by_skill.setdefault(skill, Counter())[result.success] += 1
    if result.success:
        return
    failed = [t for t in episodes if not t.success]
    taken = sum(known is not None and known.task_id == task.task_id for _, known, _ in evidence.failures)
    example = failed[taken] if taken < len(failed) else None
    error = result.error_type or (classify_error(task, example) if example else "")
    if not error:
        raise ValueError(f"failed attempt {result.attempt} at {task.task_id} has neither an error type nor an episode")
    evidence.failures.append((task, example, error))


def _share_out(budget: int, weights: Sequence[int]) -> list[int]:
    """Split a budget in proportion (largest remainder), at least one each; sums to the budget if it suffices."""
    if not weights:
        return []
    rest = max(0, budget - len(weights))
    exact = [rest * weight / sum(weights) for weight in weights]
    shares = [int(value) for value in exact]
    order = sorted(range(len(weights)), key=lambda i: (shares[i] - exact[i], i))
    for i in order[: rest - sum(shares)]:
        shares[i] += 1
    return [share + 1 for share in shares]


def _diagnosis(evidence: _Evidence, round_: int, rank: int, n_tasks: int) -> Diagnosis:
    errors = Counter(error for _, _, error in evidence.failures)
    ordered = dict(sorted(errors.items(), key=lambda item: (-item[1], item[0])))
    skill_rates = {skill: _rate(count) for skill, count in sorted(evidence.by_skill.items())}
    weakness = Weakness(
        environment=evidence.environment,
        tasks=list(evidence.tasks.values()),
        failed=[task for task, _, _ in evidence.failures],
        errors=ordered,
        skill_rates=skill_rates,
        skill_attempts={skill: count.total() for skill, count in evidence.by_skill.items()},
        kind_rates={kind: _rate(count) for kind, count in sorted(evidence.by_kind.items())},
    )
    guideline = write_guideline(weakness, evidence.attempts, n_tasks)
    env_id = evidence.environment.env_id
    return Diagnosis(
        round=round_,
        rank=rank,
        env_id=env_id,
        guideline_id=f"gl-{round_}-{content_hash([env_id, round_, guideline])[:8]}",
        failures=len(evidence.failures),
        attempts=evidence.attempts,
        success_rate=1 - len(evidence.failures) / evidence.attempts,
        error_counts=ordered,
        skill_rates=skill_rates,
        examples=_examples(evidence, list(ordered)),
        weakness=describe(weakness, evidence.attempts),
        guideline=guideline,
    )


def _rate(count: Counter[bool]) -> float:
    return count[True] / max(1, count.total())


def _examples(evidence: _Evidence, errors: Sequence[str]) -> tuple[str, ...]:
    """Return up to EXAMPLES episode ids: one of each error type in order of frequency, then more of the first."""
    found: list[str] = []
    remaining = [(error, trajectory) for _, trajectory, error in evidence.failures if trajectory is not None]
    while remaining and len(found) < EXAMPLES:
        seen = len(found)
        for error in errors:
            match = next((item for item in remaining if item[0] == error), None)
            if match and len(found) < EXAMPLES:
                remaining.remove(match)
                found.append(match[1].episode_id)
        if len(found) == seen:
            break
    return tuple(found)
