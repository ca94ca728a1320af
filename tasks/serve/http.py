"""The HTTP application: the protocol's endpoint, which opens a session for each client, and the operator's scoring."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcp import types
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tasks.sandbox import SandboxError
from tasks.serve.live import FullError, Sessions
from tasks.serve.server import matches

PATH = "/mcp"
"""Where the protocol is served."""
_MAX_BODY = 1024 * 1024


def _error(
    status: int, message: str, code: int = types.INVALID_REQUEST, identity: Any = None, data: Any = None
) -> Response:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    headers = {"Retry-After": "5"} if status == 503 else None
    return JSONResponse({"jsonrpc": "2.0", "id": identity, "error": error}, status_code=status, headers=headers)


class _Endpoint:
    """The protocol's endpoint: opens a session for `initialize`, and hands other requests to theirs."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        version = request.headers.get("mcp-protocol-version")
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            # That era has no sessions, and without one there is no private episode: clients then fall back.
            message = "each session is a private episode here, so begin one with `initialize`"
            data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version}
            await _error(400, message, types.UNSUPPORTED_PROTOCOL_VERSION, data=data)(scope, receive, send)
            return
        session_id = request.headers.get("mcp-session-id")
        if session_id is None:
            await self._begin(request, scope, receive, send)
            return
        live = self._sessions.find(session_id)
        if live is not None and self._sessions.takes(live):
            await live.handle(scope, receive, send)
            return
        why = f"the session is over: {live.why()}" if live else "there is no such session"
        await _error(404, f"{why}; begin another with `initialize`")(scope, receive, send)

    async def _begin(self, request: Request, scope: Any, receive: Any, send: Any) -> None:
        body = await request.body() if request.method == "POST" else b""
        try:
            message = json.loads(body)
        except ValueError:
            message = None
        if not isinstance(message, dict) or message.get("method") != "initialize":
            identity = message.get("id") if isinstance(message, dict) else None
            await _error(400, "no session: begin one with `initialize`", identity=identity)(scope, receive, send)
            return
        try:
            live = await self._sessions.open()
        except (FullError, SandboxError) as error:
            refused = _error(503, str(error), types.INTERNAL_ERROR, message.get("id"))
            await refused(scope, receive, send)
            return
        accepted = False

        async def watch(part: Any) -> None:
            nonlocal accepted
            if part["type"] == "http.response.start":
                accepted = part["status"] < 400
            await send(part)

        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Any:
            return next(given, None) or await receive()

        try:
            await live.handle(scope, replay, watch)
        finally:
            if not accepted:
                live.reason = "it did not begin"
                live.scope.cancel()


def make_app(sessions: Sessions, token: str, settings: TransportSecuritySettings) -> Any:
    """Return the ASGI application: the protocol, and for who sends the operator's token as a bearer token:

    - `GET /sessions`: the sessions that are live, or ended and can still be scored.
    - `POST /sessions/ID/score` with {"answer": {...}}: the verdict, as `Session.score`.

    Without the token these two answer as paths that do not exist.
    """

    def operator(work: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not matches(given, token):
                return Response("Not Found", 404, media_type="text/plain")
            return await work(request)

        return endpoint

    @operator
    async def listing(_: Request) -> Response:
        rows = [
            {
                "session_id": live.session_id,
                "state": "live" if sessions.takes(live) else "ended",
                "reason": "" if sessions.takes(live) else live.why(),
                "calls": live.one.session.calls,
                "seconds": round(live.one.session.seconds, 1),
                "scored": live.one.session.scored,
            }
            for live in [*sessions.ended.values(), *sessions.live.values()]
        ]
        return JSONResponse({"sessions": rows})

    @operator
    async def score(request: Request) -> Response:
        live = sessions.find(request.path_params["session_id"])
        if live is None:
            return JSONResponse({"error": "there is no such session"}, 404)
        try:
            answer = (await request.json())["answer"]
            if answer is not None and not isinstance(answer, dict):
                raise TypeError
        except (ValueError, TypeError, KeyError):
            return JSONResponse({"error": 'the body must be {"answer": {...}}; null is no answer'}, 422)
        try:
            return JSONResponse(await live.one.in_thread(lambda: live.one.session.score(answer)))
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 409)

    routes = [
        Route(PATH, endpoint=_Endpoint(sessions)),
        Route("/sessions", endpoint=listing, methods=["GET"]),
        Route("/sessions/{session_id}/score", endpoint=score, methods=["POST"]),
    ]
    inner = RequestBodyLimitMiddleware(Starlette(routes=routes), _MAX_BODY)
    guard = TransportSecurityMiddleware(settings)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        refused = await guard.validate_request(Request(scope), is_post=scope["method"] == "POST")
        await (refused or inner)(scope, receive, send)

    return app
