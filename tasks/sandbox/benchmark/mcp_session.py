"""Stand-in: the same tools over the same engine, behind the official MCP SDK's server and its in-memory client.

This is how most gyms serve environments, at its fastest: no HTTP, no other process, no sandbox, no thread. An episode
has a session of its own, as private copies need. What it costs beyond the engine is the protocol's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from schemas.task import Call, Verifier
from tasks.environment import Differ, resolve_references, verify
from tasks.environment.runtime.engine import Engine
from tasks.sandbox.benchmark.meter import rate_async
from tasks.sandbox.benchmark.work import Work

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


def make_server(work: Work, engine: Engine) -> Any:
    """Return an `mcp.server.MCPServer` whose tools call the engine's."""
    from mcp.server import MCPServer

    server, roles = MCPServer("wholesaler"), work.roles  # its tools are coroutines: it runs plain functions in threads

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        given = {name: value for name, value in arguments.items() if value is not None}
        return json.loads(engine.call(tool, given))

    async def customer(customer_id: str) -> dict[str, Any]:
        return call(roles.customer, customer_id=customer_id)

    async def product(product_id: str) -> dict[str, Any]:
        return call(roles.product, product_id=product_id)

    async def order(order_id: str) -> dict[str, Any]:
        return call(roles.order, order_id=order_id)

    async def orders_of_customer(customer_id: str, status: str | None = None, limit: int = 20) -> dict[str, Any]:
        return call(roles.orders_of_customer, customer_id=customer_id, status=status, limit=limit)

    async def search_products(family: str | None = None, limit: int = 20) -> dict[str, Any]:
        return call(roles.search_products, family=family, limit=limit)

    async def cancel(order_id: str) -> dict[str, Any]:
        return call(roles.cancel, order_id=order_id)

    async def place(customer_id: str, product_id: str, quantity: int) -> dict[str, Any]:
        return call(roles.place, customer_id=customer_id, product_id=product_id, quantity=quantity)

    for function in (customer, product, order, orders_of_customer, search_products, cancel, place):
        server.add_tool(function, name=getattr(roles, function.__name__))
    return server


def make_engine(work: Work) -> Engine:
    """Return an engine in this process; its tools are those that rules wrote."""
    engine = Engine(work.image.header, work.image.snapshot, output_bytes=1_000_000, frozen=False)
    engine.start(0)
    return engine


def asking(client: Any) -> Ask:
    """Return a function that calls a tool through a client and returns its observation."""

    async def ask(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        return result.structured_content or json.loads(result.content[0].text)

    return ask


async def run(ask: Ask, calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Run calls whose references see the earlier observations, and return the observations."""
    observations: list[dict[str, Any]] = []
    for call in calls:
        observations.append(await ask(call.tool, resolve_references(call.arguments, observations)))
    return observations


def measure_mcp(work: Work, verifiers: Sequence[Verifier], seconds: float) -> dict[str, float]:
    """Return lookups and judged oracle episodes a CPU second.

    Raises:
        AssertionError: if an oracle's episode is not verified.
    """
    from mcp import Client

    engine, differ = make_engine(work), Differ(work.image.snapshot)

    async def measure() -> dict[str, float]:
        server = make_server(work, engine)

        async def episodes() -> int:
            for seed, (chain, verifier) in enumerate(zip(work.chains[:5], verifiers, strict=False)):
                engine.start(seed)
                async with Client(server) as client:
                    await run(asking(client), chain)
                if not verify(verifier, {}, differ.journaled(json.loads(engine.changed()))).success:
                    raise AssertionError("an oracle's episode was not verified")
            return 5

        async with Client(server) as client:
            ask = asking(client)

            async def calls() -> int:
                for call in work.lookups[:20]:
                    await ask(call.tool, call.arguments)
                return 20

            figures = {"calls_s": await rate_async(calls, seconds)}
        return figures | {"episodes_s": await rate_async(episodes, seconds)}

    try:
        return asyncio.run(measure())
    finally:
        differ.close()
