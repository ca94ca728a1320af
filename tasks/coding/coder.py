"""The coder: from a database's schema and snapshot to the environment's tools and its own tests of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from schemas.actions import check_actions
from schemas.database import Database
from schemas.tool import Tool, ToolTest
from tasks.coding.actions import refusal_sentences, write_action
from tasks.coding.keys import key_prefix
from tasks.coding.plan import Plan, plan_tools
from tasks.coding.readers import write_reader
from tasks.coding.render import render_tool
from tasks.coding.signature import json_schema, row_fields
from tasks.coding.words import RESERVED_NAMES


class Coder(Protocol):
    """Whoever writes an environment's tools, by rules or by a model; all pass the same gates."""

    author: str

    def write_tools(self, database: Database, seed: int, snapshot: bytes | None = None) -> list[Tool]:
        """Return tools for the database, the same ones for the same inputs."""
        ...

    def write_tests(self, database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int) -> list[ToolTest]:
        """Return the coder's own unit tests of its tools."""
        ...


class RuleCoder:
    """Writes tools from templates: every action of the database, and reading tools for its important tables."""

    author = "rules"

    def write_tools(self, database: Database, seed: int, snapshot: bytes | None = None) -> list[Tool]:
        """Return 12 to 25 tools for a usual database. `snapshot` tells the prefix of the keys that creates mint.

        Actions that do not fit the tables are left out; `crosscheck` rejects them with the reason.
        """
        broken = {line.split(":")[0] for line in check_actions(database)}
        tools = []
        for plan in plan_tools(database, seed):
            if plan.name in RESERVED_NAMES or (plan.action is not None and plan.name in broken):
                continue
            if plan.action is not None:
                tools.append(self._action_tool(database, plan, snapshot))
            else:
                tools.append(write_reader(database, plan, self.author))
        return tools

    def write_tests(self, database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int) -> list[ToolTest]:
        """Return the examples that whoever wrote the tools would try first, expected values computed by SQL."""
        from tasks.coding.examples import write_examples

        return write_examples(database, snapshot, tools, seed)

    def _action_tool(self, database: Database, plan: Plan, snapshot: bytes | None) -> Tool:
        action = plan.action
        assert action is not None and plan.table is not None
        made = write_action(database, action, key_prefix(plan.table, snapshot))
        text = f"{action.description.rstrip('. ')}. {refusal_sentences(action, plan.table, made.refusals)}"
        source = render_tool(
            "action", database.name, plan.name, made.parameters, text, body="\n".join(made.body), imports=made.imports,
        )  # fmt: skip
        return Tool(
            env_id=database.env_id, name=plan.name, kind=plan.kind, description=text,
            parameters=json_schema(made.parameters), inputs=tuple(p.field for p in made.parameters),
            outputs=tuple(row_fields(plan.table)), table=plan.table.name, action=action.name,
            reads=tuple(sorted(made.reads)), writes=tuple(sorted(made.writes)), source_code=source,
            author=self.author,
        )  # fmt: skip
