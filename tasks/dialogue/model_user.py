"""The user of a task as a model plays it: it says in its own words what the rules let it say, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BaseModel, Field

from schemas.task import AgentTask, SimulatedUser
from tasks.dialogue.user import RuleUser, User, UserMaker
from tasks.models import Gateway, ModelError, render

_QUOTED = re.compile(r'"([^"]+)"')
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])(?!\.\d)")
MOST_CHARACTERS = 600

Ask = Callable[[str, str], str]
"""Puts a sentence that is to be said, as the reply to a question, in other words; raises ModelError if it cannot."""


class Spoken(BaseModel):
    """What the user says."""

    reply: str = Field(min_length=1, max_length=MOST_CHARACTERS, description="what you say to the assistant")


class ModelUser:
    """Decides by rules what is told, and lets a model word it; where the wording does not hold, the rules' sentence.

    `faults` says of each question for which the rules' words were used, why.
    """

    def __init__(self, user: SimulatedUser, ask: Ask) -> None:
        self._rules, self._ask = RuleUser(user), ask
        self.faults: list[str] = []

    def reply(self, question: str) -> str:
        """Return what the user says to a question."""
        sentence = self._rules.reply(question)
        if self._rules.asked > self._rules.user.patience:
            return sentence
        try:
            return self._ask(question, sentence)
        except ModelError as error:
            self.faults.append(f"{error.gate}: {error.reason}")
            return sentence


def spoken_fault(reply: str, sentence: str, user: SimulatedUser) -> str:
    """Return why a wording does not say what a sentence says, or ''.

    It must state the same quoted values and the same numbers, no others, and no value of a fact that the sentence
    does not tell, quoted or not.
    """
    if missing := [value for value in _QUOTED.findall(sentence) if f'"{value}"' not in reply]:
        return f"Say {missing[0]!r} exactly so, in straight double quotes."
    if added := set(_QUOTED.findall(reply)) - set(_QUOTED.findall(sentence)):
        return f"Take {sorted(added)[0]!r} out; it is not in the sentence."
    told, said = _numbers(sentence), _numbers(reply)
    if told != said:
        return f"The numbers must be those of the sentence, as digits: {', '.join(sorted(told)) or 'none'}."
    for fact in user.facts:
        for value in _QUOTED.findall(fact.says):
            if value.lower() in reply.lower() and value.lower() not in sentence.lower():
                return f"Do not tell {value!r}; it was not asked for, or may not be told yet."
    return ""


def _numbers(text: str) -> set[str]:
    return {f"{float(number):g}" for number in _NUMBER.findall(re.sub(r'"[^"]*"', '""', text))}


def model_users(gateway: Gateway) -> UserMaker:
    """Return what makes the users of episodes: played by the model of the role user, where a task has one to ask."""

    def maker(task: AgentTask, seed: int) -> User | None:
        if task.user is None:
            return None
        user = task.user

        def ask(question: str, sentence: str) -> str:
            prompt = render("user/reply", task=task.prompt, question=question, sentence=sentence)
            found = gateway.ask(
                "user", prompt, Spoken, env_id=task.env_id, repairs=1,
                check=lambda answer: spoken_fault(straight(answer.reply), sentence, user),
            )  # fmt: skip
            return straight(found.reply)

        return ModelUser(user, ask)

    return maker


def straight(text: str) -> str:
    """Return a text with straight double quotes, on one line."""
    return " ".join(re.sub("[“”„]", '"', text).split())
