"""One episode: an attempt in a private copy of an environment, in a process of its own."""

from __future__ import annotations

import functools
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from schemas.episode import Step
from schemas.task import Call, Change
from tasks.environment import Differ, EnvironmentImage, StateError, check_pages, open_state
from tasks.environment.runtime.text import dumps
from tasks.sandbox.child import Child, encode_calls
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.limits import Limits
from tasks.sandbox.outcomes import ScriptOutcome, changes_of, make_steps

_SLACK = 65536
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


_named = functools.lru_cache(maxsize=1024)(dumps)
"""A tool's name as JSON text: few names are called over and over."""


class Episode:
    """A private copy of an environment; made by `SandboxWorker.episode`, closed by `with`.

    Every method raises `SandboxError` if the episode's process fails; after "output" the episode goes on.
    """

    def __init__(
        self,
        child: Child,
        image: EnvironmentImage,
        differ: Differ,
        limits: Limits,
        start_script: Callable[[str, str], Child],
        release: Callable[[], None],
    ) -> None:
        self._child = child
        self._image = image
        self._differ = differ
        self._limits = limits
        self._start_script = start_script
        self._release = release
        self._closed = False

    def __enter__(self) -> Episode:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the episode and free its process."""
        if not self._closed:
            self._closed = True
            self._release()

    def _request(
        self, operation: str, arguments: str = "", *, seconds: float | None = None, limit: int
    ) -> tuple[Any, bytes]:
        if self._closed:
            raise SandboxError("closed", "the episode is over")
        seconds = self._limits.wall_s if seconds is None else seconds
        return self._child.request(operation, arguments, seconds=seconds, limit=limit + _SLACK)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call one tool and return its observation.

        Raises:
            ValueError, TypeError: if JSON cannot hold the arguments.
        """
        return self._call(tool, arguments, self._limits.wall_s)

    def _call(self, tool: str, arguments: dict[str, Any], seconds: float) -> dict[str, Any]:
        text, limit = f"{_named(tool)},{dumps(arguments)}", 4 * self._limits.output_bytes
        result, _ = self._request("call", text, seconds=seconds, limit=limit)
        if not isinstance(result, dict):
            raise SandboxError("protocol", "the observation is no JSON object")
        return result

    def run(self, calls: Sequence[Call]) -> tuple[Step, ...]:
        """Run calls in one message; their references see the observations of this batch, the first one at 0."""
        limit = 8 * self._limits.output_bytes * max(1, len(calls))
        seconds = self._limits.wall_s * max(1, len(calls))
        result, _ = self._request("run", encode_calls(calls), seconds=seconds, limit=limit)
        return make_steps(calls, result)

    def script(
        self, source: str, outside: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None
    ) -> ScriptOutcome:
        """Run a module's `solve(call)` in another process, which has no state; its calls are run and recorded here.

        `outside` answers calls of these names in this process instead of the episode (a question to the user).

        Never raises for what the script or the tools do: `error` says it.
        """
        script = self._start_script(source, self._image.start_time)
        steps: list[Step] = []
        deadline, limit = time.monotonic() + self._limits.script_s, 4 * self._limits.output_bytes + _SLACK
        try:
            while True:
                message = script.receive(deadline, limit)
                kind = message[0] if isinstance(message, list) and message else None
                if kind == "call" and len(message) == 3:
                    tool, arguments = message[1:]
                    if not isinstance(tool, str) or not isinstance(arguments, dict):
                        return ScriptOutcome(None, tuple(steps), "protocol: malformed call")
                    if len(steps) >= self._limits.script_calls:
                        return ScriptOutcome(None, tuple(steps), f"output: more than {len(steps)} calls")
                    if outside is not None and tool in outside:
                        observation = outside[tool](arguments)
                    else:
                        left = deadline - time.monotonic()
                        observation = self._call(tool, arguments, min(self._limits.wall_s, max(0.001, left)))
                    steps.append(Step(tool=tool, arguments=arguments, observation=observation))
                    script.send(dumps(["observation", observation]).encode())
                elif kind == "answer" and len(message) == 2 and isinstance(message[1], dict):
                    return ScriptOutcome(message[1], tuple(steps))
                elif kind == "failed" and len(message) == 2:
                    return ScriptOutcome(None, tuple(steps), str(message[1])[:500] or "failed without a word")
                else:
                    return ScriptOutcome(None, tuple(steps), "protocol: malformed message")
        except SandboxError as error:
            return ScriptOutcome(None, tuple(steps), str(error))
        finally:
            script.close()

    def state(self) -> bytes:
        """Return the present state, the bytes of a SQLite file (the snapshot itself if nothing was written)."""
        written, payload = self._request("state", limit=self._limits.state_bytes)
        return payload if written is True else self._image.snapshot

    def changes(self) -> tuple[Change, ...]:
        """Return the difference to the initial state, computed in this process."""
        journal, state = self._request("changes", limit=self._limits.state_bytes)
        return changes_of(self._differ, journal, state)

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Run a reading query over a copy of the present state, in this process, and return its rows.

        Raises:
            ValueError: if the query does not only read, is malformed, or does not end within 20 million instructions.
        """
        try:
            connection = open_state(self.state())
            if self._image.foreign:
                check_pages(connection)
        except StateError as error:
            raise SandboxError("state", str(error)) from error
        looks = iter([0] * 20)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 * 1024 * 1024)
        connection.set_progress_handler(lambda: next(looks, 1), 1_000_000)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
        try:
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except sqlite3.Error as error:
            raise ValueError(f"query {sql!r}: {error}") from error
        finally:
            connection.close()
