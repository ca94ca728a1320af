"""How hard a task is: pass rates of a panel of solvers of several strengths."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from schemas.task import AgentTask
from tasks.environment import verify
from tasks.policies.scripted import LexicalPolicy, NoisyOracle, NullPolicy, RandomPolicy, Solution
from tasks.rollout import Attempt, ToolSignature, View, rollout
from tasks.synthesis.replay import Bench

NOISE_LEVELS = (0.05, 0.15, 0.3)
NOISY_ATTEMPTS = 4
RANDOM_ATTEMPTS = 2


def pass_rates(
    bench: Bench, task: AgentTask, solution: Solution, signatures: Sequence[ToolSignature], seed: int
) -> dict[str, float]:
    """Return policy id -> share of attempts that passed, for the panel: null, random, lexical, noisy oracles.

    A noisy oracle leaves each step out with its noise's probability, so its pass rate falls with the task's length.
    """
    null = NullPolicy().moves([_view(task, signatures)], [seed])[0]
    rates = {"null": float(verify(task.verifier, getattr(null, "value", None), ()).success)}
    for policy, attempts in ((RandomPolicy(), RANDOM_ATTEMPTS), (LexicalPolicy(), 1)):
        tries = [Attempt(task, bench.image, seed + k, tuple(signatures)) for k in range(attempts)]
        found = rollout(policy, tries, max_calls=8, workers=[bench.main])
        rates[policy.policy_id] = fmean(float(trajectory.success) for trajectory in found)
    for noise in NOISE_LEVELS:
        oracle = NoisyOracle({task.prompt: solution}, noise)
        plans = [oracle.plan(task.prompt, seed + k) for k in range(NOISY_ATTEMPTS)]
        outcomes = bench.batch([calls for calls, _ in plans], seed)
        passed = [
            verify(task.verifier, answer, outcome.changes).success
            for (_, answer), outcome in zip(plans, outcomes, strict=True)
        ]
        rates[oracle.policy_id] = fmean(map(float, passed))
    return rates


def _view(task: AgentTask, signatures: Sequence[ToolSignature]) -> View:
    return View(task.prompt, tuple(signatures), task.verifier.answer)


def difficulty(rates: dict[str, float]) -> float:
    """Return 1 - the mean pass rate of the panel, rounded: 0 is trivial, 1 is never solved."""
    return round(1.0 - fmean(rates.values()), 4)
