"""Which kinds of task are written in turn, and which use gets which task."""

from __future__ import annotations

from flows.synthesize import kinds_in_turn, share
from schemas.task import AgentTask, Oracle, Verifier


def task(number: int, template: str) -> AgentTask:
    return AgentTask(
        task_id=f"task-{number:03}", env_id="env", kind="program", prompt="Do it.", tools=("get",), oracle=Oracle(),
        oracle_calls=9, expected_answer={}, verifier=Verifier(answer=(), expected_answer={}), template=template,
    )  # fmt: skip


def test_kinds_keep_their_shares() -> None:
    assert set(kinds_in_turn(0)) == {"graph", "program"} and kinds_in_turn(1) == ("long",) * 20
    some = kinds_in_turn(0.15)
    assert some.count("long") == 3 and some[:3] == ("graph", "graph", "program")
    assert all(kinds_in_turn(0.5)[n : n + 2].count("long") == 1 for n in range(0, 20, 2))


def test_long_tasks_go_to_every_use_but_rl() -> None:
    tasks = [task(n, "long_plan" if n % 2 else "sweep") for n in range(20)]
    hands = share(tasks, {"train": 6, "rl": 6, "arena-0": 6})
    assert [len(hand) for hand in hands.values()] == [6, 6, 6]
    longs = {use: sum(t.template == "long_plan" for t in hand) for use, hand in hands.items()}
    assert longs["rl"] == 0 and longs["train"] > 0 and longs["arena-0"] > 0


def test_the_cache_key_holds_the_phrasings(monkeypatch) -> None:
    import tasks.synthesis
    from flows.synthesize import _task_key

    arguments = {"world": "w", "uses": {"train": 1}, "seed": 7, "options": {}}
    before = _task_key(None, arguments)
    assert before == _task_key(None, arguments)
    monkeypatch.setattr(tasks.synthesis, "templates_hash", lambda: "other phrasings")
    assert _task_key(None, arguments) != before
