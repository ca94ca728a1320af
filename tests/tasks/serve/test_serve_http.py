"""A real server on loopback with the SDK's own client: several sessions, their ends, and the operator's scoring."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import mcp.types as types
import pytest
from mcp import Client, MCPError
from serve_example import SLOW, TOKEN, oracle_of, shop_served, shop_task

from tasks.serve import SCORE_METHOD, Served, ServeLimits, bind, serve_http

TASK = shop_task()
CALL, ARGUMENTS = oracle_of(TASK)
OPERATOR = {"Authorization": f"Bearer {TOKEN}"}


class Score(types.Request[dict[str, Any], str]):
    method: str = SCORE_METHOD


class Verdict(types.Result):
    success: bool
    reward: float


@contextlib.asynccontextmanager
async def serving(served: Served, limits: ServeLimits | None = None) -> AsyncIterator[str]:
    """Run a server on a free port; yield its address without a path."""
    with bind("127.0.0.1", 0) as listener:
        async with anyio.create_task_group() as tasks:
            ready = anyio.Event()

            async def main() -> None:
                await serve_http(served, listener, TOKEN, limits=limits, ready=ready.set)

            tasks.start_soon(main)
            await ready.wait()
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            tasks.cancel_scope.cancel()


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test with a deadline."""

    async def timed() -> None:
        with anyio.fail_after(40):
            await work()

    anyio.run(timed)


def flat(group: BaseException) -> BaseException:
    """Return the one exception within groups of one."""
    while isinstance(group, BaseExceptionGroup) and len(group.exceptions) == 1:
        group = group.exceptions[0]
    return group


def sandboxes() -> int:
    """Return how many processes this one has started that still run."""
    count = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            count += int(fields[1]) == os.getpid() and fields[0] != "Z"
    return count


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return (await client.call_tool(tool, arguments)).structured_content


def test_two_sessions_do_not_see_each_other():
    async def main() -> None:
        async with (
            serving(shop_served()) as at,
            Client(f"{at}/mcp") as one,
            Client(f"{at}/mcp", mode="legacy") as other,
            httpx.AsyncClient(headers=OPERATOR) as operator,
        ):
            before = await call(other, "get_order", {"order_id": ARGUMENTS["order_id"]})
            assert (await call(one, CALL, ARGUMENTS))["status"] == "cancelled"
            assert (await call(one, "get_order", {"order_id": ARGUMENTS["order_id"]}))["status"] == "cancelled"
            assert await call(other, "get_order", {"order_id": ARGUMENTS["order_id"]}) == before
            rows = (await operator.get(f"{at}/sessions")).json()["sessions"]
            assert [(row["state"], row["calls"]) for row in rows] == [("live", 2), ("live", 2)]

    run(main)


def test_the_operator_scores_what_the_agent_cannot():
    async def main() -> None:
        async with serving(shop_served(TASK)) as at, httpx.AsyncClient() as web, Client(f"{at}/mcp") as agent:
            await call(agent, CALL, ARGUMENTS)
            assert not [tool.name for tool in (await agent.list_tools()).tools if "score" in tool.name]
            for name in (SCORE_METHOD, "score", "agentworld_score"):
                with pytest.raises(MCPError, match="Unknown tool"):
                    await agent.call_tool(name, {"token": TOKEN, "answer": TASK.expected_answer})
            for token in ("", "guess", None):
                with pytest.raises(MCPError) as refused:
                    await agent.session.send_request(Score(params={"token": token, "answer": {}}), Verdict)
                with pytest.raises(MCPError) as unknown:
                    other = Score(method="agentworld/nothing", params={})
                    await agent.session.send_request(other, Verdict)
                assert (refused.value.code, refused.value.message) == (unknown.value.code, unknown.value.message)
            for path in ("sessions", "sessions/x/score", "nothing"):
                denied = await web.get(f"{at}/{path}", headers={"Authorization": "Bearer guess"})
                assert denied.status_code in (404, 405)
            right = Score(params={"token": TOKEN, "answer": TASK.expected_answer})
            verdict = await agent.session.send_request(right, Verdict)
            assert verdict.success and verdict.reward == 1.0
            over = await agent.call_tool(CALL, ARGUMENTS)
            assert over.is_error and over.structured_content["error"]["code"] == "EPISODE_OVER"

    run(main)


