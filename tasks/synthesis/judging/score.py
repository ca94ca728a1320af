"""One text scored by a model, item by item; what it takes for evidence must stand in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from schemas.task import AgentTask, RubricItem
from tasks.models import Gateway, render

_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORDS = {word: number for number, word in enumerate(_NUMBERS, 1)}
_EMPTY_WORDS = frozenset(
    {"the", "and", "for", "with", "not", "has", "its", "that", "this", "from", "are", "was", "our"}
)


class JudgedItem(BaseModel):
    """The verdict on one item."""

    name: str = Field(description="the item's name, as given")
    met: bool = Field(description="whether the text meets the item")
    evidence: str = Field(default="", max_length=400, description="the words of the text that decide it, or ''")


class Judgement(BaseModel):
    """The verdicts on all items of one text."""

    items: list[JudgedItem]


def judge_text(gateway: Gateway, task: AgentTask, text: str) -> dict[str, JudgedItem]:
    """Return a verdict for each item of a rubric task's text.

    Raises:
        ModelError: if the judge gave none that could be used.
    """
    prompt = render(
        "judge/score", task=task.prompt, items=[_told(item) for item in task.rubric], text=text,
        words=len(text.split()),
    )  # fmt: skip
    found = gateway.ask(
        "judge", prompt, Judgement, env_id=task.env_id, check=lambda answer: judgement_fault(answer, task.rubric, text)
    )
    return {item.name: item for item in found.items}


def judgement_fault(answer: Judgement, rubric: Sequence[RubricItem], text: str) -> str:
    """Return what is wrong with a judgement, or ''.

    A required item that is met, and a forbidden one that is not, need evidence: words that stand in the text and that
    have a word or number in common with what the item looks for. So a text that only claims to be right has none.
    """
    names, wanted = [item.name for item in answer.items], {item.name: item for item in rubric}
    if sorted(names) != sorted(wanted):
        return f"Give one verdict for each of these items, and no other: {', '.join(wanted)}."
    for item in answer.items:
        rule = wanted[item.name]
        if rule.kind == "most_words" or item.met != (rule.kind == "required"):
            continue
        if not item.evidence.strip() or _plain(item.evidence) not in _plain(text):
            return f"{item.name}: the evidence must be words that stand in the text, letter by letter."
        if not _terms(item.evidence) & {term for phrase in rule.any_of for term in _terms(phrase)}:
            return (
                f"{item.name}: the evidence {item.evidence!r} holds nothing of what the item looks for; what a text "
                "says about itself is no evidence. If nothing in the text shows it, the item is decided the other way."
            )
    return ""


def _told(item: RubricItem) -> dict[str, str]:
    phrases = " or ".join(f'"{phrase}"' for phrase in item.any_of)
    looks_for = {
        "required": f"The text says {phrases}, in these or in other words or forms of the same value.",
        "forbidden": f"The text says none of: {phrases}. It is met if none of them is said.",
        "most_words": f"The text has at most {item.limit} words.",
    }[item.kind]
    return {"name": item.name, "looks_for": looks_for}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _terms(text: str) -> set[str]:
    """Return the words and numbers of a text, numbers as digits without separators and needless zeros."""
    found = set()
    for word in _WORD.findall(text.lower()):
        word = str(_NUMBER_WORDS.get(word, word))
        if word[0].isdigit():
            digits = word.replace(",", "")
            word = digits.rstrip("0").rstrip(".") if "." in digits else digits
        if (len(word) > 2 and word not in _EMPTY_WORDS) or word[0].isdigit():
            found.add(word)
    return found
