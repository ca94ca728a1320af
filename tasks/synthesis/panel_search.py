"""A solver without understanding but with patience: bounded best-first search over calls, judged after every try."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from schemas.base import canonical_json
from schemas.episode import Step
from schemas.task import AgentTask, Call
from tasks.environment import verify
from tasks.policies.scripted import Values, overlap, words_of
from tasks.rollout import ToolSignature, View
from tasks.synthesis.replay import Bench

WIDTH = 4
"""Plans that each round goes on from, and calls that it tries after each."""
DEPTH = 4
"""Rounds, that is: calls of the longest plan. Together at most WIDTH + (DEPTH - 1) * WIDTH ** 2 episodes."""
ANSWERS = 32
"""Answers that are tried after one plan, from the `CELLS` best values of each field."""
CELLS = 4

_MOST = {"highest", "largest", "greatest", "latest", "recent", "most"}
_LEAST = {"lowest", "smallest", "least", "earliest", "oldest"}
_SIDE = re.compile(
    r"^(min|max|minimum|maximum|lowest|highest|earliest|latest)_|_(from|to|least|most|after|before)$|_at$"
)


@dataclass(frozen=True)
class _Plan:
    """Calls so far, what they showed, and how well they fit the prompt."""

    view: View
    score: float = 0.0

    def next(self, words: set[str]) -> list[tuple[float, Call]]:
        """Return the `WIDTH` calls that fit best: each tool with what prompt and observations fill in."""
        values = Values(self.view)
        made = {canonical_json([step.tool, step.arguments]) for step in self.view.steps}
        found = [
            (overlap(tool, words, arguments), Call(tool=tool.name, arguments=arguments))
            for tool in self.view.tools
            for arguments in _fillings(tool, values, words)
            if canonical_json([tool.name, arguments]) not in made
        ]
        return sorted(found, key=lambda pair: (-pair[0], pair[1].tool, canonical_json(pair[1].arguments)))[:WIDTH]


def _fillings(tool: ToolSignature, values: Values, words: set[str]) -> Iterator[dict[str, Any]]:
    """Yield arguments for a tool: as the greedy policy fills it in, sorted or limited by the prompt's words."""
    base = values.fill(tool)
    if base is None:
        return
    yield base
    for name, schema in tool.parameters.get("properties", {}).items():
        if name in base:
            continue
        if "sort" in name or "order" in name:
            for option in schema.get("enum", ()):
                if words_of(option.replace("_", " ")) <= words:
                    if words & _LEAST:
                        yield {**base, name: option}
                    if words & _MOST and "descending" in tool.parameters["properties"]:
                        yield {**base, name: option, "descending": True}
        elif (
            schema.get("type") in ("integer", "number")
            and "limit" not in name
            and words_of(_SIDE.sub("", name).replace("_", " ")) <= words
        ):
            yield from ({**base, name: number} for number in values.numbers[:3])


def search_solves(bench: Bench, task: AgentTask, view: View) -> bool:
    """Say whether the search passes a task: one of its tries, each with the answers that fit the fields' names best.

    It sees what a policy sees, and after each try whether the verifier gave full reward.
    """
    words = words_of(view.prompt)
    plans = [_Plan(view)]
    for _ in range(DEPTH):
        grown: list[tuple[_Plan, list[Call]]] = []
        for plan in plans:
            for score, call in plan.next(words):
                calls = [*(Call(tool=s.tool, arguments=s.arguments) for s in plan.view.steps), call]
                grown.append((_Plan(plan.view, plan.score + score), calls))
        outcomes = bench.batch([calls for _, calls in grown])
        plans = []
        for (plan, _), outcome in zip(grown, outcomes, strict=True):
            seen = replace(plan.view, steps=outcome.steps)
            right_state = verify(task.verifier, None, outcome.changes).checks["state"]  # else no answer helps
            if right_state and any(verify(task.verifier, answer, outcome.changes).success for answer in _answers(seen)):
                return True
            if outcome.steps and not _failed(outcome.steps[-1]):
                plans.append(_Plan(seen, plan.score))
        plans = sorted(plans, key=lambda plan: -plan.score)[:WIDTH]
        if not plans:
            break
    return False


def _answers(view: View) -> Iterator[dict[str, Any]]:
    """Yield answers made of the cells whose names fit best."""
    values = Values(view)
    ranked = [values.ranked(field)[:CELLS] or [values.best(field)] for field in view.answer]
    for chosen in islice(product(*ranked), ANSWERS):
        yield {field.name: value for field, value in zip(view.answer, chosen, strict=True)}


def _failed(step: Step) -> bool:
    return "error" in step.observation
