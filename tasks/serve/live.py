"""The live sessions of an HTTP server: each with its transport, its end, and the reason for it."""

from __future__ import annotations

import logging
import math
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings

from tasks.serve.limits import ServeLimits
from tasks.serve.served import Served
from tasks.serve.server import SessionServer
from tasks.serve.session import Session

_log = logging.getLogger(__name__)
_REMEMBERED = 256
"""Ended sessions that can still be scored, and whose end is explained to who asks for them."""


class FullError(RuntimeError):
    """As many sessions are live as the server takes."""


@dataclass
class Live:
    """One session. `scope` holds it: its deadline is when the session is over."""

    session_id: str
    one: SessionServer
    transport: StreamableHTTPServerTransport
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    requests: int = 0
    idle_since: float = field(default_factory=anyio.current_time)
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether the server has ended it, or is about to."""
        return self.scope.cancel_called

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request. Calls postpone the end for idleness; an open event stream does not."""
        if scope["method"] != "POST":
            await self.transport.handle_request(scope, receive, send)
            return
        self.requests += 1
        self._postpone()
        try:
            await self.transport.handle_request(scope, receive, send)
        finally:
            self.requests -= 1
            self._postpone()

    def _postpone(self) -> None:
        self.idle_since = anyio.current_time()
        limits = self.one.session.limits
        left = max(0.0, limits.session_s - self.one.session.seconds)
        self.scope.deadline = self.idle_since + (left if self.requests else min(left, limits.idle_s))

    def why(self) -> str:
        """Return why the session is over, in words."""
        limits, session = self.one.session.limits, self.one.session
        if self.reason:
            return self.reason
        if not self.over:
            return "its client ended it"
        if session.seconds >= limits.session_s:
            return f"its {limits.session_s:g} s were over"
        return f"no request came for {limits.idle_s:g} s"


class Sessions:
    """All sessions of a server. Use it by `async with`: leaving ends them all."""

    def __init__(
        self,
        served: Served,
        limits: ServeLimits,
        token: str,
        security: TransportSecuritySettings,
        seed: int = 0,
    ) -> None:
        self.limits = limits
        self.live: dict[str, Live] = {}
        self.ended: OrderedDict[str, Live] = OrderedDict()
        self._served, self._token, self._security, self._seed = served, token, security, seed
        self._opening = 0
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Sessions:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        assert self._tasks is not None
        self.stop()
        return await self._tasks.__aexit__(*error)

    def stop(self) -> None:
        """End all sessions, soon."""
        for live in list(self.live.values()):
            live.reason = "the server was stopped"
            live.scope.cancel()

    async def open(self) -> Live:
        """Begin a session: a sandbox with a private episode, and its transport.

        Raises:
            FullError: if as many are live as the limits allow.
            SandboxError: if the environment does not come up.
        """
        assert self._tasks is not None
        if len(self.live) + self._opening >= self.limits.sessions:
            raise FullError(f"{self.limits.sessions} sessions are live, as many as this server takes; end one, or wait")
        self._opening += 1
        try:
            session = await anyio.to_thread.run_sync(Session, self._served, self.limits, self._seed)
            session_id = uuid.uuid4().hex
            transport = StreamableHTTPServerTransport(
                session_id, is_json_response_enabled=True, security_settings=self._security
            )
            live = Live(session_id, SessionServer(session, self._token), transport)
            self.live[session_id] = live
        finally:
            self._opening -= 1
        await self._tasks.start(self._run, live)
        return live

    async def _run(self, live: Live, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        try:
            with live.scope:
                live.scope.deadline = math.inf
                async with live.transport.connect() as (read, write):
                    task_status.started()
                    await live.one.run(read, write)
        except Exception:  # one session's failure must not end the others, which share the task group
            _log.exception("session %s failed", live.session_id)
            live.reason = "it failed"
        finally:
            self.live.pop(live.session_id, None)
            live.reason = live.why()
            self.ended[live.session_id] = live
            while len(self.ended) > _REMEMBERED:
                self.ended.popitem(last=False)
            with anyio.CancelScope(shield=True):
                await live.transport.terminate()
            await live.one.end()

    def find(self, session_id: str) -> Live | None:
        """Return a session that is live or ended not long ago."""
        return self.live.get(session_id) or self.ended.get(session_id)

    def takes(self, live: Live) -> bool:
        """Say whether a session takes requests."""
        return live.session_id in self.live and not live.over and not live.transport.is_terminated
