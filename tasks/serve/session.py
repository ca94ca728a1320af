"""A session: one client's private episode, its limits, and the verdict over it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from schemas.task import Change
from tasks.dialogue import ASK_USER, answers, rule_user
from tasks.environment import shaped_reward, verify
from tasks.sandbox import SandboxError, SandboxWorker
from tasks.serve.limits import ServeLimits
from tasks.serve.served import Served


def refusal(code: str, message: str) -> dict[str, Any]:
    """Return the observation of a call that was not carried out."""
    return {"error": {"code": code, "message": message}}


class Session:
    """A private episode in a sandbox of its own. Use it from one thread at a time; its methods block.

    The sandbox is not shared with another session, so that a slow or hostile call in one never delays the others.

    Args:
        served: what to serve.
        limits: what the session may use.
        seed: seeds the episode's ids and chance.
        clock: returns seconds, for tests.

    Raises:
        SandboxError: "start" or "refused", if the environment does not come up.
    """

    def __init__(
        self,
        served: Served,
        limits: ServeLimits | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.served = served
        self.limits = limits or ServeLimits()
        self.calls = 0
        self._used = 0
        self._clock = clock
        self._started = clock()
        self._tools = {tool.name for tool in served.tools}
        self._user = rule_user(served.task, seed) if served.task is not None else None
        self._changes: tuple[Change, ...] | None = None
        self._error = ""
        self._verdict: dict[str, Any] | None = None
        self._worker: SandboxWorker | None = SandboxWorker(self.limits.sandbox)
        try:
            self._episode = self._worker.episode(seed, served.image)
        except BaseException:
            self._worker.close()
            raise

    @property
    def live(self) -> bool:
        """Whether the episode goes on: not scored, not ended."""
        return self._worker is not None

    @property
    def seconds(self) -> float:
        """Seconds since the session began."""
        return self._clock() - self._started

    @property
    def scored(self) -> bool:
        """Whether the episode was judged."""
        return self._verdict is not None

    def _refuse(self) -> dict[str, Any] | None:
        """Take one use from the budget, or say why there is none."""
        if not self.live:
            return refusal("EPISODE_OVER", "The episode is over; start a new session.")
        if self.seconds > self.limits.session_s:
            return refusal("SESSION_TIME", f"The session's {self.limits.session_s:g} s are over; start a new session.")
        if self._used >= self.limits.calls:
            return refusal("CALL_LIMIT", f"The session has made its {self.limits.calls} calls; start a new session.")
        self._used += 1
        return None

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its observation; a limit that is hit is an observation too: {"error": ...}."""
        if tool not in self._tools:
            return refusal("UNKNOWN_TOOL", f"There is no tool {tool!r}.")
        refused = self._refuse()
        if refused is not None:
            return refused
        self.calls += 1
        if tool == ASK_USER and self._user is not None:
            return answers(self._user)(arguments)
        return self._guarded(lambda: self._episode.call(tool, dict(arguments)))

    def read(self, document: str) -> dict[str, Any]:
        """Return {"content": text} of a document as it stands in this episode, or {"error": ...}."""
        quoted = document.replace("'", "''")
        if "\0" in document or all(document != known.name for known in self.served.database.documents):
            return refusal("NOT_FOUND", f"There is no document {document!r}.")
        refused = self._refuse()
        if refused is not None:
            return refused
        found = self._guarded(
            lambda: {"rows": self._episode.query(f"SELECT content FROM documents WHERE name = '{quoted}'")}
        )
        if "error" in found:
            return found
        if not found["rows"]:
            return refusal("NOT_FOUND", f"The document {document!r} is gone.")
        content = str(found["rows"][0]["content"])
        if len(content) > self.limits.output_chars:
            return self._too_long(f"The document has {len(content)} characters")
        return {"content": content}

    def _guarded(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return work()
        except SandboxError as error:
            if error.outcome == "output":
                return self._too_long("The result is too long")
            self._error = error.outcome
            return refusal(error.outcome.upper(), f"{error}. The episode is lost; start a new session.")
        except (ValueError, TypeError, RecursionError) as error:
            return refusal("INVALID_ARGUMENTS", f"The arguments are no JSON: {error}.")

    def _too_long(self, what: str) -> dict[str, Any]:
        return refusal("OUTPUT_LIMIT", f"{what}; the limit is {self.limits.output_chars} characters. Ask for less.")

    def end(self) -> None:
        """End the episode and free its sandbox. What it changed is kept if a task is to be judged by it."""
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        try:
            if self.served.task is not None:
                self._changes = self._episode.changes()
        except SandboxError as error:
            self._error = self._error or error.outcome
        finally:
            self._episode.close()
            worker.close()

    def score(self, answer: Mapping[str, Any] | None) -> dict[str, Any]:
        """End the episode and judge it by the answer and by what it changed; the first verdict stands.

        The difference is computed and judged in this process, outside the reach of the tools' code.

        Returns:
            {"task_id", "success", "reward", "checks", "calls", "oracle_calls", "error"}; `reward` is `shaped_reward`,
            `error` is why the episode was lost ("timeout", ...) or "".

        Raises:
            ValueError: if no task is served.
        """
        task = self.served.task
        if task is None:
            raise ValueError("no task is served, so there is nothing to score")
        if self._verdict is None:
            self.end()
            verdict = verify(task.verifier, answer, self._changes or ())
            verdict = replace(verdict, success=verdict.success and not self._error)
            self._verdict = {
                "task_id": task.task_id,
                "success": verdict.success,
                "reward": shaped_reward(verdict, self.calls, task.oracle_calls),
                "checks": verdict.checks,
                "calls": self.calls,
                "oracle_calls": task.oracle_calls,
                "error": self._error,
            }
        return self._verdict
