"""Serve an environment of the store to clients of the Model Context Protocol."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from flows.browse import find_task
from flows.errors import Refused
from tasks.sandbox import SandboxError
from tasks.serve import LOOPBACK, PATH, Served, ServeLimits, Session, bind, serve_http, serve_stdio
from tasks.store import environment_rows, load_environment, open_store

TOKEN = "AGENTWORLD_SCORE_TOKEN"
"""The environment variable that sets the operator's token; without it each start makes a new one."""
_SHORTEST = 16


@dataclass(frozen=True)
class Address:
    """Where to listen: `host` and `port`; `remote` allows hosts that other machines reach; `names` are what those
    call this one, beside `host` itself."""

    host: str = "127.0.0.1"
    port: int = 8765
    remote: bool = False
    names: tuple[str, ...] = ()


def load_served(store: str, environment: str, task: str = "") -> Served:
    """Return an environment of the store, by id or the start of it, and the task if one is named.

    Raises:
        Refused, StoreError: if there is no single one, or the task belongs to another environment.
    """
    objects = open_store(store)
    ids = [row.env_id for row in environment_rows(objects, "accepted") if row.env_id.startswith(environment)]
    if environment not in ids and len(ids) > 1:
        raise Refused(f"{len(ids)} environments begin with {environment!r}: {', '.join(ids[:5])}")
    world = load_environment(objects, environment if environment in ids or not ids else ids[0])
    chosen = find_task(store, task) if task else None
    try:
        return Served.of(world.database, world.tools, world.snapshot, chosen)
    except ValueError as error:
        raise Refused(str(error)) from error


def _token() -> str:
    given = os.environ.get(TOKEN)
    if given is not None and len(given) < _SHORTEST:
        raise Refused(f"{TOKEN} is too short to be a secret: take at least {_SHORTEST} characters")
    return given or secrets.token_urlsafe(24)


def _first(served: Served, limits: ServeLimits, seed: int) -> Session:
    try:
        return Session(served, limits, seed)
    except SandboxError as error:
        raise Refused(f"environment {served.database.env_id!r} does not come up: {error}") from error


def _say(served: Served, token: str, url: str, as_json: bool) -> None:
    """Tell the operator, who alone sees this output, that clients can come; over stdio on standard error."""
    stream = sys.stdout if url else sys.stderr
    task = served.task
    said: dict[str, Any] = {
        "state": "ready",
        "url": url,
        "env_id": served.database.env_id,
        "task_id": task.task_id if task else "",
        "tools": len(served.tools),
        "documents": len(served.database.documents),
        "score_token": token if task else "",
        "pid": os.getpid(),
    }
    if as_json:
        stream.write(json.dumps(said) + "\n")
    else:
        stream.write(f"agentworld: serving {said['env_id']} at {url or 'standard input and output'}\n")
        if task and not os.environ.get(TOKEN):
            stream.write(f"agentworld: score token, for the operator only: {token}\n")
    stream.flush()


def serve_over_stdio(served: Served, limits: ServeLimits, seed: int = 0, as_json: bool = False) -> None:
    """Serve one session over standard input and output until the client closes them or a signal comes.

    Raises:
        Refused: if the environment does not come up.
    """
    token = _token()
    session = _first(served, limits, seed)
    anyio.run(serve_stdio, session, token, lambda: _say(served, token, "", as_json))


def serve_over_http(
    served: Served, limits: ServeLimits, address: Address, seed: int = 0, as_json: bool = False
) -> None:
    """Serve sessions over streamable HTTP until SIGINT or SIGTERM.

    Raises:
        Refused: if other machines would reach it and nobody asked for that, the address is taken, or the environment
            does not come up.
    """
    token = _token()
    if address.host not in LOOPBACK and not address.remote:
        raise Refused(f"other machines can reach {address.host!r}: add --allow-remote if that is what you want")
    names: Sequence[str] = LOOPBACK if address.host in LOOPBACK else (*LOOPBACK, address.host)
    try:
        listener = bind(address.host, address.port)
    except (OSError, OverflowError) as error:
        raise Refused(f"cannot listen on {address.host} port {address.port}: {error}") from error
    with listener:
        _first(served, limits, seed).end()
        shown = f"[{address.host}]" if ":" in address.host else address.host
        url = f"http://{shown}:{listener.getsockname()[1]}{PATH}"

        async def main() -> None:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                await serve_http(
                    served, listener, token, names=(*names, *address.names), limits=limits, seed=seed, until=signals,
                    ready=lambda: _say(served, token, url, as_json),
                )  # fmt: skip

        anyio.run(main)
