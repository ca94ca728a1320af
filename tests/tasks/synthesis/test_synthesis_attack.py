"""What attacks a task: the search for a shorter solution, guesses, reads left out, tolerances, and the panel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from worlds import ENV_ID, shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.scores import set_scores
from schemas.task import AgentTask, AnswerField, Call, Oracle, Verifier
from tasks.environment import EnvironmentImage, verify
from tasks.rollout import ToolSignature, first_view
from tasks.synthesis import probe, synthesize
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.attack import Attacker
from tasks.synthesis.panel import difficulty
from tasks.synthesis.panel_search import search_solves
from tasks.synthesis.redteam import red_team, tightened
from tasks.synthesis.redteam_guess import AnswerPrior
from tasks.synthesis.replay import Bench, Run
from tasks.synthesis.search import ShorterSearch
from tasks.synthesis.search_bound import least_calls
from tasks.synthesis.search_cover import Move, cover

ROWS = shop_rows()
TOOLS = shop_tools()


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return Atlas(shop_database(), shop_snapshot(), TOOLS)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(EnvironmentImage.of(shop_database(), TOOLS, shop_snapshot())) as bench:
        yield bench


def _task(bench: Bench, prompt: str, oracle: Oracle, *fields: AnswerField) -> tuple[AgentTask, Run]:
    run = bench.execute(oracle)
    assert not run.error, run.error
    verifier = Verifier(answer=fields, expected_answer=dict(run.answer or {}), expected_changes=run.changes)
    task = AgentTask(
        task_id="task-1", env_id=ENV_ID, kind="graph", prompt=prompt, tools=tuple(tool.name for tool in TOOLS),
        oracle=oracle, oracle_calls=len(run.steps), expected_answer=dict(run.answer or {}), verifier=verifier,
        template="test",
    )  # fmt: skip
    return task, run


def _find(name: str) -> Call:
    return Call(tool="find_customers", arguments={"name": name})


def _ref(place: str) -> dict[str, str]:
    return {"$ref": place}


def _text(name: str) -> AnswerField:
    return AnswerField(name=name, type="string")


def _tiers(bench: Bench) -> tuple[AgentTask, Run]:
    """Ask for the tiers of three customers, one search each."""
    names = [customer["name"] for customer in ROWS["customers"][:3]]
    oracle = Oracle(
        calls=tuple(_find(name) for name in names),
        answer={f"tier_{n}": _ref(f"{n}.customers[0].tier") for n in range(3)},
    )
    prompt = "Which tiers have " + ", ".join(f'"{name}"' for name in names) + "?"
    return _task(bench, prompt, oracle, *(_text(f"tier_{n}") for n in range(3)))


def _cancel(bench: Bench) -> tuple[AgentTask, Run]:
    """Cancel a customer's only pending order, found over the customer."""
    for customer in ROWS["customers"]:
        theirs = [o for o in ROWS["orders"] if o["customer_id"] == customer["customer_id"] and o["status"] == "pending"]
        if len(theirs) == 1:
            break
    calls = (
        _find(customer["name"]),
        Call(tool="list_orders", arguments={"customer_id": _ref("0.customers[0].customer_id"), "status": "pending"}),
        Call(tool="cancel_order", arguments={"order_id": _ref("1.orders[0].order_id")}),
        Call(tool="get_product", arguments={"product_id": _ref("2.product_id")}),
    )
    prompt = f'Cancel the only "pending" order of "{customer["name"]}". What does its product cost?'
    field = AnswerField(name="cost", type="number", tolerance=0.01)
    return _task(bench, prompt, Oracle(calls=calls, answer={"cost": _ref("3.price")}), field)


def test_one_listing_replaces_three_searches(bench: Bench, atlas: Atlas) -> None:
    task, run = _tiers(bench)
    shortest = ShorterSearch(bench, atlas).search(task, run)
    assert (shortest.found, shortest.least, shortest.exhausted) == (1, 1, True)
    assert [call.tool for call in shortest.calls] == ["find_customers"]
    assert shortest.length(3) == 1, "less than half of the oracle's calls: labelled by what it takes"
    assert shortest.length(2) == 2


def test_a_row_must_have_been_singled_out(bench: Bench, atlas: Atlas) -> None:
    """Cancelling an order that a listing happens to show is luck, unless the customer's key is known."""
    task, run = _cancel(bench)
    shortest = ShorterSearch(bench, atlas).search(task, run)
    assert shortest.found == 4 and shortest.calls == ()
    assert shortest.least == 2
    outcome = bench.batch([[Call(tool="list_orders"), *(c for c in _trace(run) if c.tool == "cancel_order")]])[0]
    assert verify(task.verifier, run.answer, outcome.changes).success, "the lucky episode does get full reward"


