"""Rollouts with real sandboxes: lockstep, limits, failures that end one episode only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.task import AgentTask, AnswerField, Call, Fact, Oracle, SimulatedUser, Verifier
from tasks.environment import EnvironmentImage
from tasks.rollout import Answer, Attempt, Policy, ToolSignature, View, first_view, rollout, step_limit
from tasks.sandbox import Limits, SandboxWorker

IMAGE = EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())
SIGNATURES = tuple(ToolSignature.of(tool) for tool in shop_tools())


@dataclass
class Replay:
    """A policy that plays given moves for each episode seed."""

    moves_by_seed: dict[int, list[Call | Answer]]
    policy_id: str = "replay"
    largest: int = 0

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        self.largest = max(self.largest, len(views))
        return [
            self.moves_by_seed[seed][min(len(view.steps), len(self.moves_by_seed[seed]) - 1)]
            for view, seed in zip(views, seeds, strict=True)
        ]


@pytest.fixture(scope="module")
def worker():
    with SandboxWorker(Limits(wall_s=0.5)) as made:
        made.load(IMAGE)
        yield made


@pytest.fixture(scope="module")
def cancelling(worker) -> tuple[AgentTask, list[Call | Answer]]:
    with worker.episode() as episode:
        order = episode.call("list_orders", {"status": "pending"})["orders"][0]
        call = Call(tool="cancel_order", arguments={"order_id": order["order_id"]})
        episode.run([call])
        changes = episode.changes()
    answer = {"quantity": order["quantity"]}
    task = AgentTask(
        task_id="task-cancel",
        env_id=IMAGE.env_id,
        kind="graph",
        prompt="Cancel it; how many units go back?",
        tools=("get_order", "cancel_order", "place_order"),
        oracle=Oracle(calls=(call,), answer=answer),
        oracle_calls=1,
        expected_answer=answer,
        verifier=Verifier(
            answer=(AnswerField(name="quantity", type="integer"),), expected_answer=answer, expected_changes=changes
        ),
    )
    return task, [call, Answer(answer)]


def test_right_and_wrong_attempts_are_told_apart(worker, cancelling):
    task, moves = cancelling
    look = Call(tool="get_order", arguments=moves[0].arguments)
    policy = Replay(
        {
            0: moves,
            1: [moves[1]],
            2: [moves[0], Answer({"quantity": -1})],
            3: [look, look, *moves],
            4: [look],
            5: [Call(tool="change_price", arguments={"product_id": "x", "price": 1}), *moves],
        }
    )
    assert isinstance(policy, Policy)
    found = rollout(policy, [Attempt(task, IMAGE, seed, SIGNATURES) for seed in range(6)], workers=[worker])
    assert [t.success for t in found] == [True, False, False, True, False, True]
    assert [t.error for t in found] == ["", "", "", "", "step_limit", ""]
    assert found[4].calls == step_limit(task) == 7 and found[4].answer is None
    assert found[0].reward == 1.0 > found[3].reward >= 0.9
    assert max(found[i].reward for i in (1, 2, 4)) <= 0.05
    assert found[1].checks == {"format": True, "answer.quantity": True, "state": False}
    assert found[5].steps[0].observation["error"]["code"] == "UNKNOWN_TOOL"
    assert policy.largest == 6


def test_more_attempts_than_open_episodes(worker, cancelling):
    task, moves = cancelling
    policy = Replay({seed: moves for seed in range(20)})
    found = rollout(policy, [Attempt(task, IMAGE, seed) for seed in range(20)], workers=[worker], max_open=8)
    assert all(t.success for t in found) and [t.seed for t in found] == list(range(20))
    assert policy.largest == 8
    assert len({t.episode_id for t in found}) == 20


def test_one_failing_episode_leaves_the_others(worker, cancelling):
    task, moves = cancelling
    looping = replace(
        IMAGE, tools=IMAGE.tools | {"get_order": "def get_order(ctx, *, order_id: str) -> dict:\n while True: pass\n"}
    )
    look = Call(tool="get_order", arguments=moves[0].arguments)
    policy = Replay({0: moves, 1: [look], 2: moves})
    found = rollout(policy, [Attempt(task, looping, seed) for seed in range(3)], workers=[worker])
    assert [t.error for t in found] == ["", "timeout", ""]
    assert [t.success for t in found] == [True, False, True]


def test_a_task_with_an_unknown_tool_is_refused(worker, cancelling):
    task = cancelling[0].model_copy(update={"tools": ("no_such_tool",)})
    with pytest.raises(ValueError, match="no_such_tool"):
        rollout(Replay({0: []}), [Attempt(task, IMAGE)], workers=[worker])


def test_same_seed_same_trajectory(cancelling):
    task, moves = cancelling
    place = Call(tool="place_order", arguments={"customer_id": "none", "product_id": "none", "quantity": 1})
    policy = Replay({3: [place, *moves]})
    first, second = (rollout(policy, [Attempt(task, IMAGE, 3)])[0] for _ in range(2))
    assert first == second and first.steps[0].observation["error"]["code"] == "NOT_FOUND"


def test_a_policy_may_ask_the_user_of_a_task_that_has_one(worker, cancelling):
    task, (call, answer) = cancelling
    user = SimulatedUser(facts=(Fact(topic="order", says="The second one."),))
    asking = task.model_copy(update={"user": user})
    question = Call(tool="ask_user", arguments={"question": "Which order?"})
    policy = Replay({1: [question, call, answer], 2: [Call(tool="ask_user"), call, answer]})
    attempts = [Attempt(asking, IMAGE, 1), Attempt(asking, IMAGE, 2), Attempt(task, IMAGE, 1)]
    asked, badly, nobody = rollout(policy, attempts, workers=[worker])
    assert asked.success and asked.steps[0].observation == {"reply": "The second one."} and asked.calls == 2
    assert badly.steps[0].observation["error"]["code"] == "INVALID_ARGUMENTS" and badly.success
    assert nobody.steps[0].observation["error"]["code"] == "UNKNOWN_TOOL"
    assert first_view(asking, SIGNATURES).tools[-1].name == "ask_user"
    assert "ask_user" not in {tool.name for tool in first_view(task, SIGNATURES).tools}


def test_another_user_may_take_the_part(worker, cancelling):
    class Curt:
        def reply(self, question: str) -> str:
            return "Find out."

    task, (call, answer) = cancelling
    asking = task.model_copy(update={"user": SimulatedUser(facts=())})
    policy = Replay({1: [Call(tool="ask_user", arguments={"question": "?"}), call, answer]})
    (found,) = rollout(policy, [Attempt(asking, IMAGE, 1)], workers=[worker], users=lambda task, seed: Curt())
    assert found.steps[0].observation == {"reply": "Find out."} and found.success
