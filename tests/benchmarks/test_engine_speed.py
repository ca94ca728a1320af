"""The engine and two stand-ins at the same work in the same run. Only ratios are asserted: no time, no machine."""

from __future__ import annotations

import asyncio
import json

import pytest

from flows.bench import table
from tasks.coding import write_tools
from tasks.environment import verify
from tasks.sandbox import SandboxWorker
from tasks.sandbox.benchmark import Figure, Work, measure, verifiers_of
from tasks.sandbox.benchmark.json_files import JsonFiles
from tasks.sandbox.benchmark.mcp_session import asking, make_engine, make_server, run

SCALE = 0.1
"""A world of some 250 kB, where JSON files are at their best."""


@pytest.fixture(scope="module")
def work() -> Work:
    return Work.of(write_tools, SCALE)


def unminted(observations: list) -> str:
    """Return the observations as text without the keys that an episode mints."""
    minted = observations[6]["order_id"]
    return json.dumps(observations, sort_keys=True).replace(minted, "minted")


def test_engine_and_stand_ins_do_the_same_work(work, tmp_path):
    verifier, chain = verifiers_of(work)[3], work.chains[3]
    with SandboxWorker() as worker:
        steps = worker.run_episode(chain, image=work.image).steps
    expected = [step.observation for step in steps]
    assert len(expected) == 8 and not any("error" in observation for observation in expected)

    files = JsonFiles(work, tmp_path)
    for _ in range(2):
        files.reset()
        assert files.changes() == ()
        assert unminted(files.run(chain)) == unminted(expected)
        assert verify(verifier, {}, files.changes()).success

    async def through_mcp() -> list:
        from mcp import Client

        async with Client(make_server(work, make_engine(work))) as client:
            return await run(asking(client), chain)

    assert unminted(asyncio.run(through_mcp())) == unminted(expected)


def test_the_engine_keeps_its_distance(work):
    figures = {figure.name: figure for figure in measure(work, 0.1)}
    table({"machine": "", "date": "", "snapshot_kb": 1, "rows": 1, "how": "",
           "figures": [figure.record() for figure in figures.values()]})  # fmt: skip
    json.dumps([figure.record() for figure in figures.values()], allow_nan=False)
    assert all(not figure.measured <= 0 for figure in figures.values())
    rate = {name: figure.measured for name, figure in figures.items()}
    assert rate["calls_to_json"] >= 5 and rate["episodes_to_json"] >= 5
    assert rate["episodes_to_mcp"] >= 10 and rate["calls_batched"] >= 10 * rate["mcp_calls"]
    assert rate["calls_to_mcp"] >= 4, "10 on a quiet machine; context switches cost more on a busy one"
    assert rate["calls_batched"] > rate["calls"] and rate["episodes"] > 2 * rate["episodes_forked"]


def test_ratios_say_how_far_a_target_is_met():
    assert Figure("a", "", "", 20.0, 10.0).ratio == 2
    assert Figure("a", "", "", 20.0, 10.0, at_most=True).ratio == 0.5
    assert Figure("a", "", "", float("nan"), 10.0).ratio is None is Figure("a", "", "", 1.0).ratio
    assert Figure("a", "", "", float("nan"), 10.0).record()["measured"] is None