def _trace(run: Run) -> list[Call]:
    return [Call(tool=step.tool, arguments=step.arguments) for step in run.steps]


def test_a_script_needs_the_rows_that_it_walks_over(bench: Bench, atlas: Atlas) -> None:
    pending = [o for o in ROWS["orders"] if o["status"] == "pending"]
    script = (
        "def solve(call):\n"
        "    rows = call('list_orders', status='pending')['orders']\n"
        "    prices = [call('get_product', product_id=row['product_id'])['price'] for row in rows]\n"
        "    return {'most': max(prices)}\n"
    )
    task, run = _task(
        bench, 'What is the highest price among the products of "pending" orders?', Oracle(script=script),
        AnswerField(name="most", type="number"),
    )  # fmt: skip
    assert len(run.steps) == len(pending) + 1
    shortest = ShorterSearch(bench, atlas).search(task, run)
    assert shortest.found == 2, "all orders, all products"
    assert {call.tool for call in shortest.calls} == {"list_orders", "search_products"}


def test_the_bound_counts_rows_that_one_call_can_change(bench: Bench, atlas: Atlas) -> None:
    first, second = [o for o in ROWS["orders"] if o["status"] == "pending"][:2]
    ship = [Call(tool="ship_order", arguments={"order_id": o["order_id"]}) for o in (first, second)]
    changes = bench.execute(Oracle(calls=tuple(ship))).changes
    assert least_calls(atlas, changes, "Ship both.") == 3, "two writes, and the orders must have been seen"
    assert least_calls(atlas, changes, f'Ship "{first["order_id"]}" and "{second["order_id"]}".') == 2
    assert least_calls(atlas, (), "How many?") == 1


def test_the_cover_is_the_shortest_there_is() -> None:
    """Against all orders of all moves, on small instances drawn at random."""
    rng = random.Random(4)
    for _ in range(150):
        reads = [Move(n, rng.getrandbits(3) & rng.getrandbits(3), rng.getrandbits(5), late=n == 4) for n in range(5)]
        writes = [Move(9, rng.getrandbits(3) & rng.getrandbits(3), rng.getrandbits(5), write=0)] * rng.randint(0, 1)
        goal = rng.getrandbits(5)
        for move in writes:
            goal |= move.requires
        found = cover(reads, writes, goal, 7)
        assert found.exhausted
        assert (len(found.moves) if found.moves is not None else None) == _by_force(reads, writes, goal)


def _by_force(reads: list[Move], writes: list[Move], goal: int) -> int | None:
    for size in range(len(reads) + len(writes) + 1):
        for moves in permutations([*reads, *writes], size):
            known, done, right = 0, False, True
            for move in moves:
                right &= not move.requires & ~known and (
                    move.write is not None or move.late == (done or not writes and move.late)
                )
                right &= move.write is not None or not done or move.late
                known, done = known | move.provides, done or move.write is not None
            if right and not goal & ~known and sum(m.write is not None for m in moves) == len(writes):
                return size
    return None


def test_guesses_come_from_siblings_columns_and_actions(atlas: Atlas) -> None:
    prior = AnswerPrior(atlas)
    fields = (AnswerField(name="count", type="integer"), _text("reason"))
    assert prior.chance(fields, {"count": 7, "reason": "LATE"}, "?") == 0.0
    for count in (7, 7, 7, 3):
        prior.add(fields, {"count": count, "reason": "LATE"})
    assert prior.chance(fields, {"count": 7, "reason": "LATE"}, "?") == pytest.approx(3 / 6 * 4 / 6)
    own = prior.chance(fields, {"count": 3, "reason": "LATE"}, "?", known=True)
    assert own < 0.05, "a task's own answer tells nothing about it"
    assert prior.guess(fields, "?") == {"count": 7, "reason": "LATE"}
    status = (_text("order_status"),)
    assert prior.chance(status, {"order_status": "cancelled"}, "Please cancel it.") >= 0.5
    assert prior.chance((AnswerField(name="done", type="boolean"),), {"done": False}, "?") == 0.5


def test_a_read_that_a_guess_replaces_is_found(bench: Bench, atlas: Atlas) -> None:
    tiers = [customer["tier"] for customer in ROWS["customers"]]
    common = max(sorted(set(tiers)), key=tiers.count)
    customer = next(c for c in ROWS["customers"] if c["tier"] == common)
    oracle = Oracle(calls=(_find(customer["name"]),), answer={"tier": _ref("0.customers[0].tier")})
    task, run = _task(bench, f'Which tier has "{customer["name"]}"?', oracle, _text("tier"))
    report = red_team(bench, atlas, task.verifier, oracle, run, task.prompt, random.Random(0))
    assert set(report.survivors) == {"dropped_read", "guess"}
    assert all(escape.answer == {"tier": common} and not escape.calls for escape in report.escapes)
    attacker = Attacker(bench, atlas, [ToolSignature.of(tool) for tool in TOOLS], ENV_ID)
    gate, reason, kept = attacker.attack(task, run, random.Random(0))
    assert (gate, kept) == ("red_team", None) and "dropped_read" in reason
    assert {(s.kind, s.outcome) for s in attacker.survivors} == {("dropped_read", "rejected"), ("guess", "rejected")}


