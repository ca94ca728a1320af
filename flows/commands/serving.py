"""Serve: environments to agents (serve), flows on a schedule (up)."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.options import StoreOption
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()

SERVE_EXAMPLES = """Example: agentworld serve ENV --task TASK

Example: agentworld serve ENV --http --port 8765

In the configuration of a client that starts its servers: {"mcpServers": {"world": {"command": "agentworld", "args":
["serve", "ENV", "--store", "/path/to/store"]}}}; of one that connects: {"mcpServers": {"world": {"url":
"http://127.0.0.1:8765/mcp"}}}"""


@commands.command(epilog=SERVE_EXAMPLES)
def serve(
    identifier: Annotated[str, typer.Argument(metavar="ENV", help="An environment's id, or its start")],
    task: Annotated[str, typer.Option("--task", help="A task of it: its tools, its prompt, and scoring")] = "",
    store: StoreOption = DEFAULT_STORE,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of standard input and output")] = False,
    host: Annotated[str, typer.Option("--host", help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0: a free one")] = 8765,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow a --host that other machines reach")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="A further host name that clients may call it by (repeat)")
    ] = None,
    sessions: Annotated[int, typer.Option("--sessions", min=1, help="The most sessions live at once")] = 16,
    calls: Annotated[int, typer.Option("--calls", min=1, help="The most calls of a session")] = 500,
    call_seconds: Annotated[float, typer.Option("--call-seconds", min=0.01, help="The longest call")] = 5.0,
    session_seconds: Annotated[float, typer.Option("--session-seconds", min=1, help="The longest session")] = 3600.0,
    idle_seconds: Annotated[
        float, typer.Option("--idle-seconds", min=0.1, help="A session without a request ends after this")
    ] = 900.0,
    output_chars: Annotated[int, typer.Option("--output-chars", min=100, help="The longest observation")] = 200_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of every session's episode")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Say that it is ready in one line of JSON")] = False,
) -> None:
    """Serve an environment to any MCP client: tools, documents, a private episode a session, and scoring.

    Scoring is no tool: the operator sends the JSON-RPC request agentworld/score with {"token", "answer"} over the
    session, or over HTTP POST /sessions/ID/score with the token as bearer token (GET /sessions lists them). The token
    is printed at the start (over stdio on standard error), or set AGENTWORLD_SCORE_TOKEN.
    """
    from flows.serve import Address, load_served, serve_over_http, serve_over_stdio
    from tasks.serve import ServeLimits

    limits = ServeLimits(calls, call_seconds, session_seconds, idle_seconds, sessions, output_chars)
    served = load_served(store, identifier, task)
    if http:
        serve_over_http(served, limits, Address(host, port, allow_remote, tuple(name or ())), seed, as_json)
    else:
        serve_over_stdio(served, limits, seed, as_json)


@commands.command(epilog="Example: agentworld up --port 4200")
def up(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[int, typer.Option("--port", help="The port of the Prefect server and its UI")] = 4200,
) -> None:
    """Start a Prefect server and a worker with all deployments; Ctrl-C stops both."""
    from flows.up import serve

    serve(store, port)
