"""The simulated user of a task with several turns: tells a fact when asked for it, under the fact's conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from schemas.task import AgentTask, Fact, SimulatedUser

ASK_USER = "ask_user"
"""The reserved call by which a policy asks; no environment has a tool of this name."""

DESCRIPTION = (
    "Ask the person who gave you this task for something that they have not told you. Returns what they reply; "
    "it changes nothing."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string", "description": "What you want to know, in plain words."}},
    "required": ["question"],
    "additionalProperties": False,
}

_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?")


class User(Protocol):
    """Whoever answers questions in one episode: rules, or a model that plays the role."""

    def reply(self, question: str) -> str:
        """Return what the user says to a question."""
        ...


UserMaker = Callable[[AgentTask, int], User | None]
"""Makes the user of one episode from its task and seed; None if the task has none."""


class RuleUser:
    """Tells the fact whose topic's words all stand in the question, the most specific one, if its conditions hold.

    Deterministic: the same questions in the same order get the same replies.
    """

    def __init__(self, user: SimulatedUser) -> None:
        self.user = user
        self.told: set[str] = set()
        self.asked = 0

    def reply(self, question: str) -> str:
        """Return what the user says to a question."""
        self.asked += 1
        if self.asked > self.user.patience:
            return "I have no more time for questions."
        words = set(_words(question))
        found = [fact for fact in self.user.facts if set(_words(fact.topic)) <= words]
        if not found:
            return self.user.unknown
        fact = max(found, key=lambda fact: len(_words(fact.topic)))
        if not self._may_tell(fact, words):
            return fact.holds
        self.told.add(fact.topic)
        return fact.says

    def _may_tell(self, fact: Fact, words: set[str]) -> bool:
        mentioned = all(set(_words(text)) <= words for text in fact.mentions)
        return mentioned and all(topic in self.told for topic in fact.after)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def rule_user(task: AgentTask, seed: int) -> User | None:
    """Return the rule-made user of a task, None if it has none."""
    return RuleUser(task.user) if task.user is not None else None


def answers(user: User) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what carries out `ask_user` calls with a user: arguments -> observation."""

    def answer(arguments: Mapping[str, Any]) -> dict[str, Any]:
        question = arguments.get("question")
        if not isinstance(question, str) or set(arguments) != {"question"}:
            return {"error": {"code": "INVALID_ARGUMENTS", "message": "ask_user takes a question, a text"}}
        return {"reply": user.reply(question)}

    return answer
