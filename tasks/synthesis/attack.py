"""Everything that tries to win a task cheaply, in one place: red team, guesses, shorter solutions, the solver panel."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from schemas.task import AgentTask, Survivor
from tasks.environment import verify
from tasks.policies.scripted import Solution
from tasks.rollout import ToolSignature
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.panel import WORTHLESS, difficulty, pass_rates
from tasks.synthesis.redteam import Escape, RedTeamReport, red_team, survivor_of, tightened
from tasks.synthesis.redteam_guess import GUESSABLE, AnswerPrior
from tasks.synthesis.replay import Bench, Run
from tasks.synthesis.search import ShorterSearch
from tasks.synthesis.trace import trace_calls

Verdict = tuple[str, str, AgentTask | None]
"""(gate, reason, None) of a task that was broken, ("", "", task) of one that held, with what was measured."""


class Attacker:
    """Attacks the tasks of one environment, and learns its answers as it goes.

    Attributes:
        survivors: wrong episodes that got full reward, and what came of them.
        kinds: mutants by kind, over the tasks that held.
    """

    def __init__(self, bench: Bench, atlas: Atlas, signatures: Sequence[ToolSignature], env_id: str) -> None:
        self.bench, self.atlas, self.signatures, self.env_id = bench, atlas, tuple(signatures), env_id
        self.prior = AnswerPrior(atlas)
        self.search = ShorterSearch(bench, atlas)
        self.survivors: list[Survivor] = []
        self.kinds: Counter[str] = Counter()
        self.relabelled = 0
        self._tried: dict[str, Counter[str]] = {}

    @property
    def stats(self) -> dict[str, Any]:
        """Counts over all attacks."""
        return {
            "mutants_by_kind": dict(sorted(self.kinds.items())),
            "relabelled": self.relabelled,
            "survivors": dict(Counter(f"{s.outcome}: {s.kind}" for s in self.survivors)),
        }

    def attack(self, task: AgentTask, run: Run, rng: random.Random, *, keep: bool = True) -> Verdict:
        """Attack a task whose oracle's episode is `run`; a broken verifier is repaired where tightening it helps.

        Args:
            keep: learn from the task if it held; else it is the caller's to `keep` it.
        """
        report = red_team(self.bench, self.atlas, task.verifier, task.oracle, run, task.prompt, rng)
        if "dropped_step" in report.equivalent:
            return "matters", "a write can be left out without a trace in the state", None
        if report.escapes:
            repaired = self._repaired(task, report)
            if repaired is None:
                return "red_team", f"full reward for: {', '.join(sorted(set(report.survivors)))}", None
            task = repaired
        chance = self._chance(task)
        if chance >= GUESSABLE:
            return self._guessable(task, chance)
        shortest = self.search.search(task, run)
        length = shortest.length(task.oracle_calls)
        calls = shortest.calls if length < task.oracle_calls else trace_calls(run.steps, run.changes)
        solution = Solution(calls, dict(run.answer or {}))
        guessed = self.prior.guess(task.verifier.answer, task.prompt)
        rates = pass_rates(self.bench, task, solution, self.signatures, guessed, seed=0)
        if lucky := [name for name in WORTHLESS if rates[name]]:
            if rates["guess"]:
                self._note(
                    task, Escape("guess", (), guessed, ()), "rejected", "the commonest answers are the right ones"
                )
            return "trivial", f"passes: {', '.join(f'{name} {rates[name]:.2f}' for name in lucky)}", None
        self._tried[task.task_id] = report.kinds
        measured = {
            "pass_rates": rates, "difficulty": difficulty(rates), "kill_rate": 1.0, "mutants": report.mutants,
            "shortest_found": shortest.found, "least_calls": shortest.least, "length": length,
        }  # fmt: skip
        held = task.model_copy(update=measured)
        if keep:
            self.keep(held)
        return "", "", held

    def keep(self, task: AgentTask) -> None:
        """Learn from a task that held and is kept: its answer, and what it was attacked with."""
        self.prior.add(task.verifier.answer, task.expected_answer)
        self.kinds += self._tried.pop(task.task_id)
        self.relabelled += task.length < task.oracle_calls

    def guessed(self, tasks: Sequence[AgentTask]) -> list[tuple[AgentTask, str]]:
        """Return the tasks whose answers the answers of all the others give away, with the reason."""
        lost = []
        for task in tasks:
            chance = self._chance(task, known=True)
            if chance >= GUESSABLE:
                lost.append((task, self._guessable(task, chance)[1]))
        return lost

    def _chance(self, task: AgentTask, known: bool = False) -> float:
        if task.verifier.expected_changes:
            return 0.0  # the state must be right as well
        return self.prior.chance(task.verifier.answer, task.expected_answer, task.prompt, known=known)

    def _guessable(self, task: AgentTask, chance: float) -> Verdict:
        reason = f"the answer is guessed without a call with a chance of {chance:.2f}"
        self._note(task, Escape("guess", (), task.expected_answer, ()), "rejected", reason)
        return "guessable", reason, None

    def _repaired(self, task: AgentTask, report: RedTeamReport) -> AgentTask | None:
        """Return the task with tolerances under which no escape passes any more, None if that does not help."""
        verifier = tightened(task.verifier, report.escapes)
        held = not any(verify(verifier, escape.answer, escape.changes).success for escape in report.escapes)
        for escape in report.escapes:
            reason = "the tolerance took it for the right number" if held else "the verifier does not tell it apart"
            self._note(task, escape, "repaired" if held else "rejected", reason)
        return task.model_copy(update={"verifier": verifier}) if held else None

    def _note(self, task: AgentTask, escape: Escape, outcome: Any, reason: str) -> None:
        self.survivors.append(survivor_of(task, escape, outcome, reason))
