"""The protocol's side of a session: what a client may list and call, and the request that scores it."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict

from tasks.serve.offer import (
    PROMPT,
    document_uri,
    offered_document,
    offered_prompts,
    offered_tool,
    task_text,
)
from tasks.serve.session import Session

SCORE_METHOD = "agentworld/score"
"""The request that scores: parameters `token` and `answer` (an object or null), result as `Session.score`."""

T = TypeVar("T")
_Context = ServerRequestContext[Any, Any]


class ScoreParams(types.RequestParams):
    """Parameters of `SCORE_METHOD`; anything is taken, so that a wrong form tells nothing before the token is right."""

    model_config = ConfigDict(extra="allow")

    token: Any = None
    answer: Any = None


class SessionServer:
    """One session behind one MCP server. Blocking calls run in a thread, one at a time and in their order.

    Scoring is no tool, prompt or resource: it is a request of its own that only answers to the token, which the
    operator has and the agent has not. To everyone else it does not exist: the answer is that of any unknown method.

    Args:
        session: the episode.
        token: what the operator must send with `SCORE_METHOD`.
    """

    def __init__(self, session: Session, token: str) -> None:
        self.session = session
        self._token = token
        self._one = anyio.CapacityLimiter(1)
        served = session.served
        self._uris = {document_uri(served.database, one): one for one in served.database.documents}
        task = served.task is not None
        self.server: Server[Any] = Server(
            "agentworld",
            title=served.database.name,
            description=served.database.description,
            instructions=served.database.description,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts if task else None,
            on_get_prompt=self._get_prompt if task else None,
        )
        self.server.add_request_handler(SCORE_METHOD, ScoreParams, self._score)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run work on the session in a thread, after what was asked for before."""
        return await anyio.to_thread.run_sync(work, limiter=self._one)

    async def run(self, read: Any, write: Any) -> None:
        """Serve the session over a pair of message streams until the client closes them; `end` is for the caller."""
        await self.server.run(read, write, self.server.create_initialization_options())

    async def end(self) -> None:
        """End the episode and free its sandbox, after the call under way, even in a cancelled scope."""
        with anyio.CancelScope(shield=True):
            await self.in_thread(self.session.end)

    async def _list_tools(self, _: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        served = self.session.served
        return types.ListToolsResult(tools=[offered_tool(tool, served.database) for tool in served.tools])

    async def _call_tool(self, _: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if all(params.name != tool.name for tool in self.session.served.tools):
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]!r}")
        observation = await self.in_thread(lambda: self.session.call(params.name, params.arguments or {}))
        return types.CallToolResult(
            content=[types.TextContent(text=json.dumps(observation, ensure_ascii=False))],
            structured_content=observation,
            is_error="error" in observation,
        )

    async def _list_resources(
        self, _: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        database = self.session.served.database
        return types.ListResourcesResult(resources=[offered_document(database, one) for one in database.documents])

    async def _read_resource(self, _: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        document = self._uris.get(uri)
        if document is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {uri[:200]!r}")
        found = await self.in_thread(lambda: self.session.read(document.name))
        if "error" in found:
            raise MCPError(types.INTERNAL_ERROR, found["error"]["message"], found["error"])
        contents = types.TextResourceContents(uri=uri, mime_type=document.media_type, text=found["content"])
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _: _Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=offered_prompts(self.session.served))

    async def _get_prompt(self, _: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        task = self.session.served.task
        if task is None or params.name != PROMPT:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]!r}")
        text = types.TextContent(text=task_text(task))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def _score(self, _: _Context, params: ScoreParams) -> dict[str, Any]:
        if not (isinstance(params.token, str) and matches(params.token, self._token)):
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found", SCORE_METHOD)
        if params.answer is not None and not isinstance(params.answer, dict):
            raise MCPError(types.INVALID_PARAMS, "the answer must be a JSON object or null")
        try:
            return await self.in_thread(lambda: self.session.score(params.answer))
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error


def matches(given: str, token: str) -> bool:
    """Say whether a token is the right one, in a time that does not tell how much of it is."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())
