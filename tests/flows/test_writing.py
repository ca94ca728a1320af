"""Models in the synthesis of a store: who writes is in the cache key, notes are kept, judged sets are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from audit_example import write_world
from author_example import GOALS, REVIEW, asked, writer
from chat_server import ChatServer, answer
from worlds import ENV_ID

from flows.synthesize import _task_key, make_tasks
from flows.writing import judge_rubrics, open_gateway, sum_agreement, with_goals, writing_models
from schemas.settings import Settings
from schemas.task import RUBRIC, AgentTask, AnswerField, Oracle, RubricItem, Verifier
from tasks.store import LocalStore, read_dataset
from tasks.synthesis.judging.texts import notes_for

ARGUMENTS: dict[str, Any] = {"world": "w", "uses": {"train": 1}, "seed": 1, "options": {}}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """Return what gives the roles of writer and judge to a scripted server, as a user does by the environment."""

    def name(server: ChatServer) -> None:
        for role in ("TASK_WRITER", "JUDGE"):
            monkeypatch.setenv(f"AGENTWORLD_MODEL_{role}", "openai:scripted")
            monkeypatch.setenv(f"AGENTWORLD_MODEL_{role}_BASE_URL", server.base_url)

    return name


def key(models: dict[str, Any]) -> str:
    return _task_key(None, {**ARGUMENTS, "models": models})  # type: ignore[arg-type]


def test_without_models_nothing_changes(tmp_path: Path) -> None:
    assert writing_models(Settings()) == {} and open_gateway(f"file://{tmp_path}", {}) is None
    write_world(LocalStore(tmp_path), "theme")
    make_tasks(f"file://{tmp_path}", ENV_ID, {"train": 3}, 1, {})
    assert {task.author for task in read_dataset(LocalStore(tmp_path), "agent_tasks")} == {"rules"}
    assert not read_dataset(LocalStore(tmp_path), "model_calls")


def test_models_and_their_prompts_are_part_of_the_cache_key(served, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer([]) as server:
        served(server)
        models = writing_models(Settings())
        assert set(models["key"]["ids"]) == {"task_writer", "judge"} and len(models["key"]["prompts"]) == 64
        monkeypatch.setenv("AGENTWORLD_MODEL_JUDGE", "openai:other")
        other = writing_models(Settings())
    assert len({key({}), key(models), key(other), key({**models, "run_id": "x"})}) == 3


def test_a_model_writes_tasks_of_a_store(tmp_path: Path, served) -> None:
    uri, store = f"file://{tmp_path}", LocalStore(tmp_path)
    write_world(store, "theme")
    no = answer({"sensible": False, "reason": "nobody wants that"})
    replies = iter([no])
    yes = writer()[REVIEW]
    with ChatServer(writer(review=lambda body: next(replies, None) or yes(body))) as server:
        served(server)
        made = make_tasks(uri, ENV_ID, {"train": 6}, 11, {}, writing_models(Settings()))
    tasks = read_dataset(store, "agent_tasks", f"train/{ENV_ID}")
    assert made["made"] == {"train": 6}
    assert {task.author for task in tasks if task.kind == "graph"} == {"openai:scripted"}
    assert [task.author for task in tasks if task.template == "goal"] == ["openai:scripted"] * bool(
        asked(server, GOALS)
    )
    gates = [row.gate for row in read_dataset(store, "rejections")]
    assert gates.count("chain_review") == 1
    (row,) = read_dataset(store, "yields")
    assert row.accepted == 6 and row.rejected["chain_review"] == 1, "candidates and their ends add up"
    assert {call.env_id for call in read_dataset(store, "model_calls")} == {ENV_ID}


def test_every_third_program_is_a_goal() -> None:
    assert with_goals(("graph", "program")) == ("graph", "program") * 2 + ("graph", "goal")
    some = with_goals(("graph", "program", "long") * 6)
    assert (some.count("program"), some.count("goal"), some.count("long")) == (4, 2, 6)
    assert "goal" not in with_goals(("graph",))


def test_judged_sets_are_published(tmp_path: Path, served) -> None:
    uri, store = f"file://{tmp_path}", LocalStore(tmp_path)
    task = AgentTask(
        task_id="task-note", env_id=ENV_ID, kind="rubric", prompt="Write a note on Graz.", tools=("get",),
        oracle=Oracle(script="x"), oracle_calls=1, expected_answer={}, split=RUBRIC,
        rubric=(RubricItem(name="names it", kind="required", any_of=("Graz",)),),
        verifier=Verifier(answer=(AnswerField(name="note", type="string"),), expected_answer={}),
    )  # fmt: skip
    notes = [(task, tuple(notes_for(task, "Graz. it is large", [("wrong_object", "Lyon")])))]
    never = answer({"items": [{"name": "names it", "met": False, "evidence": ""}]})
    with ChatServer(lambda body: never) as server:
        served(server)
        judge = open_gateway(uri, writing_models(Settings()))
        assert judge_rubrics(uri, ENV_ID, notes, judge) == () and judge_rubrics(uri, ENV_ID, notes, None) == ()
        sum_agreement(uri)
    verdicts = read_dataset(store, "judge_verdicts")
    rows = {(r.set_name, r.texts, r.level): r for r in read_dataset(store, "judge_agreement")}
    assert len(verdicts) == len(notes[0][1]) and {r[0] for r in rows} == {ENV_ID, "all"}
    assert rows["all", "all", "text"].false_positive_rate == 0.0
    assert rows["all", "honest", "text"].false_negatives == rows["all", "honest", "text"].n == 2
