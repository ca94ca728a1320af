"""A benchmark's own tasks: those whose reference actions execute are tasks here, the others are counted by reason."""

from __future__ import annotations

import pytest
from foreign_domain import MORE_TASKS, write_domain

from tasks.environment import EnvironmentImage, verify
from tasks.imports import import_world, read_domains, reference_tasks


@pytest.fixture(scope="module")
def bakery(tmp_path_factory, worker):
    (world,) = read_domains(write_domain(tmp_path_factory.mktemp("tau2"), tasks=MORE_TASKS))
    return import_world(world, worker)


@pytest.fixture(scope="module")
def made(bakery, worker):
    return reference_tasks(bakery, worker)


def test_what_is_left_out_is_counted_by_reason(made):
    tasks, rejected = made
    assert len(tasks) + len(rejected) == len(MORE_TASKS)
    assert {row.key: row.gate for row in rejected} == {
        "question 3": "not_replayable", "question 4": "not_replayable", "question 5": "not_replayable",
        "question 6": "unknown_tool", "question 7": "chain_fails", "question 8": "no_actions",
        "question 9": "info_not_observed", "question 10": "nothing_to_verify",
    }  # fmt: skip
    assert "env_assertions" in next(row.reason for row in rejected if row.key == "question 4")


def test_what_is_kept_is_judged_by_state_and_by_what_must_be_told(bakery, made, worker):
    tasks, _ = made
    assert [(t.kind, t.split, t.template) for t in tasks] == [("graph", "test", "reference_actions")] * 3
    cancel, small, order = tasks
    assert cancel.expected_answer == {"total": 11.5} and cancel.writes and "Only pending orders" in cancel.prompt
    assert small.expected_answer == {"title": "Lemon", "price": 13.5} and not small.writes
    assert not order.verifier.answer and {c.operation for c in order.verifier.expected_changes} == {"insert", "update"}
    image = EnvironmentImage.of(bakery.database, bakery.tools, bakery.snapshot)
    for task in tasks:
        outcome = worker.run_episode(task.oracle.calls, seed=3, image=image)
        assert verify(task.verifier, task.expected_answer, outcome.changes).success
        assert not verify(task.verifier, {}, ()).success and not verify(task.verifier, None, ()).success
        wrong = {name: 1 for name in task.expected_answer} or {"extra": 1}
        assert not verify(task.verifier, wrong, outcome.changes).success


def test_the_same_domain_gives_the_same_tasks(bakery, made, worker):
    assert reference_tasks(bakery, worker) == made
