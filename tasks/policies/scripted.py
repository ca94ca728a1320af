"""Policies without learning: the panel that tells trivial tasks from hard ones, and floors for any comparison."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.task import AnswerField, Call
from tasks.environment import UnresolvedReference, is_reference, resolve_references
from tasks.rollout import Answer, ToolSignature, View

_QUOTED = re.compile(r'"([^"]+)"')
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])(?!\.\d)")
_WORD = re.compile(r"[a-z]+|\d+")


class NullPolicy:
    """Does nothing and answers with an empty value in every field."""

    policy_id = "null"

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return the empty answer for each view."""
        empty = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}
        return [Answer({field.name: empty[field.type] for field in view.answer}) for view in views]


class RandomPolicy:
    """Makes valid calls at random, filled with values from prompt and observations, then answers at random."""

    policy_id = "random"

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return one random decision for each view, the same for the same seed and number of steps."""
        rngs = [random.Random(f"{seed}/{len(view.steps)}") for view, seed in zip(views, seeds, strict=True)]
        return [self._move(view, rng) for view, rng in zip(views, rngs, strict=True)]

    def _move(self, view: View, rng: random.Random) -> Call | Answer:
        values = Values(view)
        if not view.tools or rng.random() < len(view.steps) / 8:
            return Answer({field.name: values.answer(field, rng) for field in view.answer})
        tool = rng.choice(view.tools)
        needed = tool.parameters.get("required", ())
        arguments = {
            name: values.argument(name, schema, rng)
            for name, schema in tool.parameters.get("properties", {}).items()
            if name in needed or rng.random() < 0.25
        }
        return Call(tool=tool.name, arguments=arguments)


def overlap(tool: ToolSignature, words: set[str], arguments: Mapping[str, Any]) -> float:
    """Return how well a tool fits a prompt's words: the share of its own words in them, and how much it is given."""
    own = words_of(f"{tool.name} {tool.description}")
    return len(own & words) / (1 + len(own)) + 0.2 * len(arguments)


