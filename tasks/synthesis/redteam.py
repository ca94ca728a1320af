"""Red-team a task: cheap wrong episodes, none of which may get full reward."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.base import canonical_json, content_hash
from schemas.task import AgentTask, Call, Change, Oracle, Survivor, Verifier
from tasks.environment import verify
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.redteam_mutants import done_mutants, drop, said_mutants
from tasks.synthesis.replay import Bench, Run

__all__ = ["Escape", "RedTeamReport", "drop", "red_team", "survivor_of", "tightened"]


GUESSED = ("dropped_read", "guess")
"""Kinds of mutants that win, if they do, by a guess."""


@dataclass(frozen=True)
class Escape:
    """A wrong episode that got full reward: what it did, said and changed."""

    kind: str
    calls: tuple[Call, ...]
    answer: dict[str, Any] | None
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class RedTeamReport:
    """What the red team found: mutants that are not equivalent, how many were refused, and who got through.

    `kinds` counts the mutants by kind; `equivalent` are the kinds of those that ended as the oracle does.
    """

    mutants: int
    killed: int
    escapes: tuple[Escape, ...]
    equivalent: tuple[str, ...]
    kinds: Counter[str]

    @property
    def survivors(self) -> tuple[str, ...]:
        """The kinds of the mutants that got through."""
        return tuple(escape.kind for escape in self.escapes)

    @property
    def kill_rate(self) -> float:
        """The share of refused mutants; 1.0 if there was none."""
        return self.killed / self.mutants if self.mutants else 1.0


def red_team(
    bench: Bench, atlas: Atlas, verifier: Verifier, oracle: Oracle, run: Run, prompt: str, rng: random.Random,
    seed: int = 0,
) -> RedTeamReport:  # fmt: skip
    """Execute wrong episodes and let the verifier judge them.

    Mutants that end in the same answer and the same state are equivalent: not counted, but named. An episode that
    guesses what it has not read is never equivalent: a right guess is a cheaper win.

    Args:
        oracle, run: the task's oracle and its episode, which `verifier` was made from.
        rng: which neighbours, extra writes and parts are tried.
        seed: of the mutants' episodes.
    """
    mutants = [*said_mutants(atlas, verifier, run, prompt, rng), *done_mutants(atlas, oracle, run, rng)]
    outcomes = iter(bench.batch([m.calls for m in mutants if m.calls is not None], seed))
    killed, escapes, equivalent, kinds = 0, [], [], Counter[str]()
    truth = _outcome_text(run.answer, run.changes)
    for mutant in mutants:
        changes, answer = mutant.changes, mutant.answer
        if mutant.calls is not None:
            outcome = next(outcomes)
            changes, answer = outcome.changes, mutant.answer_after(outcome.steps)
        passed = verify(verifier, answer, changes).success  # as an outcome equal to the right one always does
        if passed and mutant.kind not in GUESSED and _outcome_text(answer, changes) == truth:
            equivalent.append(mutant.kind)
            continue
        kinds[mutant.kind] += 1
        if passed:
            escapes.append(Escape(mutant.kind, mutant.calls or (), answer, tuple(changes)))
        else:
            killed += 1
    return RedTeamReport(killed + len(escapes), killed, tuple(escapes), tuple(equivalent), kinds)


def _outcome_text(answer: dict[str, Any] | None, changes: Sequence[Change]) -> str:
    """Return the canonical JSON of an outcome with the keys of inserted rows replaced by their order."""
    text = canonical_json([answer, [change.model_dump(mode="json") for change in changes]])
    for number, change in enumerate(c for c in changes if c.operation == "insert"):
        text = text.replace(canonical_json(change.key), f'"new row {number}"')
    return text


def survivor_of(
    task: AgentTask, escape: Escape, outcome: Literal["rejected", "repaired", "kept"], reason: str
) -> Survivor:
    """Return the record of a wrong episode that got full reward for a task."""
    return Survivor(
        survivor_id="sur-" + content_hash([task.task_id, escape.kind, escape.calls, escape.answer, outcome])[:16],
        env_id=task.env_id,
        task_id=task.task_id,
        kind=escape.kind,
        outcome=outcome,
        reason=reason,
        prompt=task.prompt,
        calls=escape.calls,
        answer=escape.answer,
        expected_answer=task.expected_answer,
        changes=len(escape.changes),
    )


def tightened(verifier: Verifier, escapes: Sequence[Escape]) -> Verifier:
    """Return the verifier with tolerances so small that wrong numbers which got through do no more.

    A tolerance becomes less than half of the distance to the nearest such number; it never grows.
    """
    fields = []
    for field in verifier.answer:
        value, slack = verifier.expected_answer.get(field.name), field.tolerance
        for escape in escapes:
            found = (escape.answer or {}).get(field.name)
            if _is_number(found) and _is_number(value) and found != value:
                slack = min(slack, 0.45 * abs(found - value))
        fields.append(field.model_copy(update={"tolerance": slack}))
    return verifier.model_copy(update={"answer": tuple(fields)})


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
