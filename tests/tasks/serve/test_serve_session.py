"""One session: a private episode, limits with clear errors, and a verdict that the tools' code cannot reach."""

from __future__ import annotations

import pytest
from serve_example import SLOW, TOOLS, oracle_of, shop_served, shop_task

from schemas.task import Fact, SimulatedUser
from tasks.serve import Served, ServeLimits, Session

TASK = shop_task()
CALL, ARGUMENTS = oracle_of(TASK)


@pytest.fixture
def begin():
    sessions: list[Session] = []

    def make(served: Served, limits: ServeLimits | None = None, **more) -> Session:
        sessions.append(Session(served, limits, **more))
        return sessions[-1]

    yield make
    for session in sessions:
        session.end()


def code(observation: dict) -> str:
    return observation["error"]["code"]


def test_the_oracle_is_paid_in_full_and_doing_nothing_is_not(begin):
    first, second, wrong = (begin(shop_served(TASK)) for _ in range(3))
    assert first.call(CALL, ARGUMENTS)["status"] == "cancelled"
    verdict = first.score(TASK.expected_answer)
    assert verdict["success"] and verdict["reward"] == 1.0 and verdict["calls"] == verdict["oracle_calls"] == 1
    assert all(verdict["checks"].values())
    idle = second.score(None)
    assert not idle["success"] and idle["reward"] == 0.0
    guessed = wrong.score(TASK.expected_answer)  # the right answer, but nothing was done
    assert not guessed["success"] and guessed["reward"] < 0.1 and not guessed["checks"]["state"]


def test_the_first_verdict_stands_and_ends_the_episode(begin):
    session = begin(shop_served(TASK))
    assert not session.score({"units": -1})["success"]
    assert code(session.call(CALL, ARGUMENTS)) == "EPISODE_OVER"
    assert not session.score(TASK.expected_answer)["success"] and session.scored and not session.live


def test_an_ended_session_can_still_be_scored(begin):
    session = begin(shop_served(TASK))
    session.call(CALL, ARGUMENTS)
    session.end()
    assert not session.live and session.score(TASK.expected_answer)["reward"] == 1.0


def test_sessions_do_not_see_each_other(begin):
    one, other = begin(shop_served()), begin(shop_served())
    before = other.call("get_order", {"order_id": ARGUMENTS["order_id"]})
    assert one.call(CALL, ARGUMENTS)["status"] == "cancelled"
    assert other.call("get_order", {"order_id": ARGUMENTS["order_id"]}) == before


def test_only_the_tasks_tools_can_be_called(begin):
    session = begin(shop_served(TASK))
    assert code(session.call("get_order", {"order_id": "x"})) == "UNKNOWN_TOOL" and session.calls == 0


def test_without_a_task_there_is_nothing_to_score(begin):
    with pytest.raises(ValueError, match="no task is served"):
        begin(shop_served()).score({})


def test_a_task_must_fit_its_environment():
    with pytest.raises(ValueError, match="belongs to 'other'"):
        shop_served(TASK.model_copy(update={"env_id": "other"}))
    with pytest.raises(ValueError, match="lacks: \\['fly'\\]"):
        shop_served(TASK.model_copy(update={"tools": ("fly",)}))


def test_calls_are_limited(begin):
    session = begin(shop_served(), ServeLimits(calls=2))
    name = session.served.database.documents[0].name
    assert session.read(name)["content"]
    assert "error" not in session.call("list_orders", {})
    refused = session.call("list_orders", {})
    assert code(refused) == "CALL_LIMIT" and "its 2 calls" in refused["error"]["message"]
    assert code(session.read(name)) == "CALL_LIMIT"


def test_a_session_is_limited_in_time(begin):
    now = [0.0]
    session = begin(shop_served(), ServeLimits(session_s=60), clock=lambda: now[0])
    assert "error" not in session.call("list_orders", {})
    now[0] = 61.0
    refused = session.call("list_orders", {})
    assert code(refused) == "SESSION_TIME" and "60 s" in refused["error"]["message"]


def test_output_is_limited_and_the_episode_goes_on(begin):
    session = begin(shop_served(), ServeLimits(output_chars=400))
    refused = session.call("list_orders", {})
    assert code(refused) == "OUTPUT_LIMIT" and "400 characters" in refused["error"]["message"]
    assert "error" not in session.call("get_order", {"order_id": ARGUMENTS["order_id"]})


def test_a_call_that_does_not_end_loses_its_own_episode_only(begin):
    lost, other = (begin(shop_served(more=(SLOW,)), ServeLimits(call_s=0.7)) for _ in range(2))
    refused = lost.call("wait_forever", {})
    assert code(refused) == "TIMEOUT" and "start a new session" in refused["error"]["message"]
    assert code(lost.call("list_orders", {})) == "TIMEOUT"
    assert "error" not in other.call("list_orders", {})


def test_a_lost_episode_earns_nothing(begin):
    served = Served.of(
        shop_served().database, (*TOOLS, SLOW), shop_served().image.snapshot,
        TASK.model_copy(update={"tools": (*TASK.tools, "wait_forever")}),
    )  # fmt: skip
    session = begin(served, ServeLimits(call_s=0.7))
    session.call(CALL, ARGUMENTS)
    session.call("wait_forever", {})
    verdict = session.score(TASK.expected_answer)
    assert not verdict["success"] and verdict["reward"] < 0.1 and verdict["error"] == "timeout"


def test_what_is_no_json_is_refused(begin):
    session = begin(shop_served())
    assert code(session.call("list_orders", {"limit": float("nan")})) == "INVALID_ARGUMENTS"
    assert code(session.read("no'such")) == "NOT_FOUND"


def test_limits_must_be_positive():
    with pytest.raises(ValueError, match="calls must be positive"):
        ServeLimits(calls=0)


def test_a_task_s_user_answers_and_another_task_has_none(begin):
    user = SimulatedUser(facts=(Fact(topic="which order", says="The pending one."),))
    talking = begin(shop_served(TASK.model_copy(update={"user": user})))
    assert talking.served.tools[-1].name == "ask_user"
    assert talking.call("ask_user", {"question": "Which order is it?"}) == {"reply": "The pending one."}
    assert code(talking.call("ask_user", {"text": "?"})) == "INVALID_ARGUMENTS"
    talking.call(CALL, ARGUMENTS)
    verdict = talking.score(TASK.expected_answer)
    assert verdict["success"] and verdict["calls"] == 3
    assert code(begin(shop_served(TASK)).call("ask_user", {"question": "Which order?"})) == "UNKNOWN_TOOL"
