"""A task candidate: what the writers hand to the gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.base import content_hash
from schemas.task import AnswerField, Oracle, SimulatedUser, TaskClass, Verifier
from tasks.synthesis.draft import Expected
from tasks.synthesis.replay import Bench, Run

SecondOpinion = Callable[[Bench, Verifier, Run], str]
"""Computes apart from the oracle whether its outcome is right; returns why not, or ''."""


@dataclass(frozen=True)
class Candidate:
    """A prompt with its oracle, not yet executed.

    Attributes:
        kind: graph or program.
        template: the chain's shape or the program's family.
        prompt: what a policy will read.
        oracle: a chain with references, or a script.
        fields: the answer's fields, in the order of the prompt.
        skills: tool kinds and program constructs.
        expected: what SQL over the snapshot says must stand at places of the observations.
        predicted: what SQL over the snapshot says the answer must be, field by field, as far as known.
        choices: fields whose answer may stand in the prompt, since they choose among things that it names.
        refusals: how many of the oracle's calls must be refused.
        after: what the schema's rules say of rows that end other than they began: (table, key) -> row. None: unknown.
        withheld: tools that the task must not offer, since they would make it another one.
        bounds: fewest and most calls, if other than the caller's.
        classes: decline, multi_turn; whether it is long shows when it is executed.
        user: whom to ask for what the prompt leaves open.
        guesses: users who would tell other values; what is done for them must not be right.
        author: who worded it: rules, or a model.
        second_opinion: an independent computation where neither `expected` nor `predicted` know the answer.
        seed: the seed that it was made from.
    """

    kind: Literal["graph", "program"]
    template: str
    prompt: str
    oracle: Oracle
    fields: tuple[AnswerField, ...]
    skills: tuple[str, ...]
    expected: tuple[Expected, ...] = ()
    predicted: tuple[tuple[str, Any], ...] = ()
    choices: frozenset[str] = frozenset()
    refusals: int = 0
    after: Mapping[tuple[str, Any], Mapping[str, Any]] | None = None
    withheld: frozenset[str] = frozenset()
    bounds: tuple[int, int] | None = None
    classes: tuple[TaskClass, ...] = ()
    user: SimulatedUser | None = None
    guesses: tuple[SimulatedUser, ...] = ()
    author: str = "rules"
    second_opinion: SecondOpinion | None = field(default=None, compare=False)
    seed: int = 0

    @property
    def key(self) -> str:
        """A name for it: the same oracle and prompt give the same key."""
        return content_hash({"oracle": self.oracle.model_dump(mode="json"), "prompt": self.prompt})[:16]
