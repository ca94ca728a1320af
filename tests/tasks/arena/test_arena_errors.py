from __future__ import annotations

from typing import get_args

import pytest
from arena_example import CANCEL, PENDING, Scripted, cancel_task, image, oracle_policy, program_task, sum_task

from schemas.episode import ErrorType, Step, Trajectory
from schemas.task import AgentTask, Call, Oracle
from tasks.arena import classify_error
from tasks.arena.alignment import script_tools
from tasks.rollout import Answer, Attempt, rollout
from tasks.sandbox import SandboxWorker


@pytest.fixture(scope="module")
def worker():
    with SandboxWorker() as worker:
        yield worker


def play(worker: SandboxWorker, task: AgentTask, *moves: Call | Answer, max_calls: int | None = None) -> Trajectory:
    policy = Scripted({task.prompt: moves})
    return rollout(policy, [Attempt(task, image())], max_calls, workers=[worker])[0]


def call(tool: str, **arguments: object) -> Call:
    return Call(tool=tool, arguments=arguments)


def ref(place: str) -> dict[str, str]:
    return {"$ref": place}


LIST, GET, CANCEL_IT = CANCEL
RIGHT = Answer({"product": ref("1.name"), "status": "cancelled"})
LATE = Answer({"product": ref("1.name"), "status": ref("2.status")})
NOPE = {"product": "Nope", "status": "cancelled"}
OTHER = call("cancel_order", order_id=ref("0.orders[1].order_id"))

CASES: dict[str, tuple[ErrorType, tuple[Call | Answer, ...]]] = {
    "an outside tool in place of needed ones": ("wrong_tool", (call("count_products"), Answer({}))),
    "the wrong write in place of the right one": (
        "wrong_tool", (LIST, GET, call("ship_order", order_id=ref("0.orders[0].order_id")), RIGHT),
    ),
    "a tool that does not exist": ("wrong_tool", (call("delete_order", order_id="x"), Answer({}))),
    "the right write on another row": ("wrong_argument", (LIST, GET, OTHER, LATE)),
    "the right tool with an unknown key": (
        "wrong_argument", (LIST, call("get_product", product_id="prd-nope"), CANCEL_IT, Answer(NOPE)),
    ),
    "all read, nothing written": ("missing_state_update", (LIST, GET, RIGHT)),
    "one write more": ("extra_state_update", (LIST, GET, CANCEL_IT, OTHER, LATE)),
    "an answer at once": ("premature_stop", (Answer({}),)),
    "an answer after the first call": ("premature_stop", (LIST, Answer(NOPE))),
    "another value than the one seen": ("wrong_answer", (LIST, GET, CANCEL_IT, Answer(NOPE))),
    "a detour before the right calls, then a wrong answer": (
        "wrong_answer",
        (
            call("list_orders", status="shipped"), LIST, call("get_product", product_id=ref("1.orders[0].product_id")),
            call("cancel_order", order_id=ref("1.orders[0].order_id")), Answer(NOPE),
        ),
    ),
    "a field too many": ("format", (LIST, GET, CANCEL_IT, Answer({**NOPE, "more": 1}))),
    "a number where a text is asked for": ("format", (LIST, GET, CANCEL_IT, Answer({**NOPE, "product": 7}))),
    "no answer's content after all calls": ("format", (LIST, GET, CANCEL_IT, Answer({}))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_played_failure_has_its_error_type(worker: SandboxWorker, name: str) -> None:
    expected, moves = CASES[name]
    trajectory = play(worker, cancel_task(), *moves)
    assert not trajectory.success
    assert classify_error(cancel_task(), trajectory, image().writes) == expected


def test_running_out_of_calls_is_a_step_limit(worker: SandboxWorker) -> None:
    trajectory = play(worker, cancel_task(), *[LIST] * 9, max_calls=4)
    assert trajectory.error == "step_limit"
    assert classify_error(cancel_task(), trajectory) == "step_limit"


def test_a_wrong_computed_value_is_a_wrong_aggregation(worker: SandboxWorker) -> None:
    summed = play(worker, sum_task(), *sum_task().oracle.calls, Answer({"value": 1.5}))
    assert classify_error(sum_task(), summed) == "wrong_aggregation"
    right_last = program_task().expected_answer["last"]
    counted = play(worker, program_task(), LIST, Answer({"units": 999, "last": right_last}))
    assert classify_error(program_task(), counted) == "wrong_aggregation"
    read = play(worker, program_task(), LIST, Answer({**program_task().expected_answer, "last": "ord-nope"}))
    assert classify_error(program_task(), read) == "wrong_answer"


def test_a_script_needs_the_tools_outside_branches_only(worker: SandboxWorker) -> None:
    assert script_tools(program_task().oracle.script) == ({"list_orders"}, {"list_orders", "list_documents"})
    stopped = play(worker, program_task(), Answer({"units": 1, "last": "x"}))
    assert classify_error(program_task(), stopped) == "premature_stop"
    refused = play(worker, program_task(), call("list_orders", state=3), Answer({"units": 1, "last": "x"}))
    assert classify_error(program_task(), refused) == "wrong_argument"


def test_a_scripts_write_on_another_row_is_a_wrong_argument(worker: SandboxWorker) -> None:
    script = """
def solve(call):
    order = call("list_orders", status="pending", limit=3)["orders"][0]
    call("cancel_order", order_id=order["order_id"])
    return {}
"""
    answer = {"verifier": cancel_task().verifier.model_copy(update={"answer": (), "expected_answer": {}})}
    task = cancel_task().model_copy(update={"oracle": Oracle(script=script), "expected_answer": {}, **answer})
    hit = play(worker, task, LIST, call("cancel_order", order_id=ref("0.orders[0].order_id")), Answer({}))
    assert hit.success
    missed = play(worker, task, LIST, call("cancel_order", order_id=ref("0.orders[1].order_id")), Answer({}))
    assert classify_error(task, missed, image().writes) == "wrong_argument"


def test_a_flag_is_no_number(worker: SandboxWorker) -> None:
    flagged = play(worker, program_task(), LIST, Answer({**program_task().expected_answer, "units": True}))
    assert classify_error(program_task(), flagged) == "format"


def test_every_error_type_is_reachable(worker: SandboxWorker) -> None:
    assert {kind for kind, _ in CASES.values()} | {"step_limit", "wrong_aggregation"} == set(get_args(ErrorType))


def test_any_failure_gets_one_type_whatever_the_trajectory_holds(worker: SandboxWorker) -> None:
    base = play(worker, cancel_task(), LIST, GET, CANCEL_IT, Answer(NOPE))
    odd = [
        base.model_copy(update={"answer": None}),
        base.model_copy(update={"error": "killed"}),
        base.model_copy(update={"error": "format"}),
        base.model_copy(update={"checks": {}, "changes": ()}),
        base.model_copy(update={"steps": (), "answer": {"product": None, "status": None}}),
        base.model_copy(update={"steps": (Step(tool="list_orders", arguments=PENDING, observation={"orders": []}),)}),
    ]
    assert all(classify_error(cancel_task(), t, image().writes) in get_args(ErrorType) for t in odd)


def test_a_success_or_another_tasks_episode_is_refused(worker: SandboxWorker) -> None:
    won = rollout(oracle_policy(cancel_task()), [Attempt(cancel_task(), image())], workers=[worker])[0]
    assert won.success
    with pytest.raises(ValueError, match="succeeded"):
        classify_error(cancel_task(), won)
    with pytest.raises(ValueError, match="is of task"):
        classify_error(sum_task(), won)