def words_of(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(_WORD.findall(text.lower()))


class LexicalPolicy:
    """Calls the tools whose words occur most in the prompt, each once, and answers by field names. No randomness."""

    policy_id = "lexical"

    def __init__(self, most_calls: int = 5) -> None:
        self.most_calls = most_calls

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return the greedy decision for each view."""
        return [self._move(view) for view in views]

    def _move(self, view: View) -> Call | Answer:
        values = Values(view)
        called = {step.tool for step in view.steps}
        words = words_of(view.prompt)
        best: tuple[float, ToolSignature, dict[str, Any]] | None = None
        if len(view.steps) < self.most_calls:
            for tool in view.tools:
                arguments = values.fill(tool) if tool.name not in called else None
                if arguments is None:
                    continue
                score = overlap(tool, words, arguments)
                if best is None or score > best[0]:
                    best = (score, tool, arguments)
        if best is not None:
            return Call(tool=best[1].name, arguments=best[2])
        return Answer({field.name: values.best(field) for field in view.answer})


class Values:
    """The values that a view offers: quoted texts and numbers of the prompt, cells of observations."""

    def __init__(self, view: View) -> None:
        """Read a view."""
        self.texts = _QUOTED.findall(view.prompt)
        outside = _QUOTED.sub(" ", view.prompt)
        self.numbers = [float(text) if "." in text else int(text) for text in _NUMBER.findall(outside)]
        self.cells = [cell for step in reversed(view.steps) for cell in _cells(step.observation)]
        names = {field.name for field in view.answer}
        self.texts = [text for text in self.texts if text not in names]

    def argument(self, name: str, schema: Mapping[str, Any], rng: random.Random) -> Any:
        """Return a random value of a parameter's type, mostly one that stands under its name."""
        if schema.get("enum"):
            return rng.choice(schema["enum"])
        kind = schema.get("type", "string")
        if kind == "boolean":
            return rng.random() < 0.5
        same = [value for cell, value in self.cells if cell == name and _is(value, kind)]
        if same and rng.random() < 0.8:
            return rng.choice(same)
        pool: list[Any] = self.texts if kind == "string" else [n for n in self.numbers if _is(n, kind)]
        pool = pool or [value for _, value in self.cells if _is(value, kind)]
        return rng.choice(pool) if pool else ("" if kind == "string" else rng.randint(1, 10))

    def answer(self, field: AnswerField, rng: random.Random) -> Any:
        """Return a random value of an answer field's type."""
        if field.type == "boolean":
            return rng.random() < 0.5
        pool = [value for _, value in self.cells if _is(value, field.type)]
        pool += self.texts if field.type == "string" else [n for n in self.numbers if _is(n, field.type)]
        return rng.choice(pool) if pool else ("" if field.type == "string" else rng.randint(0, 10))

    def best(self, field: AnswerField) -> Any:
        """Return the value whose cell's name shares most words with an answer field."""
        empty = {"string": "", "boolean": False}.get(field.type, 0)
        return next(iter(self.ranked(field)), empty)

    def ranked(self, field: AnswerField) -> list[Any]:
        """Return the cells' values that fit an answer field, those whose names share most words with it first."""
        wanted = words_of(field.name)
        found = [(len(wanted & words_of(cell)), value) for cell, value in self.cells if _is(value, field.type)]
        return list(dict.fromkeys(value for _, value in sorted(found, key=lambda pair: -pair[0])))

    def fill(self, tool: ToolSignature) -> dict[str, Any] | None:
        """Return arguments for a tool from cells and prompt; None if a required one is lacking."""
        arguments: dict[str, Any] = {}
        needed = tool.parameters.get("required", ())
        texts, numbers = list(self.texts), list(self.numbers)
        for name, schema in tool.parameters.get("properties", {}).items():
            kind = schema.get("type", "string")
            option = next((o for o in schema.get("enum", ()) if o in texts), None)
            cell = next((value for cell, value in self.cells if cell == name and _is(value, kind)), None)
            if option is not None:
                arguments[name] = option
                texts.remove(option)
            elif cell is not None and name in needed:
                arguments[name] = cell
            elif name in needed and kind == "string" and texts and not schema.get("enum"):
                arguments[name] = texts.pop(0)
            elif name in needed and kind in ("integer", "number") and numbers:
                arguments[name] = numbers.pop(0)
            elif name in needed:
                return None
        for name, schema in tool.parameters.get("properties", {}).items():
            if name not in arguments and not schema.get("enum") and schema.get("type") == "string" and texts:
                arguments[name] = texts.pop(0)
                break
        return arguments


def _cells(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _cells(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _cells(item, name)
    elif value is not None:
        yield name, value


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int)
    if kind == "number":
        return isinstance(value, (int, float))
    return kind == "string" and isinstance(value, str)


@dataclass(frozen=True)
class Solution:
    """A task's executed oracle: its calls (minted keys as references) and its answer."""

    calls: tuple[Call, ...]
    answer: dict[str, Any]


class NoisyOracle:
    """Follows the oracle but leaves each step out with probability `noise`, and then lacks a field of the answer.

    A stand-in for solvers of different strength when measuring difficulty; it is no solver, as it is told the solution.
    Its error is per step, so that it measures how long a task is.
    """

    def __init__(self, solutions: Mapping[str, Solution], noise: float) -> None:
        """Take the solutions by prompt."""
        self.policy_id = f"noisy-oracle-{noise:.2f}"
        self.solutions, self.noise = dict(solutions), noise

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return the next move of each view's plan.

        Raises:
            KeyError: for a prompt without a solution.
        """
        found: list[Call | Answer] = []
        for view, seed in zip(views, seeds, strict=True):
            calls, answer = self.plan(view.prompt, seed)
            if len(view.steps) >= len(calls):
                found.append(Answer(answer))
                continue
            call = calls[len(view.steps)]
            try:
                arguments = resolve_references(call.arguments, [step.observation for step in view.steps])
                found.append(Call(tool=call.tool, arguments=arguments))
            except UnresolvedReference:
                found.append(Answer(answer))
        return found

    def plan(self, prompt: str, seed: int) -> tuple[tuple[Call, ...], dict[str, Any]]:
        """Return the calls and the answer of one attempt, the same for the same prompt and seed."""
        solution = self.solutions[prompt]
        rng = random.Random(f"{seed}/{prompt}")  # the same draws at every noise level: more noise never errs less
        numbers: dict[int, int] = {}
        calls: list[Call] = []
        spoilt = False
        for number, call in enumerate(solution.calls):
            if rng.random() < self.noise:
                spoilt = True  # what this step showed is not known
                continue
            arguments = {}
            for name, value in call.arguments.items():
                if is_reference(value):
                    step, dot, rest = value["$ref"].partition(".")
                    if int(step) not in numbers:
                        break
                    value = {"$ref": f"{numbers[int(step)]}{dot}{rest}"}
                arguments[name] = value
            else:
                numbers[number] = len(calls)
                calls.append(Call(tool=call.tool, arguments=arguments))
        answer = dict(solution.answer)
        if spoilt and answer:
            answer[rng.choice(sorted(answer))] = None
        return tuple(calls), answer
