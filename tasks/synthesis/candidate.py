"""A task candidate: what the writers hand to the gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from schemas.base import content_hash
from schemas.task import AnswerField, Oracle
from tasks.synthesis.draft import Expected


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
    seed: int = 0

    @property
    def key(self) -> str:
        """A name for it: the same oracle and prompt give the same key."""
        return content_hash({"oracle": self.oracle.model_dump(mode="json"), "prompt": self.prompt})[:16]
