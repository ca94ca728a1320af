"""Listen for clients over HTTP until told to stop."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from tasks.serve.http import make_app
from tasks.serve.limits import ServeLimits
from tasks.serve.live import Sessions
from tasks.serve.served import Served

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The hosts that only this machine reaches."""


def security(names: Sequence[str], port: int) -> TransportSecuritySettings:
    """Return the protection against DNS rebinding: only requests for these names, from pages under them, are taken."""
    hosts = [f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        OSError: if the address cannot be taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    listener.setsockopt(
        socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
    )  # connections inherit it; else each answer waits 40 ms
    return listener


async def serve_http(
    served: Served,
    listener: socket.socket,
    token: str,
    *,
    names: Sequence[str] = LOOPBACK,
    limits: ServeLimits | None = None,
    seed: int = 0,
    ready: Callable[[], None] = lambda: None,
    until: AsyncIterator[Any] | None = None,
) -> None:
    """Serve sessions until `until` yields; then all sessions end and the server closes.

    Args:
        listener: the socket of `bind`.
        token: the operator's, for scoring.
        names: host names under which clients reach the server; requests for others are refused.
        seed: seeds every session's episode.
        ready: called when requests are taken.
        until: its first item stops the server, e.g. a signal; None: only cancellation does.
    """
    limits = limits or ServeLimits()
    settings = security(names, listener.getsockname()[1])
    async with Sessions(served, limits, token, settings, seed) as sessions:
        config = uvicorn.Config(
            make_app(sessions, token, settings),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=3,
            limit_concurrency=64 + 8 * limits.sessions,
        )
        server = _Uvicorn(config)
        async with anyio.create_task_group() as tasks:

            async def stop() -> None:
                if until is not None:
                    async for _ in until:
                        break
                    sessions.stop()
                    server.should_exit = True

            async def announce() -> None:
                while not server.started:
                    await anyio.sleep(0.01)
                ready()

            tasks.start_soon(stop)
            tasks.start_soon(announce)
            try:
                await server.serve(sockets=[listener])
            finally:
                tasks.cancel_scope.cancel()
