"""Each gate says no to a crafted faulty candidate, and yes to the sound one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from worlds import shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.task import AnswerField, Call, Oracle, Verifier
from tasks.environment import EnvironmentImage
from tasks.synthesis import gates
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.attack import Attacker
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.draft import Expected
from tasks.synthesis.order import order
from tasks.synthesis.redteam import drop, red_team
from tasks.synthesis.replay import Bench, Run
from tasks.synthesis.trace import trace_calls
from tasks.synthesis.trust import Trust, oracle_key

ROWS = shop_rows()


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return Atlas(shop_database(), shop_snapshot(), shop_tools())


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())) as bench:
        yield bench


@pytest.fixture(scope="module")
def sound() -> Candidate:
    """Cancel the only pending order of a customer who has one, and say what its product costs."""
    for customer in ROWS["customers"]:
        pending = [
            o for o in ROWS["orders"] if o["customer_id"] == customer["customer_id"] and o["status"] == "pending"
        ]
        if len(pending) == 1:
            break
    chosen = pending[0]
    calls = (
        Call(tool="find_customers", arguments={"name": customer["name"]}),
        Call(
            tool="list_orders", arguments={"customer_id": {"$ref": "0.customers[0].customer_id"}, "status": "pending"}
        ),
        Call(tool="cancel_order", arguments={"order_id": {"$ref": "1.orders[0].order_id"}}),
        Call(tool="get_product", arguments={"product_id": {"$ref": "2.product_id"}}),
    )
    return Candidate(
        kind="graph", template="test",
        prompt=f'Cancel the only "pending" order of "{customer["name"]}". Reply with "cost", what its product costs.',
        oracle=Oracle(calls=calls, answer={"cost": {"$ref": "3.price"}}),
        fields=(AnswerField(name="cost", type="number", tolerance=0.01),), skills=("search",),
        expected=(
            Expected(1, "orders[0].order_id", chosen["order_id"]), Expected(1, "total", 1, "ambiguous"),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def run(bench: Bench, sound: Candidate) -> Run:
    return bench.execute(sound.oracle)


def _judge(bench: Bench, atlas: Atlas) -> Trust:
    from tasks.rollout import ToolSignature

    signatures = tuple(ToolSignature.of(t) for t in shop_tools())
    return Trust(bench, atlas, signatures, "env-shop", 3, 16, Attacker(bench, atlas, signatures, "env-shop"))


def test_the_sound_candidate_passes_every_gate(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    gate, reason, task = _judge(bench, atlas).judge(sound, random.Random(0), (), None)
    assert (gate, reason) == ("", "")
    assert task is not None
    assert task.kill_rate == 1.0 and task.mutants > 10 and task.writes
    assert task.difficulty is not None and 0 < task.difficulty <= 1
    assert task.pass_rates["null"] == 0.0


def _gate(bench: Bench, atlas: Atlas, candidate: Candidate) -> str:
    return _judge(bench, atlas).judge(candidate, random.Random(0), (), None)[0]


def test_executes(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    twice = (*sound.oracle.calls[:3], sound.oracle.calls[2], sound.oracle.calls[3])
    refused = replace(sound, oracle=Oracle(calls=twice, answer=sound.oracle.answer))
    assert _gate(bench, atlas, refused) == "executes"
    nowhere = replace(sound, oracle=Oracle(calls=sound.oracle.calls, answer={"cost": {"$ref": "3.prize"}}))
    assert _gate(bench, atlas, nowhere) == "executes"
    wrong_type = replace(sound, fields=(AnswerField(name="cost", type="string"),))
    assert _gate(bench, atlas, wrong_type) == "executes"
    crashing = replace(sound, oracle=Oracle(script="def solve(call):\n    return {'cost': 1 / 0}\n"))
    assert _gate(bench, atlas, crashing) == "executes"


def test_a_task_to_decline_must_change_nothing(sound: Candidate, run: Run) -> None:
    assert "refused" in gates.executes(replace(sound, refusals=1), run)
    refused = run.steps[0].model_copy(update={"observation": {"error": {"code": "X", "message": ""}}})
    changing = replace(run, steps=(refused, *run.steps[1:]))
    assert "changes the state" in gates.executes(replace(sound, refusals=1, classes=("decline",)), changing)


def test_length(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    calls = sound.oracle.calls[:1]
    short = replace(
        sound, oracle=Oracle(calls=calls, answer={"cost": {"$ref": "0.total"}}), expected=(), prompt=sound.prompt
    )
    assert _gate(bench, atlas, short) == "length"


def test_ambiguous(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    without = (
        sound.oracle.calls[0],
        Call(tool="list_orders", arguments={"status": "pending"}),
        *sound.oracle.calls[2:],
    )
    vague = replace(sound, oracle=Oracle(calls=without, answer=sound.oracle.answer))
    assert _gate(bench, atlas, vague) == "ambiguous"


def test_independent(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    other = replace(sound, expected=(Expected(1, "orders[0].order_id", "ord-other"),))
    assert _gate(bench, atlas, other) == "independent"
    assert _gate(bench, atlas, replace(sound, predicted=(("cost", 0.5),))) == "independent"


def test_order(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    """A count of pending orders, and the status of one, differ before and after it is cancelled."""
    count = replace(
        sound,
        oracle=Oracle(calls=sound.oracle.calls, answer={"cost": {"$ref": "3.price"}, "pending": {"$ref": "1.total"}}),
        fields=(*sound.fields, AnswerField(name="pending", type="integer")),
    )
    assert order(count, bench.execute(count.oracle), atlas, bench).startswith("answer field 'pending' is 1 before")
    status = replace(count, oracle=Oracle(calls=sound.oracle.calls, answer={"status": {"$ref": "1.orders[0].status"}}))
    assert "orders.status" in order(status, bench.execute(status.oracle), atlas, bench)
    after = replace(count, oracle=Oracle(calls=sound.oracle.calls, answer={"status": {"$ref": "2.status"}}))
    assert order(after, bench.execute(after.oracle), atlas, bench) == ""
    same = replace(count, oracle=Oracle(calls=sound.oracle.calls, answer={"units": {"$ref": "1.orders[0].quantity"}}))
    assert order(same, bench.execute(same.oracle), atlas, bench) == ""


def test_matters(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    idle = Call(tool="count_products", arguments={"in_stock": True})
    padded = replace(sound, oracle=Oracle(calls=(*sound.oracle.calls, idle), answer=sound.oracle.answer))
    assert _gate(bench, atlas, padded) == "matters"


def test_a_write_without_a_trace_does_not_matter(bench: Bench, atlas: Atlas) -> None:
    product = next(p for p in ROWS["products"] if p["stock"] > 0)
    calls = (
        Call(tool="search_products", arguments={"text": product["name"]}),
        Call(
            tool="change_price",
            arguments={"product_id": {"$ref": "0.products[0].product_id"}, "price": product["price"]},
        ),
        Call(tool="get_supplier", arguments={"supplier_id": {"$ref": "0.products[0].supplier_id"}}),
    )
    candidate = Candidate(
        kind="graph", template="test", prompt=f'Set the price of "{product["name"]}" to {product["price"]}. Its maker?',
        oracle=Oracle(calls=calls, answer={"maker": {"$ref": "2.name"}}),
        fields=(AnswerField(name="maker", type="string"),), skills=(),
    )  # fmt: skip
    assert _gate(bench, atlas, candidate) == "matters"


def test_grounded(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    unsaid = replace(sound, prompt="Cancel the only pending order of our best customer.")
    assert _gate(bench, atlas, unsaid) == "grounded"


def test_grounded_reads_numbers_and_documents(atlas: Atlas, sound: Candidate, run: Run) -> None:
    step = run.steps[0].model_copy(update={"arguments": {"limit": 7}})
    spoilt = replace(run, steps=(step,))
    assert gates.grounded(sound, spoilt, atlas)
    assert not gates.grounded(replace(sound, prompt="Take 7 of them."), spoilt, atlas)
    document = run.steps[0].model_copy(update={"arguments": {}, "observation": {"content": "id,x\nord-77,1\n"}})
    follow = run.steps[0].model_copy(update={"arguments": {"order_id": "ord-77"}})
    assert not gates.grounded(sound, replace(run, steps=(document, follow)), atlas)
    assert gates.grounded(sound, replace(run, steps=(follow, document)), atlas)


def test_leak(bench: Bench, atlas: Atlas, sound: Candidate, run: Run) -> None:
    assert _gate(bench, atlas, replace(sound, prompt=sound.prompt + " Use cancel_order.")) == "leak"
    assert _gate(bench, atlas, replace(sound, prompt=sound.prompt + " Mind shipped_at.")) == "leak"
    price = (run.answer or {})["cost"]
    assert _gate(bench, atlas, replace(sound, prompt=f"{sound.prompt} It is {price}.")) == "leak"
    assert _gate(bench, atlas, replace(sound, choices=frozenset({"cost"}))) == "leak"


def test_deterministic(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    script = (
        "def solve(call):\n"
        f"    owner = call('find_customers', name={sound.oracle.calls[0].arguments['name']!r})['customers'][0]\n"
        "    rows = call('list_orders', customer_id=owner['customer_id'], status='pending')['orders']\n"
        "    done = call('cancel_order', order_id=rows[0]['order_id'])\n"
        "    return {'cost': float(hash('cost'))}\n"
    )
    random_answer = replace(sound, oracle=Oracle(script=script), expected=())
    assert _gate(bench, atlas, random_answer) == "deterministic"


def test_off_target_unbound_and_duplicate(bench: Bench, atlas: Atlas, sound: Candidate) -> None:
    judge = _judge(bench, atlas)
    assert judge.judge(sound, random.Random(0), (), ["loop"])[0] == "off_target"
    assert judge.judge(None, random.Random(0), (), None)[0] == "unbound"
    assert judge.judge(sound, random.Random(0), {oracle_key(sound.oracle)}, None)[0] == "duplicate"


def test_trivial(bench: Bench, atlas: Atlas) -> None:
    """The null policy answers 0, so asking for the number of something that is not there tells nothing."""
    owners = {order["customer_id"] for order in ROWS["orders"]}
    waiting = {order["customer_id"] for order in ROWS["orders"] if order["status"] == "pending"}
    customer = next(c for c in ROWS["customers"] if c["customer_id"] in owners - waiting)
    calls = (
        Call(tool="find_customers", arguments={"name": customer["name"]}),
        Call(tool="list_orders", arguments={"customer_id": {"$ref": "0.customers[0].customer_id"}}),
        Call(tool="list_orders", arguments={"customer_id": {"$ref": "1.orders[0].customer_id"}, "status": "pending"}),
    )
    candidate = Candidate(
        kind="graph", template="test", prompt=f'How many orders of "{customer["name"]}" are "pending"?',
        oracle=Oracle(calls=calls, answer={"open": {"$ref": "2.total"}}),
        fields=(AnswerField(name="open", type="integer"),), skills=(),
    )  # fmt: skip
    gate, reason, _ = _judge(bench, atlas).judge(candidate, random.Random(0), (), None)
    assert gate == "trivial", reason


def test_the_red_team_finds_a_blind_verifier(bench: Bench, atlas: Atlas, sound: Candidate, run: Run) -> None:
    assert run.answer is not None
    good = Verifier(answer=sound.fields, expected_answer=run.answer, expected_changes=run.changes)
    report = red_team(bench, atlas, good, sound.oracle, run, sound.prompt, random.Random(1))
    assert report.survivors == () and report.kill_rate == 1.0
    blind = {f"{change.table}.{column}" for change in run.changes for column in (change.after or {})}
    stateless = good.model_copy(update={"expected_changes": (), "ignore_columns": tuple(sorted(blind))})
    report = red_team(bench, atlas, stateless, sound.oracle, run, sound.prompt, random.Random(1))
    assert {"right_answer_wrong_state", "dropped_step", "wrong_object", "extra_write"} <= set(report.survivors)
    assert report.kill_rate < 1.0
    loose = good.model_copy(update={"answer": (sound.fields[0].model_copy(update={"tolerance": 1e9}),)})
    report = red_team(bench, atlas, loose, sound.oracle, run, sound.prompt, random.Random(1))
    assert "right_state_wrong_answer" in report.survivors


def test_dropping_a_call_drops_what_refers_to_it(sound: Candidate) -> None:
    assert [call.tool for call in drop(sound.oracle.calls, 1)] == ["find_customers"]
    assert [call.tool for call in drop(sound.oracle.calls, 3)] == ["find_customers", "list_orders", "cancel_order"]


def test_traces_keep_references_to_minted_keys_only(bench: Bench) -> None:
    product = next(p for p in ROWS["products"] if p["stock"] > 2)
    calls = (
        Call(tool="place_order", arguments={
            "customer_id": ROWS["customers"][0]["customer_id"], "product_id": product["product_id"], "quantity": 1,
        }),
        Call(tool="cancel_order", arguments={"order_id": {"$ref": "0.order_id"}}),
    )  # fmt: skip
    first = bench.execute(Oracle(calls=calls, answer={}))
    trace = trace_calls(first.steps, first.changes)
    assert trace[1].arguments == {"order_id": {"$ref": "0.order_id"}}
    assert trace[0].arguments == calls[0].arguments
    other = bench.execute(Oracle(calls=trace, answer={}), seed=5)
    assert [step.observation.get("error") for step in other.steps] == [None, None]
