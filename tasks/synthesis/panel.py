"""How hard a task is: pass rates of a panel of solvers of several strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from schemas.task import AgentTask
from tasks.environment import verify
from tasks.policies.scripted import LexicalPolicy, NoisyOracle, NullPolicy, RandomPolicy, Solution
from tasks.rollout import Attempt, ToolSignature, first_view, rollout
from tasks.synthesis.panel_search import search_solves
from tasks.synthesis.replay import Bench

NOISE_LEVELS = (0.05, 0.15, 0.3)
NOISY_CALLS = 240
"""Calls that the noisy attempts of a task make together, about: long tasks get fewer attempts."""
RANDOM_ATTEMPTS = 2
WORTHLESS = ("null", "guess", "random")
"""Solvers that no task may give a point to."""


def pass_rates(
    bench: Bench,
    task: AgentTask,
    solution: Solution,
    signatures: Sequence[ToolSignature],
    guessed: Mapping[str, Any],
    seed: int,
) -> dict[str, float]:
    """Return policy id -> share of attempts that passed.

    The panel: null (does nothing), guess (nothing but `guessed` as the answer), random (valid calls at random), lexical
    (greedy), search (bounded best-first, told after each try whether it passes) and oracles at three noise levels,
    which leave each step of `solution` out with that probability: their rates fall with the task's length.
    """
    view = first_view(task, signatures)
    null = NullPolicy().moves([view], [seed])[0]
    rates = {
        "null": float(verify(task.verifier, getattr(null, "value", None), ()).success),
        "guess": float(verify(task.verifier, guessed, ()).success),
    }
    for policy, attempts in ((RandomPolicy(), RANDOM_ATTEMPTS), (LexicalPolicy(), 1)):
        tries = [Attempt(task, bench.image, seed + k, tuple(signatures)) for k in range(attempts)]
        found = rollout(policy, tries, max_calls=8, workers=[bench.main])
        rates[policy.policy_id] = fmean(float(trajectory.success) for trajectory in found)
    rates["search"] = float(search_solves(bench, task, view))
    attempts = max(4, min(10, NOISY_CALLS // (len(NOISE_LEVELS) * max(1, len(solution.calls)))))
    oracles = [NoisyOracle({task.prompt: solution}, noise) for noise in NOISE_LEVELS]
    plans = [oracle.plan(task.prompt, seed + k) for oracle in oracles for k in range(attempts)]
    outcomes = bench.batch([calls for calls, _ in plans], seed)
    passed = [
        float(verify(task.verifier, answer, outcome.changes).success)
        for (_, answer), outcome in zip(plans, outcomes, strict=True)
    ]
    for number, oracle in enumerate(oracles):
        rates[oracle.policy_id] = fmean(passed[number * attempts : (number + 1) * attempts])
    return rates


def difficulty(rates: Mapping[str, float]) -> float:
    """Return the chance that a solver fails, drawn evenly from those of the panel that may pass at all."""
    return round(1.0 - fmean(rate for policy, rate in rates.items() if policy not in WORTHLESS), 4)