def test_a_session_can_be_scored_after_its_client_left():
    async def main() -> None:
        async with serving(shop_served(TASK)) as at, httpx.AsyncClient(headers=OPERATOR) as operator:
            before = sandboxes()
            async with Client(f"{at}/mcp") as agent, Client(f"{at}/mcp"):  # the second one does nothing
                await call(agent, CALL, ARGUMENTS)
                assert sandboxes() == before + 2
            with anyio.fail_after(5):
                while True:
                    rows = (await operator.get(f"{at}/sessions")).json()["sessions"]
                    if [row["state"] for row in rows] == ["ended", "ended"] and sandboxes() == before:
                        break
                    await anyio.sleep(0.02)
            assert {row["reason"] for row in rows} == {"its client ended it"}
            rewards = {}
            for row in rows:
                where = f"{at}/sessions/{row['session_id']}/score"
                rewards[row["calls"]] = (await operator.post(where, json={"answer": TASK.expected_answer})).json()
            assert rewards[1]["reward"] == 1.0 and not rewards[0]["success"] and rewards[0]["reward"] < 0.1
            bad = await operator.post(where, json={"answer": 7})
            assert bad.status_code == 422 and "body must be" in bad.json()["error"]
            assert (await operator.post(f"{at}/sessions/none/score", json={"answer": None})).status_code == 404

    run(main)


def test_live_sessions_are_limited_and_a_free_place_is_taken_again():
    async def main() -> None:
        async with serving(shop_served(), ServeLimits(sessions=1)) as at:
            async with Client(f"{at}/mcp"):
                with pytest.raises(BaseException) as caught:
                    async with Client(f"{at}/mcp"):
                        pass
                assert isinstance(flat(caught.value), MCPError)
                assert "1 sessions are live, as many as this server takes" in str(flat(caught.value))
            with anyio.fail_after(5):
                while True:
                    try:
                        async with Client(f"{at}/mcp") as next_one:
                            assert (await next_one.list_tools()).tools
                            break
                    except BaseException as error:
                        assert "sessions are live" in str(flat(error)), error
                        await anyio.sleep(0.05)

    run(main)


def test_an_idle_session_ends_and_its_id_says_why():
    async def main() -> None:
        async with (
            serving(shop_served(), ServeLimits(idle_s=1.0)) as at,
            httpx.AsyncClient(headers=OPERATOR) as operator,
            Client(f"{at}/mcp") as client,
        ):
            for _ in range(4):  # calls keep it alive beyond the time
                await anyio.sleep(0.35)
                assert "orders" in await call(client, "list_orders", {})
            await anyio.sleep(1.6)
            row = (await operator.get(f"{at}/sessions")).json()["sessions"][0]
            assert row["state"] == "ended" and row["reason"] == "no request came for 1 s"
            said = await operator.post(
                f"{at}/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
                headers={"mcp-session-id": row["session_id"], "Accept": "application/json, text/event-stream"},
            )
            assert said.status_code == 404 and "no request came for 1 s" in said.json()["error"]["message"]

    run(main)


def test_a_slow_call_in_one_session_does_not_delay_another():
    async def main() -> None:
        limits = ServeLimits(call_s=1.5)
        async with (
            serving(shop_served(more=(SLOW,)), limits) as at,
            Client(f"{at}/mcp") as slow,
            Client(f"{at}/mcp") as quick,
            anyio.create_task_group() as tasks,
        ):
            ended: list[dict[str, Any]] = []

            async def wait() -> None:
                ended.append(await call(slow, "wait_forever", {}))

            tasks.start_soon(wait)
            await anyio.sleep(0.2)
            for _ in range(5):
                assert "orders" in await call(quick, "list_orders", {})
            assert not ended
            with anyio.fail_after(10):
                while not ended:
                    await anyio.sleep(0.05)
            assert ended[0]["error"]["code"] == "TIMEOUT"

    run(main)


def test_only_this_machines_names_are_answered():
    async def main() -> None:
        async with serving(shop_served(TASK)) as at, httpx.AsyncClient() as web:
            port = at.rpartition(":")[2]
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
            for headers, status in (
                ({"Host": f"rebound.example:{port}"}, 421),
                ({"Origin": "http://rebound.example"}, 403),
            ):
                assert (await web.post(f"{at}/mcp", json=hello, headers=headers)).status_code == status
                denied = await web.get(f"{at}/sessions", headers={**OPERATOR, **headers})
                assert denied.status_code == status
            assert (await web.get(f"{at}/sessions", headers=OPERATOR)).json() == {"sessions": []}

    run(main)


def test_requests_without_a_session_are_told_how_to_begin():
    async def main() -> None:
        async with serving(shop_served()) as at, httpx.AsyncClient() as web:
            lost = await web.post(f"{at}/mcp", json={"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
            assert (
                lost.status_code == 400 and lost.json()["id"] == 9 and "initialize" in lost.json()["error"]["message"]
            )
            assert (await web.get(f"{at}/mcp")).status_code == 400
            assert (await web.post(f"{at}/mcp", content=b"{", headers={"content-type": "application/json"})).is_error
            large = await web.post(f"{at}/mcp", json={"x": "x" * 2_000_000})
            assert large.status_code == 413
            gone = await web.delete(f"{at}/mcp", headers={"mcp-session-id": "none"})
            assert gone.status_code == 404 and "no such session" in gone.json()["error"]["message"]

    run(main)


def test_connections_answer_without_delay():
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) and client.getpeername()
