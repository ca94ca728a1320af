"""Asks a live MCP server what tools it has, through the official SDK.

A server on this machine is started as a child process and spoken to over stdio; one elsewhere is spoken to over
streamable HTTP. The SDK takes a second to import, so it is imported when a server is asked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tasks.themes.reading import UnreadableSource

if TYPE_CHECKING:
    from mcp import ClientSession

TIMEOUT_S = 60.0
"""Long enough for a command that has to download its server first."""

MAX_PAGES = 50


def list_tools(command: Sequence[str], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Return `{"name", "version", "description", "tools"}` of the server that `command` starts; it is ended afterwards.

    Only the fields of the protocol that describe a tool are kept, so that the same server gives the same value.

    Raises:
        UnreadableSource: gate "server_failed", if it does not start, answer in time or speak MCP.
    """
    hint = "; run the command by hand to see why"
    return _within(lambda: _over_stdio(command), timeout_s, f"MCP server `{command[0] if command else ''}`", hint)


def ask_url(url: str, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Return what `list_tools` does, of a server that listens at a URL (streamable HTTP).

    Raises:
        UnreadableSource: gate "server_failed", as `list_tools`.
    """
    return _within(lambda: _over_http(url), timeout_s, f"MCP server {url}")


def _within(
    talk: Callable[[], Awaitable[dict[str, Any]]], timeout_s: float, what: str, hint: str = ""
) -> dict[str, Any]:
    # A thread of its own, since the caller may be inside a running event loop.
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(lambda: asyncio.run(asyncio.wait_for(talk(), timeout_s))).result()
        except TimeoutError:
            reason = f"no answer to tools/list within {timeout_s:g} s"
        except Exception as error:  # whatever a foreign server does is one rejection
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            reason = f"{type(error).__name__}: {error}{hint}"
    raise UnreadableSource("server_failed", f"{what}: {reason}")


async def _over_stdio(command: Sequence[str]) -> dict[str, Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]))
    with open(os.devnull, "w") as silent:
        async with stdio_client(parameters, errlog=silent) as streams, ClientSession(*streams) as session:
            return await _tools(session)


async def _over_http(url: str) -> dict[str, Any]:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
        return await _tools(session)


async def _tools(session: ClientSession) -> dict[str, Any]:
    hello = (await session.initialize()).model_dump(mode="json", by_alias=True)
    tools: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        answer = await session.list_tools(cursor=cursor) if cursor else await session.list_tools()
        page = answer.model_dump(mode="json", by_alias=True)
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    info = hello.get("serverInfo") or {}
    return {
        "name": info.get("title") or info.get("name") or "",
        "version": info.get("version") or "",
        "description": info.get("description") or hello.get("instructions") or "",
        "tools": [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in tools],
    }
