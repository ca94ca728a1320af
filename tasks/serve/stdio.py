"""Serve one session over standard input and output; the session is as long as the client keeps them open."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import anyio
from mcp.server.stdio import stdio_server

from tasks.serve.server import SessionServer
from tasks.serve.session import Session


async def serve_stdio(session: Session, token: str, ready: Callable[[], None] = lambda: None) -> None:
    """Serve until the client closes standard input, or SIGINT or SIGTERM comes; the episode is ended either way.

    Ends the process with exit code 0 on a signal: the thread that waits for standard input cannot be woken.

    Args:
        token: the operator's, for scoring.
        ready: called when messages and signals are taken.
    """
    one = SessionServer(session, token)
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as tasks:

            async def stop_on_signal() -> None:
                async for _ in signals:
                    await one.end()
                    os._exit(0)

            tasks.start_soon(stop_on_signal)
            async with stdio_server() as (read, write):
                ready()
                try:
                    await one.run(read, write)
                finally:
                    await one.end()
            tasks.cancel_scope.cancel()
