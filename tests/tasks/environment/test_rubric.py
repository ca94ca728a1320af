"""Free texts are scored item by item, and kept apart from verified tasks."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from schemas.task import RUBRIC, AgentTask, AnswerField, Change, Oracle, RubricItem, Verifier
from tasks.environment import judge, score_rubric

ITEMS = (
    RubricItem(name="who", kind="required", any_of=("São Paulo",)),
    RubricItem(name="people", kind="required", any_of=("12345678", "12.3 million")),
    RubricItem(name="longitude", kind="required", any_of=("-46.63",)),
    RubricItem(name="no other", kind="forbidden", any_of=("Lima", "77.04")),
    RubricItem(name="short", kind="most_words", limit=20),
)
GOOD = "São Paulo has 12,345,678 people and lies at -46.63."


def task(**changes: object) -> AgentTask:
    return AgentTask.model_validate(
        {
            "task_id": "task-1", "env_id": "env-1", "kind": "rubric", "prompt": "Write a note.", "tools": (),
            "oracle": Oracle(script="def solve(call): return {}"), "oracle_calls": 1, "expected_answer": {},
            "verifier": Verifier(answer=(AnswerField(name="note", type="string"),), expected_answer={}),
            "rubric": ITEMS, "split": RUBRIC, **changes,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (GOOD, set()),
        ("SÃO  PAULO: 12.3 million, -46.63", set()),
        ("São Paulo has 12345678 people and lies at 46.63.", {"longitude"}),
        ("Paulo has 123456789 people at -46.631", {"who", "people", "longitude"}),
        (GOOD + " Unlike Lima.", {"no other"}),
        (GOOD + " Limassol is elsewhere.", set()),
        (GOOD + " and so on" * 5, {"short"}),
        ("", {item.name for item in ITEMS}),
    ],
)
def test_items(text: str, missing: set[str]) -> None:
    assert {name for name, held in score_rubric(ITEMS, text).items() if not held} == missing


def test_the_reward_is_the_share_of_items_below_that_of_a_right_text() -> None:
    assert judge(task(), {"note": GOOD}, ()).reward == 1.0
    partial = judge(task(), {"note": GOOD + " Unlike Lima."}, ())
    assert not partial.success and partial.reward == pytest.approx(0.9 * 4 / 5)
    for answer in (None, {}, {"note": ""}, {"note": 5}, {"note": GOOD, "more": 1}):
        assert judge(task(), answer, ()).reward == 0.0
    change = Change(table="t", operation="insert", key="k", after={"id": "k"})
    assert judge(task(), {"note": GOOD}, (change,)).reward == 0.0, "a wrong state"


def test_free_texts_are_never_in_a_verified_set() -> None:
    with pytest.raises(ValidationError, match="do not belong"):
        task(split="train")
    with pytest.raises(ValidationError, match="go together"):
        task(rubric=())
    with pytest.raises(ValidationError, match="go together"):
        task(kind="graph", split="train")
    with pytest.raises(ValidationError, match="do not belong"):
        task(kind="graph", rubric=())
