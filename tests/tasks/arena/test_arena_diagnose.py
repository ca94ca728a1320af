from __future__ import annotations

import pytest
from arena_example import (
    CANCEL,
    Scripted,
    cancel_task,
    environment,
    image,
    oracle_policy,
    program_task,
    sum_task,
)
from worlds import ENV_ID, shop_tools

from schemas.environment import Environment
from schemas.episode import ArenaResult
from schemas.task import AgentTask
from tasks.arena import diagnose, evaluate
from tasks.rollout import Answer


def tasks_of(env: str, count: int, **changes: object) -> list[AgentTask]:
    base = cancel_task()
    return [
        base.model_copy(update={"task_id": f"{env}-{i}", "env_id": env, "template": f"template {i}", **changes})
        for i in range(count)
    ]


def results_of(tasks: list[AgentTask], won: int, **changes: object) -> list[ArenaResult]:
    return [
        ArenaResult(
            round=1, arm="before", policy_id="p", env_id=t.env_id, task_id=t.task_id, attempt=0, success=i < won,
            reward=float(i < won), kind=t.kind, category_l1="c", environment_split="train", purpose="diagnosis",
            error_type="" if i < won else "wrong_argument",
        ).model_copy(update=changes)
        for i, t in enumerate(tasks)
    ]  # fmt: skip


def worlds(*names: str, **changes: object) -> list[Environment]:
    return [environment(env_id=name, name=name, **changes) for name in names]


def test_real_failures_become_a_diagnosis_with_examples() -> None:
    tasks = [cancel_task(), sum_task(), program_task()]
    policy = Scripted(
        {
            cancel_task().prompt: CANCEL[:2],
            sum_task().prompt: (*sum_task().oracle.calls, Answer({"value": {"$ref": "0.value"}})),
        }
    )
    evaluation = evaluate(
        policy,
        tasks,
        {ENV_ID: image()},
        round=1,
        arm="before",
        purpose="diagnosis",
        environments=[environment()],
        seed=0,
    )
    assert [r.error_type for r in evaluation.results] == ["missing_state_update", "", "premature_stop"]
    [diagnosis] = diagnose(evaluation.results, evaluation.trajectories, tasks, [environment()], round=1, n_tasks=12)
    assert (diagnosis.rank, diagnosis.failures, diagnosis.attempts) == (1, 2, 3)
    assert diagnosis.error_counts == {"missing_state_update": 1, "premature_stop": 1}
    assert diagnosis.skill_rates == {"aggregate": 1.0, "list": 0.0, "loop": 0.0, "transition": 0.0}
    failed = {t.episode_id for t in evaluation.trajectories if not t.success}
    assert set(diagnosis.examples) == failed
    assert diagnosis.guideline["n_tasks"] == 12
    assert diagnosis.guideline["needs_data"] is True  # three chains are too few
    assert "fails 2 of 3 attempts" in diagnosis.weakness


def test_few_attempts_do_not_outrank_many() -> None:
    small, large, strong = tasks_of("small", 2), tasks_of("large", 40), tasks_of("strong", 40)
    results = results_of(small, 0) + results_of(large, 6) + results_of(strong, 36)
    ranked = diagnose(results, [], small + large + strong, worlds("small", "large", "strong"), round=1, n_tasks=60)
    assert [d.env_id for d in ranked] == ["large", "small", "strong"]
    assert sum(d.guideline["n_tasks"] for d in ranked) == 60
    assert ranked[0].guideline["n_tasks"] > ranked[1].guideline["n_tasks"]
    first = diagnose(results, [], small + large + strong, worlds("small", "large", "strong"), round=1, top=1)
    assert [d.env_id for d in first] == ["large"]


def test_more_data_is_asked_for_when_the_environment_is_the_limit() -> None:
    tasks = tasks_of("w", 12, skills=("join",))
    results = results_of(tasks, 2)

    def reasons(**changes: object) -> tuple[bool, str]:
        [found] = diagnose(results, [], tasks, worlds("w", **changes), round=1)
        return found.guideline["needs_data"], " ".join(found.guideline["reasons"])

    assert reasons(n_tables=4, n_rows=400)[0] is False
    assert reasons(n_tables=2, n_rows=400)[0] is True
    needed, why = reasons(n_tables=4, n_rows=40)
    assert needed and "10 of 10 failures cross tables that hold 10 rows" in why


