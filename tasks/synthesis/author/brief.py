"""What a model is told of an environment when it writes goals, solutions and checking scripts."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from schemas.base import canonical_json
from schemas.database import Column, Table
from schemas.tool import Tool
from tasks.synthesis.atlas import Atlas, required

SHOWN_ROWS = 3
LONGEST_CELL = 80
MOST_VALUES = 10


def tables_brief(atlas: Atlas) -> str:
    """Return the tables with their columns; logs are left out."""
    return "\n".join(_table(atlas, table) for table in atlas.database.tables if not table.log)


def rows_brief(atlas: Atlas, rng: random.Random) -> str:
    """Return some rows of each table as JSON, drawn by `rng`."""
    lines = []
    for table in atlas.database.tables:
        rows = atlas.rows[table.name]
        if not table.log and rows:
            places = sorted(rng.sample(range(len(rows)), min(SHOWN_ROWS, len(rows))))
            lines += [f"{table.name}: {canonical_json(_short(rows[place]))}" for place in places]
    return "\n".join(lines)


def counts_brief(atlas: Atlas) -> str:
    """Return how many rows have which state or category, and how many rows refer to one and the same row."""
    lines = []
    for table in atlas.database.tables:
        for column in table.columns if not table.log else ():
            counts = Counter(row.get(column.name) for row in atlas.rows[table.name])
            if column.references and counts:
                least, most = min(counts.values()), max(counts.values())
                lines.append(f"{table.name}.{column.name}: {least} to {most} rows with the same value")
            elif column.role in ("category", "status", "flag") and len(counts) <= MOST_VALUES:
                shown = ", ".join(f"{canonical_json(value)} {n}" for value, n in counts.most_common())
                lines.append(f"{table.name}.{column.name}: {shown}")
    return "\n".join(lines)


def documents_brief(atlas: Atlas) -> str:
    """Return names and titles of the documents, '' if there are none."""
    return "\n".join(f"{name}: {title}" for name, title, _ in atlas.documents())


def tools_brief(atlas: Atlas) -> str:
    """Return the tools: name, what it does, arguments, and the places of what it returns."""
    return "\n\n".join(_tool(tool) for tool in atlas.tools.values())


def tools_list(atlas: Atlas) -> str:
    """Return the tools, one a line: name, arguments with types (`?`: optional), what it returns and does."""
    return "\n".join(
        f"{_signature(tool)} -> {_returned(tool)} ({_kind(tool)}): {tool.description}" for tool in atlas.tools.values()
    )


def changes_brief(atlas: Atlas) -> str:
    """Return the tools that change data, whoever wrote them: what each does, writes and carries out."""
    lines = []
    for tool in atlas.tools.values():
        if tool.writes:
            action = f"; action {tool.action}" if tool.action else ""
            lines.append(f"{_signature(tool)}: {tool.description} [writes {', '.join(tool.writes)}{action}]")
    return "\n".join(lines)


def actions_brief(atlas: Atlas) -> str:
    """Return what the actions do, with the rules under which they are refused and their effects."""
    lines = []
    for action in atlas.database.actions:
        lines.append(f"{action.name} ({action.kind}, {action.table}): {action.description}")
        if action.kind == "transition":
            states = ", ".join(action.from_states)
            lines.append(f"  {action.status_column}: from {states} to {action.to_state}")
        if action.initial:
            lines.append(f"  begins with {canonical_json(action.initial)}")
        lines += [f"  refused unless {r.path} {r.operator} {canonical_json(r.value)}: {r.code}" for r in action.rules]
        lines += [f"  effect: {e.operation} {e.path} {canonical_json(e.value)}" for e in action.effects]
    return "\n".join(lines)


def _table(atlas: Atlas, table: Table) -> str:
    columns = "; ".join(_column(column) for column in table.columns)
    named = f", people name a row by {table.label}" if table.label else ""
    head = f"{table.name} ({len(atlas.rows[table.name])} rows, key {table.key}{named}): {table.description}"
    return f"{head}\n  {columns}"


def _column(column: Column) -> str:
    parts = [f"{column.name} {column.type}"]
    parts += [f"in {column.unit}"] if column.unit else []
    parts += [f"-> {column.references}"] if column.references else []
    parts += [f"one of {', '.join(column.choices)}"] if column.choices else []
    parts += ["may be null"] if column.nullable else []
    parts += [f"({column.description})"] if column.description else []
    return " ".join(parts)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: f"{value[:LONGEST_CELL]}..." if isinstance(value, str) and len(value) > LONGEST_CELL else value
        for name, value in row.items()
    }


def _tool(tool: Tool) -> str:
    needed = set(required(tool))
    given = []
    for name, schema in tool.parameters.get("properties", {}).items():
        told = {key: value for key, value in schema.items() if key not in ("title", "default")}
        state = "required" if name in needed else f"optional, default {canonical_json(schema.get('default'))}"
        given.append(f"  - {name} ({state}): {canonical_json(told)}")
    return "\n".join([f"{tool.name} ({_kind(tool)}): {tool.description}", *given, f"  returns {_returned(tool)}"])


def _kind(tool: Tool) -> str:
    return "changes data" if tool.writes else "reads"


def _returned(tool: Tool) -> str:
    return "; ".join(f"{field.path} {field.type}" for field in tool.outputs) or "a JSON object"


def _signature(tool: Tool) -> str:
    needed = set(required(tool))
    given = [
        f"{name}{'' if name in needed else '?'}: {_type(schema)}"
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    return f"{tool.name}({', '.join(given)})"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(canonical_json(value) for value in schema["enum"])
    kinds = [str(part.get("type", "any")) for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    return " | ".join(kinds)
