"""Asks an MCP server on this machine what tools it has: started as a child process, spoken to over stdio."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tasks.themes.reading import UnreadableSource

TIMEOUT_S = 30.0
MAX_PAGES = 50


def list_tools(command: Sequence[str], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Return `{"name", "description", "tools"}` of the server that `command` starts; the server is ended afterwards.

    Only the fields of the protocol that describe a tool are kept, so that the same server gives the same value.

    Raises:
        UnreadableSource: gate "server_failed", if it does not start, answer in time or speak MCP.
    """
    # A thread of its own, since the caller may be inside a running event loop.
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(lambda: asyncio.run(asyncio.wait_for(_talk(command), timeout_s))).result()
        except TimeoutError:
            reason = f"no answer to tools/list within {timeout_s:g} s"
        except Exception as error:  # whatever a foreign server does is one rejection
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            reason = f"{type(error).__name__}: {error}"
    raise UnreadableSource("server_failed", f"MCP server `{' '.join(command)}`: {reason}")


async def _talk(command: Sequence[str]) -> dict[str, Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]))
    with open(os.devnull, "w") as silent:
        async with stdio_client(parameters, errlog=silent) as streams, ClientSession(*streams) as session:
            hello = (await session.initialize()).model_dump(mode="json", by_alias=True)
            tools: list[dict[str, Any]] = []
            cursor = None
            for _ in range(MAX_PAGES):
                page = (await session.list_tools(cursor=cursor) if cursor else await session.list_tools()).model_dump(
                    mode="json", by_alias=True
                )
                tools += page["tools"]
                cursor = page.get("nextCursor")
                if not cursor:
                    break
    info = hello.get("serverInfo") or {}
    return {
        "name": info.get("title") or info.get("name") or "",
        "description": info.get("description") or hello.get("instructions") or "",
        "tools": [{key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in tools],
    }
