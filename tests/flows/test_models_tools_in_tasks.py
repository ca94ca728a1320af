"""What a model adds to an environment is used: its tools occur in rule-made tasks that pass every gate."""

from __future__ import annotations

from collections import Counter

import pytest
from chat_server import ChatServer
from coding_script import script, shop_ids
from worlds import shop_database, shop_snapshot

from tasks.coding import add_tools, write_tools
from tasks.environment import EnvironmentImage, verify
from tasks.models import Gateway, load_roles
from tasks.sandbox import SandboxWorker
from tasks.store import open_store
from tasks.synthesis import synthesize

ADDED = {
    "find_large_orders": "search", "sum_order_totals": "aggregate", "take_back_order": "transition",
    "move_customer": "update",
}  # fmt: skip


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The shop with a model's tools and actions: (database, tools, synthesised graph tasks, the worker)."""
    database, snapshot = shop_database(), shop_snapshot()
    kept = write_tools(database, 0, snapshot)
    with SandboxWorker() as worker, ChatServer(script(shop_ids(snapshot), *ADDED)) as server:
        environ = {"AGENTWORLD_MODEL_ALL": "openai:scripted", "AGENTWORLD_MODEL_ALL_BASE_URL": server.base_url}
        gateway = Gateway(load_roles(None, environ), open_store(f"file://{tmp_path_factory.mktemp('store')}"))
        added = add_tools(database, snapshot, kept, worker, gateway, mutants_per_tool=0)
        assert {tool.name: tool.kind for tool in added.tools} == ADDED, added.rejections
        database = database.model_copy(update={"actions": (*database.actions, *added.actions)})
        tools = [*kept, *added.tools]
        yield (
            database,
            tools,
            synthesize(database, snapshot, tools, seed=5, n=24, kinds=("graph",), worker=worker),
            worker,
        )


def test_each_kind_of_added_tool_occurs_in_trusted_tasks(grown):
    database, tools, found, worker = grown
    uses = Counter(name for task in found.tasks for name in {call.tool for call in task.oracle.calls})
    assert ADDED.keys() <= uses.keys(), uses
    worker.load(EnvironmentImage.of(database, tools, shop_snapshot()))
    for task in found.tasks:
        assert task.kill_rate == 1.0 and task.difficulty is not None
        if ADDED.keys() & {call.tool for call in task.oracle.calls}:
            outcome = worker.run_episode(task.oracle.calls, seed=3)
            assert not outcome.error and not any("error" in step.observation for step in outcome.steps)
            assert verify(task.verifier, task.expected_answer, outcome.changes).success
            assert not any(name in task.prompt for name in ADDED)


def test_both_ways_of_running_episodes_agree(grown):
    """Episodes of rules' tools alone share a process that holds none of the model's; the others have their own."""
    database, tools, found, worker = grown
    image = EnvironmentImage.of(database, tools, shop_snapshot())
    assert image.foreign and not image.part.foreign and not ADDED.keys() & image.part.tools.keys()
    episodes = [(task.oracle.calls, seed) for task in found.tasks for seed in (0, 1)]
    batched = worker.run_episodes(episodes, image, isolation="environment")
    assert batched == worker.run_episodes(episodes, image, isolation="episode")
    assert batched == [worker.run_episode(calls, seed) for calls, seed in episodes], "the image is still the whole one"