def test_a_loose_tolerance_is_repaired(bench: Bench, atlas: Atlas) -> None:
    task, run = _cancel(bench)
    loose = task.verifier.model_copy(
        update={"answer": (task.verifier.answer[0].model_copy(update={"tolerance": 1.5}),)}
    )
    report = red_team(bench, atlas, loose, task.oracle, run, task.prompt, random.Random(0))
    assert {"right_state_wrong_answer", "tolerance"} <= set(report.survivors)
    tight = tightened(loose, report.escapes)
    assert 0 < tight.answer[0].tolerance < 0.5
    assert not any(verify(tight, escape.answer, escape.changes).success for escape in report.escapes)
    attacker = Attacker(bench, atlas, [ToolSignature.of(tool) for tool in TOOLS], ENV_ID)
    gate, _, kept = attacker.attack(task.model_copy(update={"verifier": loose}), run, random.Random(0))
    assert gate == "" and kept is not None and kept.verifier.answer[0].tolerance == tight.answer[0].tolerance
    assert {s.outcome for s in attacker.survivors} == {"repaired"}
    assert kept.shortest_found == 4 and kept.length == 4 and kept.least_calls == 2
    assert set(kept.pass_rates) >= {"null", "guess", "random", "lexical", "search", "noisy-oracle-0.30"}


def test_the_bounded_search_passes_what_is_within_its_reach(bench: Bench) -> None:
    prompt = 'How many orders with the status "pending" are there? Reply with the "total".'
    oracle = Oracle(
        calls=(Call(tool="list_orders", arguments={"status": "pending"}),), answer={"total": _ref("0.total")}
    )
    task, _ = _task(bench, prompt, oracle, AnswerField(name="total", type="integer"))
    signatures = [ToolSignature.of(tool) for tool in TOOLS]
    assert search_solves(bench, task, first_view(task, signatures))
    hard, _ = _cancel(bench)
    assert not search_solves(bench, hard, first_view(hard, signatures))


def test_difficulty_is_the_share_of_failing_solvers_that_could_pass() -> None:
    rates = {"null": 0.0, "guess": 0.0, "random": 0.0, "lexical": 0.0, "search": 1.0, "noisy-oracle-0.05": 0.5}
    assert difficulty(rates) == 0.5


def test_scores_of_sets(bench: Bench) -> None:
    task, _ = _tiers(bench)

    def of(split: str, **rates: Any) -> AgentTask:
        return task.model_copy(update={"split": split, "pass_rates": rates})

    tasks = [
        of("arena-0", null=0.0, lexical=1.0),
        of("arena-1", null=0.0, lexical=0.0),
        of("train", null=0.0),
        of("practice"),
    ]
    scores = {(s.set_name, s.policy_id): (s.tasks, s.score) for s in set_scores(tasks, "all")}
    assert scores == {
        ("arena", "null"): (2, 0.0), ("arena", "lexical"): (2, 0.5), ("train", "null"): (1, 0.0),
        ("all", "null"): (3, 0.0), ("all", "lexical"): (2, 0.5),
    }  # fmt: skip


def test_accepted_tasks_hold_against_a_later_attack(bench: Bench) -> None:
    made = synthesize(shop_database(), shop_snapshot(), TOOLS, seed=2, n=6, worker=bench.main)
    report = probe(shop_database(), shop_snapshot(), TOOLS, made.tasks, seed=55)
    assert (report.tasks, report.oracle, report.null) == (6, 6, 0)
    assert report.mutants > 100 and report.killed == report.mutants - len(report.survivors)
    assert report.killed / report.mutants >= 0.995
    assert sum(n for n, _ in report.kinds.values()) == report.mutants
    again = probe(shop_database(), shop_snapshot(), TOOLS, made.tasks, seed=55)
    assert again == report
    blind = [t.model_copy(update={"verifier": _blind(t.verifier)}) for t in made.tasks if t.writes][:1]
    found = probe(shop_database(), shop_snapshot(), TOOLS, blind, seed=55)
    assert {s.outcome for s in found.survivors} == {"kept"}
    assert "right_answer_wrong_state" in {s.kind for s in found.survivors}


def _blind(verifier: Verifier) -> Verifier:
    """Return a verifier that does not look at the state."""
    seen = {f"{change.table}.{column}" for change in verifier.expected_changes for column in (change.after or {})}
    return verifier.model_copy(update={"expected_changes": (), "ignore_columns": tuple(sorted(seen))})
