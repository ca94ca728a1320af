"""The worker's interface with the shop: observations, isolation, determinism, restarts."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from dataclasses import replace

import pytest
from worlds import shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.task import Call
from tasks.environment import EnvironmentImage, difference, state_hash
from tasks.sandbox import SandboxError, SandboxWorker

SNAPSHOT = shop_snapshot()
IMAGE = EnvironmentImage.of(shop_database(), shop_tools(), SNAPSHOT)
PENDING = sorted(row["order_id"] for row in shop_rows()["orders"] if row["status"] == "pending")
IN_STOCK = next(row for row in shop_rows()["products"] if row["stock"] >= 3)
CUSTOMER = shop_rows()["customers"][0]["customer_id"]
ORACLE = (
    Call(tool="list_orders", arguments={"status": "pending", "limit": 3}),
    Call(tool="cancel_order", arguments={"order_id": {"$ref": "0.orders[1].order_id"}}),
    Call(tool="place_order", arguments={"customer_id": {"$ref": "1.customer_id"},
                                        "product_id": IN_STOCK["product_id"], "quantity": 1}),
    Call(tool="get_order", arguments={"order_id": {"$ref": "2.order_id"}}),
)  # fmt: skip


def clocks(body: str, **more) -> EnvironmentImage:
    source = f"import datetime, os, random, secrets, time, uuid\ndef look(ctx) -> dict:\n    return {{'x': {body}}}\n"
    return replace(IMAGE, tools={"look": source}, schemas={"look": {"type": "object"}}, writes=(), **more)


@pytest.fixture(scope="module")
def worker():
    with SandboxWorker() as made:
        made.load(IMAGE)
        yield made


@pytest.fixture(autouse=True)
def shop(worker):
    worker.load(IMAGE)


def test_calls_one_by_one_and_in_a_batch_agree(worker):
    whole = worker.run_episode(ORACLE, seed=5)
    assert whole.error == "" and [step.tool for step in whole.steps] == [call.tool for call in ORACLE]
    assert whole.steps[1].arguments == {"order_id": PENDING[1]}
    assert whole.steps[3].observation == whole.steps[2].observation
    with worker.episode(seed=5) as episode:
        assert tuple(episode.call(step.tool, step.arguments) for step in whole.steps) == tuple(
            step.observation for step in whole.steps
        )
        assert episode.changes() == whole.changes == difference(SNAPSHOT, episode.state())
    with worker.episode(seed=5) as episode:
        assert episode.run(ORACLE) == whole.steps
    assert {(c.table, c.operation) for c in whole.changes} >= {("orders", "insert"), ("orders", "update")}


def test_both_isolations_give_the_same(worker):
    episodes = [(ORACLE, 1), (ORACLE[:1], 2), ((), 3), (ORACLE, 1), (ORACLE, 4)]
    apart = worker.run_episodes(episodes)
    together = worker.run_episodes(episodes, isolation="environment")
    assert apart == together
    assert apart[0] == apart[3] != apart[4] and apart[1].changes == apart[2].changes == ()


def test_reused_processes_begin_anew(worker):
    fresh = worker.run_episode(ORACLE, seed=5)
    for _ in range(3):
        with (
            worker.episode(seed=5, isolation="environment") as episode,
            worker.episode(seed=6, isolation="environment") as other,
        ):
            assert episode.run(ORACLE) == fresh.steps != other.run(ORACLE)
            assert episode.changes() == fresh.changes
        with pytest.raises(SandboxError, match="closed"):
            episode.changes()


def test_refusals_and_errors_change_nothing(worker):
    with worker.episode() as episode:
        cases = {
            "NOT_FOUND": ("cancel_order", {"order_id": "none"}),
            "INVALID_QUANTITY": (
                "place_order", {"customer_id": CUSTOMER, "product_id": IN_STOCK["product_id"], "quantity": 0}
            ),
            "OUT_OF_STOCK": (
                "place_order", {"customer_id": CUSTOMER, "product_id": IN_STOCK["product_id"], "quantity": 99}
            ),
            "INVALID_ARGUMENTS": ("cancel_order", {"order_id": 3}),
            "UNKNOWN_TOOL": ("drop_everything", {}),
        }  # fmt: skip
        for code, (tool, arguments) in cases.items():
            assert episode.call(tool, arguments)["error"]["code"] == code
        assert episode.state() == SNAPSHOT or state_hash(episode.state()) == state_hash(SNAPSHOT)
        assert episode.changes() == ()


def test_undone_writes_constraints_and_readers_that_write(worker):
    schema = {"type": "object", "properties": {}}
    write = "ctx.db.execute('UPDATE products SET stock = 7')"
    tools = {
        "refuses": f"def refuses(ctx) -> dict:\n    {write}\n    return ctx.refuse('NO', 'no')\n",
        "crashes": f"def crashes(ctx) -> dict:\n    {write}\n    return 1 / 0\n",
        "violates": f"def violates(ctx) -> dict:\n    {write}\n    ctx.db.execute('UPDATE products SET stock = -1')\n",
        "orphans": "def orphans(ctx) -> dict:\n    ctx.db.execute('DELETE FROM customers')\n    return {}\n",
        "reads": f"def reads(ctx) -> dict:\n    {write}\n    return {{}}\n",
        "broken": "def broken(ctx) -> dict:\n    return {",
        "other": "def another_name(ctx) -> dict:\n    return {}\n",
    }
    image = replace(
        IMAGE, tools=tools, schemas=dict.fromkeys(tools, schema), writes=("refuses", "crashes", "violates", "orphans")
    )
    worker.load(image)
    codes = {
        "refuses": "NO", "crashes": "TOOL_CRASHED", "violates": "CONSTRAINT", "orphans": "CONSTRAINT",
        "reads": "READ_ONLY", "broken": "TOOL_CRASHED", "other": "TOOL_CRASHED",
    }  # fmt: skip
    with worker.episode() as episode:
        assert {name: episode.call(name, {})["error"]["code"] for name in tools} == codes
        assert episode.changes() == ()


def test_a_reference_to_nothing_is_an_observation(worker):
    calls = (ORACLE[0], Call(tool="get_order", arguments={"order_id": {"$ref": "0.orders[99].order_id"}}))
    outcome = worker.run_episode(calls)
    assert outcome.steps[1].observation["error"]["code"] == "UNRESOLVED_REFERENCE"
    assert outcome.steps[1].arguments == calls[1].arguments


def test_scripts_call_tools_and_answer(worker):
    source = """
