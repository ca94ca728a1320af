"""Running unit tests in the sandbox and judging each by its expectations.

The queries of rules' tests run over a copy of the state in this process. Those of a model's tests run in the sandbox,
at the end of the episode, where the image holds `tasks.coding.query.query_tool`.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from schemas.base import canonical_json
from schemas.database import Database
from schemas.task import Call, Change
from schemas.tool import ToolTest
from tasks.coding.query import QUERY, query_call, query_result
from tasks.coding.witness import altered
from tasks.coding.words import identifier
from tasks.environment import EnvironmentImage
from tasks.sandbox import EpisodeOutcome, SandboxWorker

_FIRST_GROUP, _GROUP = 4, 12
"""Tests that share a process: the first ones of a mutant, which most mutants fail, and later ones."""

_PART = re.compile(r"\.?([^.\[\]]+)|\[(\d*)\]")


@dataclass(frozen=True)
class Result:
    """A test that was run: '' or why it failed, the tested call's observation and what the episode changed.

    `broke` is '' or how the sandbox ended the episode (timeout, memory, killed, output, ...).
    """

    test: ToolTest
    message: str
    observation: dict[str, Any]
    changes: tuple[Change, ...] = ()
    broke: str = ""


class Trial:
    """Runs tests of one environment. Use it by `with`."""

    def __init__(self, database: Database, snapshot: bytes, worker: SandboxWorker) -> None:
        self._snapshot = snapshot
        self._images: dict[tuple[str, tuple[str, ...]], EnvironmentImage] = {}
        self._keys = {table.name: table.key for table in database.tables}
        self._worker = worker
        self._setups: dict[str, tuple[Change, ...]] = {}
        self._state = sqlite3.connect(":memory:", isolation_level=None)
        self._state.deserialize(snapshot)
        self._state.execute("PRAGMA foreign_keys = 0")

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self._state.close()

    def run(self, image: EnvironmentImage, tests: Sequence[ToolTest], tool: str = "", *, stop: bool = False
            ) -> list[Result]:  # fmt: skip
        """Return the results of the tests, up to the first one that breaks its episode.

        The first test runs in a process of its own, so that a tool which never answers costs one time limit; the
        others share a process by groups, each from the initial state.

        Args:
            image: the environment with the tools.
            tests: tests of one tool.
            tool: run the tests on this tool of the image instead (a mutant of theirs).
            stop: stop behind the first failing test.
        """
        groups: dict[tuple[str, ...], list[ToolTest]] = {}
        for test in tests:
            groups.setdefault(test.state, []).append(test)
        results: list[Result] = []
        for statements, group in groups.items():
            results += self._run_group(self.image(image, statements), group, tool, stop)
            if results[-1].broke or (stop and results[-1].message):
                break
        return results

    def image(self, image: EnvironmentImage, statements: tuple[str, ...]) -> EnvironmentImage:
        """Return the environment with its snapshot altered by the statements."""
        if not statements:
            return image
        key = image.digest, statements
        if key not in self._images:
            self._images[key] = replace(image, snapshot=altered(self._snapshot, statements))
        return self._images[key]

    def _run_group(self, image: EnvironmentImage, tests: Sequence[ToolTest], tool: str, stop: bool) -> list[Result]:
        results: list[Result] = []
        position, size = 0, _FIRST_GROUP if stop else 1
        while position < len(tests):
            group = tests[position : position + size]
            position, size = position + size, _GROUP
            episodes = [([*_calls(test, tool), *_queries(test, image)], 0) for test in group]
            isolation: Literal["episode", "environment"] = "episode" if len(group) == 1 else "environment"
            outcomes = self._worker.run_episodes(episodes, image, isolation=isolation)
            for test, outcome in zip(group, outcomes, strict=True):
                results.append(self.judge(test, outcome, image, tool))
                if results[-1].broke or (stop and results[-1].message):
                    return results
        return results

    def judge(self, test: ToolTest, outcome: EpisodeOutcome, image: EnvironmentImage, tool: str = "") -> Result:
        """Return the result of a test from what its episode did."""
        if outcome.error:
            return Result(test, f"the sandbox ended it: {outcome.error}", {}, (), outcome.error)
        queries = len(_queries(test, image))
        observation = outcome.steps[-1 - queries].observation
        message = _refusal_fault(test, observation) or _observation_fault(test, observation)
        if not message and test.unchanged:
            before = self._setup_changes(test, image, tool)
            if canonical_json([c.model_dump() for c in before]) != canonical_json(
                [c.model_dump() for c in outcome.changes]
            ):
                message = "the call changed the state, which it must not"
        if queries:
            answers = [query_result(step.observation) for step in outcome.steps[-queries:]]
            message = message or _answer_fault(test, answers)
        else:
            message = message or self._query_fault(test, outcome.changes)
        return Result(test, message, observation, outcome.changes)

    def _setup_changes(self, test: ToolTest, image: EnvironmentImage, tool: str) -> tuple[Change, ...]:
        """Return what the setup alone changes; nothing if it only repeats a call that refuses or reads."""
        if not test.setup:
            return ()
        calls = _calls(test, tool)[:-1]
        key = image.digest + canonical_json([call.model_dump() for call in calls])
        if key not in self._setups:
            self._setups[key] = self._worker.run_episode(calls, 0, image).changes
        return self._setups[key]

    def _query_fault(self, test: ToolTest, changes: Sequence[Change]) -> str:
        if not test.sql:
            return ""
        self._state.execute("SAVEPOINT test")
        try:
            for statement in test.state:
                self._state.execute(statement)
            for change in changes:
                self._apply(change)
            for query, expected in test.sql:
                row = self._state.execute(query).fetchone()
                found = None if row is None else row[0]
                if not same(found, expected):
                    return f"{query} gives {found!r} instead of {expected!r}"
        except sqlite3.Error as error:
            return f"the final state cannot be queried: {error}"
        finally:
            self._state.execute("ROLLBACK TO test")
            self._state.execute("RELEASE test")
        return ""

    def _apply(self, change: Change) -> None:
        table, key = identifier(change.table), identifier(self._keys.get(change.table, "name"))
        if change.operation != "insert":
            self._state.execute(f"DELETE FROM {table} WHERE {key} = ?", (change.key,))
        if change.after is not None:
            names = ", ".join(identifier(name) for name in change.after)
            marks = ", ".join("?" for _ in change.after)
            self._state.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(change.after.values()))


def _calls(test: ToolTest, tool: str) -> list[Call]:
    """Return setup and tested call; `tool` takes the tested tool's place throughout."""
    calls = [Call(tool=step["tool"], arguments=step["arguments"]) for step in test.setup]
    calls.append(Call(tool=test.tool, arguments=test.arguments))
    if not tool:
        return calls
    return [call.model_copy(update={"tool": tool}) if call.tool == test.tool else call for call in calls]


