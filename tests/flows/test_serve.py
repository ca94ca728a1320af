"""`agentworld serve` as an operator and a client meet it: real processes over stdio and HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp.types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from serve_example import DATABASE, TOKEN, TOOLS, fill_store, oracle_of, shop_task

TASK = shop_task()
CALL, ARGUMENTS = oracle_of(TASK)


class Score(types.Request[dict[str, Any], str]):
    method: str = "agentworld/score"


class Verdict(types.Result):
    success: bool
    reward: float
    checks: dict[str, bool]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return fill_store(tmp_path_factory.mktemp("served") / "store", TASK)


def command(store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "flows.cli", "serve", DATABASE.env_id, "--store", str(store), *words]


def parameters(surroundings: dict[str, str], store: Path, *words: str) -> StdioServerParameters:
    program, *arguments = command(store, *words)
    env = {**surroundings, "AGENTWORLD_SCORE_TOKEN": TOKEN}
    return StdioServerParameters(command=program, args=arguments, env=env)


@contextlib.contextmanager
def http_server(surroundings: dict[str, str], store: Path, *words: str) -> Iterator[tuple[dict, subprocess.Popen]]:
    """Start the command; yield what its ready line says and its process."""
    started = subprocess.Popen(
        command(store, "--http", "--port", "0", "--json", *words), env=surroundings, stdout=subprocess.PIPE, text=True
    )
    try:
        yield json.loads(started.stdout.readline()), started
    finally:
        started.kill()
        started.wait()
        started.stdout.close()


def test_a_client_over_stdio_lists_reads_calls_and_is_scored(surroundings, store, tmp_path):
    async def main() -> None:
        with anyio.fail_after(60), open(tmp_path / "stderr", "w") as said:
            transport = stdio_client(parameters(surroundings, store, "--task", TASK.task_id, "--json"), said)
            async with Client(transport) as client:
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
                assert set(tools) == set(TASK.tools)
                for tool in TOOLS:
                    if tool.name in tools:
                        assert tools[tool.name].input_schema == tool.parameters
                        assert tools[tool.name].annotations.read_only_hint == (not tool.writes)
                assert tools["cancel_order"].annotations.destructive_hint
                resources = {str(one.uri): one for one in (await client.list_resources()).resources}
                assert {one.name for one in resources.values()} == {one.name for one in DATABASE.documents}
                for uri, one in resources.items():
                    contents = (await client.read_resource(uri)).contents[0]
                    assert contents.text and contents.mime_type == one.mime_type
                (prompt,) = (await client.list_prompts()).prompts
                text = (await client.get_prompt(prompt.name)).messages[0].content.text
                assert TASK.prompt in text and '"units": "integer"' in text
                assert str(TASK.expected_answer["units"]) not in text.replace(TASK.prompt, "")
                done = await client.call_tool(CALL, ARGUMENTS)
                assert not done.is_error and json.loads(done.content[0].text) == done.structured_content
                again = await client.call_tool(CALL, ARGUMENTS)
                assert again.is_error and again.structured_content["error"]["code"] == "INVALID_STATE"
                broken = await client.call_tool(CALL, {"order_id": 7})
                assert broken.is_error and broken.structured_content["error"]["code"] == "INVALID_ARGUMENTS"
                with pytest.raises(MCPError, match="Unknown tool"):
                    await client.call_tool("agentworld/score", {"token": TOKEN, "answer": {}})
                with pytest.raises(MCPError, match="Unknown resource"):
                    await client.read_resource("agentworld://elsewhere/documents/x")
                with pytest.raises(MCPError, match="Method not found"):
                    await client.session.send_request(Score(params={"token": "guess", "answer": {}}), Verdict)
                right = Score(params={"token": TOKEN, "answer": TASK.expected_answer})
                verdict = await client.session.send_request(right, Verdict)
                assert verdict.success and 0.9 <= verdict.reward < 1.0  # three calls, where the oracle makes one
                assert set(verdict.checks) == {"format", "answer.units", "state"}

    anyio.run(main)
    said = json.loads((tmp_path / "stderr").read_text().splitlines()[0])
    assert said["state"] == "ready" and said["task_id"] == TASK.task_id and said["url"] == ""


def test_a_signal_ends_the_server_while_standard_input_is_open(surroundings, store):
    server = subprocess.Popen(
        command(store, "--json"), env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with server:
        assert json.loads(server.stderr.readline())["state"] == "ready"
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(20) == 0
        assert server.stderr.read() == "" and server.stdout.read() == ""


def test_http_says_where_it_is_and_stops_cleanly(surroundings, store):
    with http_server(surroundings, store, "--task", TASK.task_id) as (said, server):
        assert said["url"].startswith("http://127.0.0.1:") and len(said["score_token"]) >= 16

        async def main() -> None:
            with anyio.fail_after(60):
                async with Client(said["url"]) as client:
                    assert not (await client.call_tool(CALL, ARGUMENTS)).is_error
                    right = Score(params={"token": said["score_token"], "answer": TASK.expected_answer})
                    assert (await client.session.send_request(right, Verdict)).reward == 1.0
                    server.send_signal(signal.SIGTERM)  # while a session is live
                    assert await anyio.to_thread.run_sync(server.wait, 20) == 0

        with contextlib.suppress(BaseExceptionGroup, MCPError):  # the client finds its server gone
            anyio.run(main)
        assert server.wait(20) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no environment 'nowhere'"),
        ((DATABASE.env_id, "--task", "task-none"), "no single task 'task-none'"),
        ((DATABASE.env_id, "--http", "--host", "0.0.0.0"), "--allow-remote"),
        ((DATABASE.env_id, "--http", "--port", "99999"), "--port"),
        ((DATABASE.env_id, "--calls", "0"), "--calls"),
    ],
)
def test_what_cannot_be_served_is_one_line_and_code_2(agentworld, store, words, said):
    done = agentworld("serve", *words, "--store", str(store), timeout=60)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
