"""What tools do to an environment's tables, and which tables none of them finds rows of: planners must know it."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.base import canonical_json
from schemas.database import Action, Database, Table
from schemas.tool import Tool


def unfound_tables(database: Database, tools: Sequence[Tool]) -> list[Table]:
    """Return the tables none of whose keys a tool returns but one that was given it; the topic's own tables first.

    Without such a tool nobody can learn a key of the table, so tools that take one are of no use.
    """
    found = {
        field.of
        for tool in tools
        if tool.kind != "get" and not tool.writes
        for field in tool.outputs
        if field.meaning == "cell"
    }
    missing = [t for t in database.tables if not t.log and f"{t.name}.{t.key}" not in found]
    return sorted(missing, key=lambda table: table.origin != "mined")


def gap_lines(database: Database, tools: Sequence[Tool]) -> list[str]:
    """Return one line for each table of `unfound_tables`."""
    return [
        f"{table.name} (key {table.key}{', the topic itself' if table.origin == 'mined' else ''})"
        for table in unfound_tables(database, tools)
    ]


def effect_lines(database: Database, tools: Sequence[Tool]) -> list[str]:
    """Return one line for each tool that performs an action: the rules that it keeps and all that it changes."""
    actions = {action.name: action for action in database.actions}
    return [f"{tool.name}: {_told(actions[tool.action])}" for tool in tools if tool.action in actions]


def _told(action: Action) -> str:
    parts = [f"{action.kind} {action.table}"]
    if action.kind == "transition":
        parts.append(f"{action.status_column} from {' or '.join(action.from_states)} to {action.to_state}")
    if action.parameters:
        parts.append(f"sets {', '.join(action.parameters)} as given")
    parts += [f"sets {name} to {canonical_json(value)}" for name, value in action.initial.items()]
    parts += [f"{effect.operation}s {effect.path}: {canonical_json(effect.value)}" for effect in action.effects]
    parts += [f"only if {rule.path} {rule.operator} {canonical_json(rule.value)}" for rule in action.rules]
    return "; ".join(parts)
