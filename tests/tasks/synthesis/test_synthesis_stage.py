"""The stage as a whole: determinism, targeting, practice, the panel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.task import AnswerField, Call, Verifier
from tasks.environment import EnvironmentImage, verify
from tasks.policies.scripted import LexicalPolicy, NoisyOracle, NullPolicy, RandomPolicy, Solution
from tasks.rollout import Answer, Attempt, ToolSignature, View, rollout
from tasks.sandbox import SandboxWorker
from tasks.synthesis import SynthesisResult, practice, synthesize
from tasks.synthesis.replay import execute

DATABASE, SNAPSHOT, TOOLS = shop_database(), shop_snapshot(), shop_tools()


@pytest.fixture(scope="module")
def worker() -> Iterator[SandboxWorker]:
    with SandboxWorker() as worker:
        yield worker


@pytest.fixture(scope="module")
def result(worker: SandboxWorker) -> SynthesisResult:
    return synthesize(DATABASE, SNAPSHOT, TOOLS, seed=11, n=14, worker=worker)


def test_accepted_tasks_are_what_they_claim(result: SynthesisResult, worker: SandboxWorker) -> None:
    assert len(result.tasks) == 14
    assert {task.kind for task in result.tasks} == {"graph", "program"}
    assert len({task.task_id for task in result.tasks}) == 14
    worker.load(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT))
    for task in result.tasks:
        assert task.oracle_calls >= 3
        assert task.kill_rate == 1.0
        assert task.difficulty is not None and task.difficulty > 0
        run = execute(worker, task.oracle, seed=99)
        assert run.answer == task.expected_answer
        assert verify(task.verifier, run.answer, run.changes).success


def test_counts_add_up(result: SynthesisResult) -> None:
    stats = result.stats
    assert stats["candidates"] == stats["accepted"] + sum(stats["rejected"].values())
    assert stats["mean_graph_calls"] >= 4
    assert all(
        rejection.gate and rejection.reason and rejection.stage == "synthesis" for rejection in result.rejections
    )


def test_the_same_seed_gives_the_same_tasks(worker: SandboxWorker) -> None:
    first = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=3, n=3, worker=worker)
    again = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=3, n=3, worker=worker)
    other = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=4, n=3, worker=worker)
    assert first.tasks == again.tasks and first.rejections == again.rejections
    assert first.tasks != other.tasks


def test_excluded_tasks_do_not_come_again(worker: SandboxWorker) -> None:
    first = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=3, n=2, worker=worker)
    again = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=3, n=2, exclude=first.tasks, worker=worker)
    assert not {task.task_id for task in first.tasks} & {task.task_id for task in again.tasks}
    assert "duplicate" in again.stats["rejected"]


def test_skills_steer(worker: SandboxWorker) -> None:
    declined = synthesize(
        DATABASE, SNAPSHOT, TOOLS, seed=5, n=3, kinds=("program",), skills=["decline"], arm="directed", worker=worker
    )
    assert len(declined.tasks) == 3
    for task in declined.tasks:
        assert "decline" in task.skills and task.arm == "directed"
        assert not task.writes and task.expected_answer["done"] is False


def test_practice_episodes_solve_their_tasks(worker: SandboxWorker) -> None:
    made = practice(DATABASE, SNAPSHOT, TOOLS, seed=2, n=40, worker=worker)
    assert len(made) == 40
    assert {task.kind for task, _ in made} == {"graph", "program"}
    for task, trajectory in made:
        assert trajectory.success and trajectory.reward == 1.0
        assert trajectory.task_id == task.task_id and trajectory.calls == task.oracle_calls
        assert trajectory.answer == task.expected_answer
    assert practice(DATABASE, SNAPSHOT, TOOLS, seed=2, n=10, worker=worker) == made[:10]


def test_easy_practice_is_short(worker: SandboxWorker) -> None:
    made = practice(DATABASE, SNAPSHOT, TOOLS, seed=2, n=40, easy=True, worker=worker)
    assert len(made) == 40
    assert {trajectory.calls for _, trajectory in made} == {1, 2, 3}
    capped = practice(DATABASE, SNAPSHOT, TOOLS, seed=2, n=10, max_calls=4, worker=worker)
    assert max(trajectory.calls for _, trajectory in capped) <= 4


def test_the_panel_is_ordered_by_strength(result: SynthesisResult, worker: SandboxWorker) -> None:
    task = max(result.tasks, key=lambda t: t.oracle_calls if t.kind == "graph" else 0)
    calls = task.oracle.calls
    solutions = {task.prompt: Solution(calls, task.expected_answer)}
    image = EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT)
    attempts = [Attempt(task, image, seed) for seed in range(12)]

    def rate(noise: float) -> float:
        found = rollout(NoisyOracle(solutions, noise), attempts, workers=[worker])
        return sum(trajectory.success for trajectory in found) / len(found)

    rates = [rate(noise) for noise in (0.0, 0.1, 0.5)]
    assert rates[0] == 1.0
    assert rates == sorted(rates, reverse=True)
    assert rates[2] < 0.5
    assert not any(t.success for t in rollout(RandomPolicy(), attempts, max_calls=6, workers=[worker]))


def _view(prompt: str, *fields: AnswerField) -> View:
    return View(prompt, tuple(ToolSignature.of(tool) for tool in TOOLS), fields)


def test_scripted_policies_make_valid_calls(worker: SandboxWorker) -> None:
    view = _view('List the orders with status "pending" of "Ada Adler".', AnswerField(name="total", type="integer"))
    worker.load(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT))
    with worker.episode() as episode:
        for seed in range(30):
            move = RandomPolicy().moves([view], [seed])[0]
            assert move == RandomPolicy().moves([view], [seed])[0]
            if isinstance(move, Call):
                error = episode.call(move.tool, move.arguments).get("error", {})
                assert error.get("code") != "INVALID_ARGUMENTS"
    move = LexicalPolicy().moves([view], [0])[0]
    assert isinstance(move, Call) and move.tool == "list_orders"
    assert move.arguments["status"] == "pending"


def test_the_null_policy_answers_nothing() -> None:
    fields = (AnswerField(name="a", type="string"), AnswerField(name="b", type="boolean"))
    move = NullPolicy().moves([_view("x", *fields)], [0])[0]
    assert move == Answer({"a": "", "b": False})
    assert not verify(Verifier(answer=fields, expected_answer={"a": "x", "b": False}), move.value, ()).success