def _queries(test: ToolTest, image: EnvironmentImage) -> list[Call]:
    """Return the calls that run a test's queries in the sandbox; none where the image has no tool for it."""
    return [query_call(query) for query, _ in test.sql] if QUERY in image.tools else []


def _answer_fault(test: ToolTest, answers: Sequence[tuple[list[Any], str]]) -> str:
    for (query, expected), (values, fault) in zip(test.sql, answers, strict=True):
        if fault:
            return f"the final state cannot be queried by {query}: {fault}"
        found = values[0] if values else None
        if not same(found, expected):
            return f"{query} gives {found!r} instead of {expected!r}"
    return ""


def _refusal_fault(test: ToolTest, observation: dict[str, Any]) -> str:
    error = observation.get("error")
    code = error.get("code", "") if isinstance(error, dict) else ""
    if test.error and code != test.error:
        answered = f"it refused with {code}" if code else "it did not refuse"
        return f"{answered} instead of {test.error}"
    if not test.error and "error" in observation and "error" not in test.observation:
        message = error.get("message", "") if isinstance(error, dict) else ""
        return f"it refused with {code or error!r}: {message}"
    return ""


def _observation_fault(test: ToolTest, observation: dict[str, Any]) -> str:
    for path, expected in test.observation.items():
        try:
            found = at(observation, path)
        except (KeyError, IndexError, TypeError):
            return f"there is no {path} in the answer"
        if not same(found, expected):
            return f"{path} is {_short(found)} instead of {_short(expected)}"
    return ""


def at(value: Any, path: str) -> Any:
    """Return what stands at a path: "orders[0].total", or for "orders[].total" the list of all of them.

    Raises:
        KeyError, IndexError, TypeError: if nothing stands there.
    """
    if isinstance(value, dict) and path in value:
        return value[path]
    for match in _PART.finditer(path):
        name, place = match.groups()
        if name is not None:
            value = value[name]
        elif place:
            value = value[int(place)]
        else:
            rest = path[match.end() :].lstrip(".")
            return [at(item, rest) if rest else item for item in value]
    return value


def same(found: Any, expected: Any) -> bool:
    """Say whether two JSON values are equal; numbers up to rounding noise (1e-9 of them, or 2e-6)."""
    if isinstance(found, list) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in found)
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=2e-6 if isinstance(found, float) else 0)
    return found == expected and type(found) is type(expected)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