def test_skills_and_kinds_point_at_the_failures() -> None:
    good = tasks_of("w", 10, skills=("get",))
    bad = [
        t.model_copy(update={"task_id": f"b-{t.task_id}", "kind": "program"})
        for t in tasks_of("w", 10, skills=("loop",))
    ]
    [found] = diagnose(results_of(good, 10) + results_of(bad, 1), [], good + bad, worlds("w"), round=2)
    assert found.guideline["skills"] == ["loop"]
    assert found.guideline["kinds"] == ["program"]
    assert found.guideline["reasons"][0] == "10 % success where loop is needed"


def test_a_skill_that_every_task_needs_is_not_the_weakness() -> None:
    easy = tasks_of("w", 20, skills=("get", "list"))
    hard = [t.model_copy(update={"task_id": f"h-{t.task_id}"}) for t in tasks_of("w", 10, skills=("get", "join"))]
    [found] = diagnose(results_of(easy, 14) + results_of(hard, 2), [], easy + hard, worlds("w"), round=1)
    assert found.guideline["skills"] == ["join"]
    [even] = diagnose(results_of(easy, 14), [], easy, worlds("w"), round=1)
    assert even.guideline["skills"] == ["get", "list"]


def test_same_input_same_diagnosis_and_no_failure_no_diagnosis() -> None:
    tasks = tasks_of("w", 10)
    given = (results_of(tasks, 3), [], tasks, worlds("w"))
    assert diagnose(*given, round=1) == diagnose(*given, round=1)
    assert diagnose(results_of(tasks, 10), [], tasks, worlds("w"), round=1) == []
    assert diagnose([], [], [], [], round=1) == []


def test_a_diagnosis_refuses_what_would_spoil_a_measurement() -> None:
    tasks = tasks_of("w", 2)
    with pytest.raises(ValueError, match="purpose 'arena'"):
        diagnose(results_of(tasks, 0, purpose="arena"), [], tasks, worlds("w"), round=1)
    with pytest.raises(ValueError, match="held out"):
        diagnose(results_of(tasks, 0, environment_split="held_out"), [], tasks, worlds("w"), round=1)
    with pytest.raises(ValueError, match="no such task"):
        diagnose(results_of(tasks, 0), [], [], worlds("w"), round=1)
    with pytest.raises(ValueError, match="neither an error type nor an episode"):
        diagnose(results_of(tasks, 0, error_type=""), [], tasks, worlds("w"), round=1)


def test_an_evaluation_is_repeatable_and_refuses_what_it_may_not_measure() -> None:
    tasks = [cancel_task(), sum_task()]
    seen_tools = []

    class Watching(Scripted):
        def moves(self, views, seeds):
            seen_tools.extend(view.tools[0] for view in views)
            return super().moves(views, seeds)

    def run(**changes: object):
        given = {"purpose": "arena", "environments": [environment()], "seed": 5, "attempts": 2} | changes
        policy = Watching(oracle_policy(*tasks).plans, "oracle")
        return evaluate(policy, tasks, {ENV_ID: image()}, round=0, arm="before", **given)

    first, again = run(), run(tools={ENV_ID: shop_tools()})
    assert [t.steps for t in first.trajectories] == [t.steps for t in again.trajectories]
    assert all(r.success and not r.error_type for r in first.results) and len(first.results) == 4
    assert len({t.seed for t in first.trajectories}) == 4
    assert [t.task_id for t in first.trajectories] == [r.task_id for r in first.results]
    assert seen_tools[0].description == "" and seen_tools[-1].description and seen_tools[-1].kind == "get"
    with pytest.raises(ValueError, match="seen in training"):
        run(seen={sum_task().task_id})
    with pytest.raises(ValueError, match="image or record is missing"):
        run(environments=[])
    with pytest.raises(ValueError, match="uses train and held_out only"):
        run(environments=[environment(split="development")])
    with pytest.raises(ValueError, match="uses train only"):
        run(environments=[environment(split="held_out")], purpose="diagnosis")
