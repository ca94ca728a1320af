"""Queries that a model wrote: they run in the sandbox only, as calls of a reading tool of the factory's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from schemas.database import Database
from schemas.task import Call
from schemas.tool import Tool
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker

QUERY = "query__state"
"""The tool's name; no model's or rule's tool can have it, since theirs hold no double underscore."""

_SOURCE = f'''"""Answers queries of tests."""


def {QUERY}(ctx, *, sql):
    """Return the first column of all rows."""
    return {{"values": [next(iter(row.values())) for row in ctx.db.rows(sql)]}}
'''


def query_tool(env_id: str) -> Tool:
    """Return the tool that answers {"values": [...]}: the first column of a query's rows."""
    text = {"type": "string", "description": "One SELECT."}
    return Tool(
        env_id=env_id, name=QUERY, kind="read", description="Answers queries of tests.",
        parameters={"type": "object", "properties": {"sql": text}, "required": ["sql"], "additionalProperties": False},
        source_code=_SOURCE,
    )  # fmt: skip


def query_call(sql: str) -> Call:
    """Return the call that runs a query."""
    return Call(tool=QUERY, arguments={"sql": sql})


def query_result(observation: dict[str, Any]) -> tuple[list[Any], str]:
    """Return (values, '') of an answered query, or ([], why it could not be answered)."""
    if "values" in observation:
        return list(observation["values"]), ""
    error = observation.get("error")
    return [], str(error.get("message") if isinstance(error, dict) else observation)


class Queries:
    """Answers a model's queries over the initial state of an environment; equal ones run once."""

    def __init__(self, database: Database, snapshot: bytes, worker: SandboxWorker) -> None:
        tool = query_tool(database.env_id)
        self._image = replace(EnvironmentImage.of(database, [tool], snapshot), foreign=True)
        self._worker = worker
        self._known: dict[str, tuple[list[Any], str]] = {}

    def run(self, queries: Sequence[str]) -> list[tuple[list[Any], str]]:
        """Return (values, fault) of each query, in order."""
        for sql in dict.fromkeys(queries):
            if sql not in self._known:
                outcome = self._worker.run_episode([query_call(sql)], image=self._image)
                ended = [], f"the sandbox ended it: {outcome.error}"
                self._known[sql] = ended if outcome.error else query_result(outcome.steps[0].observation)
        return [self._known[sql] for sql in queries]