def solve(call):
    orders = call("list_orders", status="pending", limit=100)["orders"]
    total = sum(order["quantity"] for order in orders)
    if total:
        call("cancel_order", order_id=orders[0]["order_id"])
    return {"total": total}
"""
    with worker.episode() as episode:
        outcome = episode.script(source)
        rows = [row for row in shop_rows()["orders"] if row["status"] == "pending"]
        assert outcome.answer == {"total": sum(row["quantity"] for row in rows)} and outcome.error == ""
        assert [step.tool for step in outcome.steps] == ["list_orders", "cancel_order"]
        assert episode.query("SELECT count(*) AS n FROM orders WHERE status = 'pending'") == [{"n": len(rows) - 1}]


def test_queries_only_read(worker):
    with worker.episode() as episode:
        for sql in ("DELETE FROM orders", "PRAGMA user_version = 3", "ATTACH ':memory:' AS x", "SELECT nonsense"):
            with pytest.raises(ValueError, match="query"):
                episode.query(sql)
        with pytest.raises(ValueError, match="interrupted"):
            episode.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")


def test_many_episodes_are_open_at_once(worker):
    episodes = [worker.episode(seed) for seed in range(40)]
    arguments = {"customer_id": CUSTOMER, "product_id": IN_STOCK["product_id"], "quantity": 1}
    minted = [episode.call("place_order", arguments)["order_id"] for episode in episodes]
    assert len(set(minted)) == 40
    for episode, key in zip(episodes, minted, strict=True):
        assert episode.query("SELECT order_id FROM orders WHERE ordered_at > '2026-03'") == [{"order_id": key}]
        episode.close()
    with pytest.raises(SandboxError, match="closed"):
        episodes[0].call("list_documents", {})


LEAKS = (
    "time.time()", "time.monotonic()", "str(datetime.datetime.now())", "str(datetime.date.today())",
    "time.strftime('%Y-%m-%d %H:%M')", "random.random()", "random.Random().random()", "secrets.token_hex(4)",
    "str(uuid.uuid4())", "str(uuid.uuid1())", "os.urandom(4).hex()", "list({'a', 'b', 'c', 'd'})", "hash('text')",
    "ctx.db.value(\"SELECT datetime('now')\")", "ctx.db.value('SELECT date()')",
    "ctx.db.value('SELECT CURRENT_TIMESTAMP')",
    "ctx.db.value('SELECT random()')", "ctx.db.value('SELECT hex(randomblob(4))')", "ctx.ids.new('x')",
    "ctx.clock.now()", "datetime.datetime.now(datetime.timezone.utc).isoformat()", "time.time_ns()",
)  # fmt: skip


def test_episodes_replay_whatever_the_real_clock_and_chance():
    image = clocks("[" + ", ".join(leak for leak in LEAKS if "hash" not in leak and "list(" not in leak) + "]")
    found = []
    for hash_seed, skew in ((1, 0), (2, 86_400 * 40), (3, -7_000_000)):
        with SandboxWorker(hash_seed=hash_seed, clock_skew_s=skew) as worker:
            for _ in range(2):
                found.append(worker.run_episode([Call(tool="look")] * 2, seed=8, image=image).steps)
            other = worker.run_episode([Call(tool="look")] * 2, seed=9, image=image).steps
    assert all(steps == found[0] for steps in found) and "error" not in found[0][0].observation
    assert found[0][0] != found[0][1], "chance goes on within an episode"
    assert other != found[0], "and starts elsewhere with another seed"


def test_without_freezing_the_skewed_clock_shows():
    image = clocks("int(time.time())")
    seen = []
    for skew in (0, 10_000):
        with SandboxWorker(clock_skew_s=skew, frozen=False) as worker:
            seen.append(worker.run_episode([Call(tool="look")], image=image).steps[0].observation["x"])
    assert 9_990 < seen[1] - seen[0] < 10_100


def test_the_hash_seed_is_the_workers():
    image = clocks("hash('text')")
    seen = []
    for hash_seed in (1, 1, 2):
        with SandboxWorker(hash_seed=hash_seed) as worker:
            seen.append(worker.run_episode([Call(tool="look")], image=image).steps)
    assert seen[0] == seen[1] != seen[2]


def test_a_dead_sandbox_is_started_again():
    with SandboxWorker() as worker:
        first = worker.run_episode(ORACLE, image=IMAGE)
        for number in (signal.SIGKILL, signal.SIGTERM):
            episode = worker.episode()
            episode.call("list_documents", {})
            process = worker._sandbox.process
            for child in _descendants(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, number)
            with pytest.raises(SandboxError):
                for _ in range(100):
                    episode.call("list_documents", {})
            assert worker.run_episode(ORACLE) == first


def _descendants(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = [int(word) for word in file.read().split()]
    return [*children, *(grandchild for child in children for grandchild in _descendants(child))]


def test_an_environment_that_does_not_come_up_is_told(worker):
    for broken in (replace(IMAGE, snapshot=b"nothing"), replace(IMAGE, start_time="soon")):
        with pytest.raises(SandboxError) as caught:
            worker.load(broken)
        assert caught.value.outcome == "start" and "env-shop" in str(caught.value)
    assert worker.run_episode(ORACLE, image=IMAGE).error == ""


def test_environments_take_turns_and_old_ones_come_back(worker):
    images = [replace(IMAGE, env_id=f"env-{i}", start_time=f"2026-01-{i + 1:02d}T00:00:00") for i in range(30)]
    first = worker.episode(image=images[0])
    for image in [*images, *images[:3]]:
        place = Call(tool="place_order", arguments={"customer_id": CUSTOMER, "product_id": IN_STOCK["product_id"],
                                                    "quantity": 1})  # fmt: skip
        assert worker.run_episode([place], image=image).steps[0].observation["ordered_at"] == image.start_time
    assert len(worker._sandbox._loaded) <= 18
    assert first.call("list_documents", {})["documents"], "an open episode's environment is kept"
    first.close()


def test_workers_in_several_threads_do_not_disturb_each_other():
    outcomes: dict[int, object] = {}

    def work(number: int) -> None:
        with SandboxWorker() as worker:
            outcomes[number] = worker.run_episodes([(ORACLE, seed) for seed in range(5)], IMAGE)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_a_worker_outlives_the_thread_that_made_it():
    made = []
    thread = threading.Thread(target=lambda: made.append(SandboxWorker().__enter__()))
    thread.start()
    thread.join()
    assert made[0].run_episode(ORACLE, image=IMAGE).error == ""
    process = made[0]._sandbox.process
    made.clear()
    assert process.poll() is not None, "a worker that nobody holds ends its sandbox"
