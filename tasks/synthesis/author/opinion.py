"""The independent computation of a model's goal: its checking script must tell right outcomes from wrong ones."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from schemas.task import Oracle, Verifier
from tasks.environment import verify
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.author.scripts import Checker
from tasks.synthesis.redteam_mutants import Mutant, done_mutants, said_mutants
from tasks.synthesis.replay import Bench, Run

SUBSTANTIAL = (
    "nothing", "empty_answer", "right_answer_wrong_state", "right_answer_part_of_state", "right_state_wrong_answer",
    "missing_field", "verifier_directed", "dropped_step", "wrong_object", "swapped_argument", "extra_write",
)  # fmt: skip
"""Kinds of wrong episodes that every checking script must refuse; matters of form are left to the outcome verifier."""
EACH = 2
"""Wrong episodes of each kind that it is tried on."""


@dataclass(frozen=True)
class CheckingScript:
    """A candidate's second opinion: accepts the oracle's outcome, refuses what the outcome verifier refuses."""

    source: str
    checker: Checker
    atlas: Atlas
    prompt: str
    oracle: Oracle

    def __call__(self, bench: Bench, verifier: Verifier, run: Run) -> str:
        """Return where the script and the outcome verifier disagree, or ''."""
        accepted, fault = self.checker.check(self.source, run.answer, run.changes)
        if not accepted:
            return f"the checking script refuses the solution's outcome{f': {fault}' if fault else ''}"
        for mutant in self._mutants(run, verifier):
            answer, changes = mutant.answer, mutant.changes
            if mutant.calls is not None:
                outcome = bench.batch([mutant.calls])[0]
                answer, changes = mutant.answer_after(outcome.steps), outcome.changes
            if verify(verifier, answer, changes).success:
                continue  # it ends as the solution does
            if self.checker.check(self.source, answer, tuple(changes))[0]:
                return f"the checking script accepts a wrong episode: {mutant.kind}"
        return ""

    def _mutants(self, run: Run, verifier: Verifier) -> list[Mutant]:
        rng = random.Random(self.prompt)
        met: Counter[str] = Counter()
        chosen = []
        for mutant in [
            *said_mutants(self.atlas, verifier, run, self.prompt, rng), *done_mutants(self.atlas, self.oracle, run, rng)
        ]:  # fmt: skip
            if mutant.kind in SUBSTANTIAL and met[mutant.kind] < EACH:
                met[mutant.kind] += 1
                chosen.append(mutant)
        return chosen
