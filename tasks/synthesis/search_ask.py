"""Questions to the user as moves of the search: what each tells, and what must have been told before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.task import AgentTask, Call, Fact
from tasks.dialogue import ASK_USER
from tasks.synthesis.gates import numbers_in
from tasks.synthesis.replay import Run

_QUOTED = re.compile(r'"([^"]+)"')


@dataclass(frozen=True)
class Question:
    """A call that asks, the reply that it got, and the fact that the reply tells."""

    call: Call
    reply: str
    fact: Fact

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers that the reply tells."""
        return frozenset(numbers_in(self.reply))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The values in quotation marks that the reply tells."""
        return frozenset(_QUOTED.findall(self.reply))

    def tells(self, value: Any) -> bool:
        """Say whether an argument can be read off the reply."""
        if isinstance(value, bool):
            return False
        return float(value) in self.numbers if isinstance(value, (int, float)) else value in self.texts

    def follows(self, other: Question) -> bool:
        """Say whether the user tells this only after the other one."""
        return other.fact.topic in self.fact.after


def questions_of(task: AgentTask, run: Run) -> list[Question]:
    """Return the oracle's questions that told a fact, each fact once, in the oracle's order."""
    found: dict[str, Question] = {}
    facts = {fact.says: fact for fact in task.user.facts} if task.user is not None else {}
    for step in run.steps:
        reply = str(step.observation.get("reply", ""))
        if step.tool == ASK_USER and reply in facts and reply not in found:
            found[reply] = Question(Call(tool=ASK_USER, arguments=step.arguments), reply, facts[reply])
    return list(found.values())
