"""Reads one MCP server as registries describe it, and finds the servers in a registry's answer.

Two forms: the official registry's (`server.json`, or `{"server": {...}, "_meta": {...}}` in a page) and Smithery's
(`qualifiedName`, `displayName`, `tools`). A page or an export holds many servers: `{"servers": [...]}`, a list, or one
server a line; each becomes a theme of its own. The official form lists no tools: such a server is refused with the gate
no_tools, unless its publisher wrote them under `_meta`.
"""

from __future__ import annotations

from typing import Any

from tasks.themes.licences import licence_of
from tasks.themes.mcp import read_mcp
from tasks.themes.reading import Reading, UnreadableSource

_MARKS = {"server": dict, "qualifiedName": str, "packages": list, "remotes": list}
_PUBLISHED = "io.modelcontextprotocol.registry/publisher-provided"
_OFFICIAL = "io.modelcontextprotocol.registry/official"
_GONE = ("deprecated", "deleted")


def is_server(value: Any) -> bool:
    """Say whether a JSON value describes one server in a registry's form."""
    if not isinstance(value, dict) or not any(isinstance(value.get(key), kind) for key, kind in _MARKS.items()):
        return False
    inner = value.get("server") if isinstance(value.get("server"), dict) else value
    return isinstance(inner.get("name") or inner.get("qualifiedName"), str)


def servers_in(value: Any) -> list[Any] | None:
    """Return the servers of a registry's page or of an export; None for any other JSON value."""
    if isinstance(value, dict) and isinstance(value.get("servers"), list):
        found = value["servers"]
    elif isinstance(value, list):
        found = value
    else:
        return None
    # OpenAPI has "servers" too: a listing is known by what its members look like
    listed = any(is_server(one) or (isinstance(one, dict) and "name" in one and "tools" in one) for one in found)
    return found if listed else None


def server_name(value: Any) -> str:
    """Return the name that the registry knows a server by, "" if it has none."""
    inner = _inner(value)
    name = inner.get("qualifiedName") or inner.get("name")
    return name if isinstance(name, str) else ""


def read_server(value: dict[str, Any]) -> Reading:
    """Return the reading of one server.

    Raises:
        UnreadableSource: gates deprecated, no_tools, or those of `read_mcp`.
    """
    inner, name = _inner(value), server_name(value)
    meta = _mapping(value.get("_meta")) | _mapping(inner.get("_meta"))
    official, published = _mapping(meta.get(_OFFICIAL)), _mapping(meta.get(_PUBLISHED))
    status = str(official.get("status") or inner.get("status") or "")
    if status in _GONE:
        raise UnreadableSource("deprecated", f"the registry says that {name} is {status}")
    tools = inner.get("tools") or published.get("tools")
    if not isinstance(tools, list) or not tools:
        raise UnreadableSource(
            "no_tools", f"the registry lists no tools of {name}: ask the server itself (--mcp-command or --mcp-url)"
        )
    spoken = name.rpartition("/")[2].replace("-", " ").replace("_", " ").strip()
    return read_mcp(
        {
            "title": inner.get("displayName") or inner.get("title") or spoken,
            "description": inner.get("description"),
            "tools": [{"name": one} if isinstance(one, str) else _tool(one) for one in tools],
            "_meta": {"licence": licence_of(inner.get("license") or published.get("license"))},
            "api": f"mcp:{name}",
            "api_version": str(inner.get("version") or _mapping(inner.get("version_detail")).get("version") or ""),
        }
    )


def _inner(value: Any) -> dict[str, Any]:
    outer = _mapping(value)
    return outer["server"] if isinstance(outer.get("server"), dict) else outer


def _tool(value: Any) -> Any:
    """Return a tool with its schema under the protocol's name, whichever way the export spelled it."""
    if isinstance(value, dict) and "inputSchema" not in value:
        schema = value.get("input_schema") or value.get("parameters")
        return {**value, "inputSchema": schema if isinstance(schema, dict) else {}}
    return value


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
