"""Score a free text item by item, and judge any task by the class that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.task import AgentTask, Change, RubricItem
from tasks.environment.verify import Verdict, verify

_WORD = re.compile(r"(?<![\w.])-?\d+(?:[.:/-]\d+)*(?!\w)|\w+(?:[.'’-]\w+)*")
"""A number with its sign, a date or a time; or a word."""


def judge(task: AgentTask, answer: Mapping[str, Any] | None, changes: Sequence[Change]) -> Verdict:
    """Judge an episode: a verified task by its verifier, a rubric task by its rubric and the verifier's state.

    A rubric task succeeds if every item holds and the state is right; its reward is then 1, and the share of items that
    hold times 0.9 if only the text lacks something. A wrong state or form earns nothing.
    """
    if task.kind != "rubric":
        return verify(task.verifier, answer, changes)
    name = task.verifier.answer[0].name
    text = (answer or {}).get(name)
    bare = task.verifier.model_copy(update={"answer": (), "expected_answer": {}})
    state = verify(bare, {}, changes).checks["state"]
    form = isinstance(text, str) and set(answer or {}) == {name}
    items = score_rubric(task.rubric, text if isinstance(text, str) else "")
    checks = {"format": form, **{f"item.{key}": held for key, held in items.items()}, "state": state}
    success = all(checks.values())
    share = sum(items.values()) / len(items) if form and state and text else 0.0
    return Verdict(success=success, reward=1.0 if success else round(0.9 * share, 6), checks=checks)


def score_rubric(items: Sequence[RubricItem], text: str) -> dict[str, bool]:
    """Return for each item whether it holds of a text. Nothing is claimed by an empty text: no item holds of it."""
    words = plain(text)
    found = {}
    for item in items:
        if item.kind == "most_words":
            held = len(words.split()) <= item.limit
        else:
            there = any(_stands_in(plain(phrase), words) for phrase in item.any_of)
            held = there if item.kind == "required" else not there
        found[item.name] = held and bool(words)
    return found


def plain(text: str) -> str:
    """Return a text in lower case, its words parted by single spaces, numbers without thousands separators."""
    joined = re.sub(r"(?<=\d)[,\u202f\u00a0 ](?=\d{3}(?!\d))", "", text.lower())
    return " ".join(_WORD.findall(joined))


def _stands_in(phrase: str, words: str) -> bool:
    return bool(phrase) and f" {phrase} " in f" {words} "
