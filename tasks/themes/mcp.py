"""Reads an MCP server specification: the JSON of `tools/list` with the server's name and description.

Accepted: `{"name", "description", "tools": [...]}`, a bare `tools/list` result, or the JSON-RPC message that holds it
(`{"result": {"tools": [...]}}`), with `serverInfo` where a client recorded it. A tool is `{"name", "description",
"inputSchema"}` as in the Model Context Protocol. Two keys of our own under `_meta`: "data_needed" and "rules" (lists of
sentences), for specifications that are written as designs.
"""

from __future__ import annotations

from typing import Any

from schemas.theme import Operation
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import plain, refusing, shorten, snake, unique


def is_mcp(value: Any) -> bool:
    """Say whether a JSON value looks like a `tools/list` result."""
    body = _body(value)
    return isinstance(body, dict) and isinstance(body.get("tools"), list)


def read_mcp(value: Any, *, fallback_name: str = "") -> Reading:
    """Return the reading of a `tools/list` JSON value; `fallback_name` names a server that states no name.

    Raises:
        UnreadableSource: if a tool has no name or a malformed schema, or there is no tool.
    """
    body, meta, info = _body(value), _mapping(value.get("_meta")), _mapping(value.get("serverInfo"))
    operations, rules = [], []
    for position, tool in enumerate(body["tools"]):
        operation, text = _operation(position, tool)
        operations.append(operation)
        rules += [(operation.name, line) for line in refusing(text)]
    description = str(value.get("description") or value.get("instructions") or info.get("description") or "")
    stated = [("", line) for line in _texts(meta.get("rules"))] + [("", line) for line in refusing(plain(description))]
    return Reading(
        kind="mcp",
        name=str(value.get("title") or value.get("name") or info.get("title") or info.get("name") or fallback_name),
        description=shorten(plain(description)) or shorten(" ".join(one.description for one in operations), 300),
        operations=tuple(operations),
        needs=unique(_texts(meta.get("data_needed"))),
        rules=rule_lines(rules + stated),
        licence=str(meta.get("licence") or ""),
        api=str(value.get("api") or ""),
        api_version=str(value.get("api_version") or info.get("version") or ""),
    )


def _body(value: Any) -> Any:
    """Return the part that holds "tools": the value itself or its JSON-RPC result."""
    if isinstance(value, dict) and "tools" not in value and isinstance(value.get("result"), dict):
        return value["result"]
    return value


def _operation(position: int, tool: Any) -> tuple[Operation, str]:
    """Return a tool as an operation and its whole description as prose."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"].strip():
        raise UnreadableSource("broken_tool", f"tools[{position}] has no name: every MCP tool needs one")
    schema = tool.get("inputSchema", {})
    properties = schema.get("properties", {}) if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        raise UnreadableSource("broken_tool", f"tools[{position}] ({tool['name']}): inputSchema is no object schema")
    text = plain(str(tool.get("description") or tool.get("title") or ""))
    parameters = unique(snake(str(name)) for name in properties)
    return Operation(name=snake(tool["name"]), description=shorten(text, 400), parameters=parameters), text


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
