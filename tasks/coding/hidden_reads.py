"""Which tables a tool really reads: its tests run once more without those that it says it leaves alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas.database import Database
from schemas.tool import Tool, ToolTest
from tasks.coding.trial import Result, same
from tasks.coding.words import identifier

Run = Callable[[Sequence[ToolTest]], list[Result]]
"""Runs tests of one tool."""


def hidden_reads(database: Database, tool: Tool, results: Sequence[Result], run: Run) -> str:
    """Return how a tool that rules did not write answers otherwise without the tables that it does not declare, or "".

    Tables stay that a written one refers to, or that refer to it: there the database reads by itself.

    Args:
        results: of its tests, all passed.
    """
    if tool.author == "rules":
        return ""
    links = {(table.name, c.references.partition(".")[0]) for table in database.tables for c in table.columns}
    kept = {*tool.reads, *tool.writes}
    kept |= {there for here, there in links if here in tool.writes} | {h for h, there in links if there in tool.writes}
    names = [*(table.name for table in database.tables), "documents"]
    dropped = tuple(f"DROP TABLE {identifier(name)}" for name in names if name not in kept)
    plain = [result for result in results if not result.test.setup and not result.test.sql]
    if not dropped or not plain:
        return ""
    again = run([result.test.model_copy(update={"state": dropped}) for result in plain])
    for before, after in zip(plain, again, strict=False):
        if not same(before.observation, after.observation):
            error = after.observation.get("error")
            told = error.get("message", "") if isinstance(error, dict) else after.broke
            return f"it reads more than it declares: without all other tables, {before.test.name} goes wrong: {told}"
    return ""
