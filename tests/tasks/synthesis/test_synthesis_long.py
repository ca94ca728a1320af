"""Long tasks end to end: as long as claimed, no ids in their scripts, checked against the schema's rules."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.task import AgentTask, Call, Fact, Oracle
from tasks.dialogue import ASK_USER
from tasks.environment import EnvironmentImage, verify
from tasks.sandbox import SandboxWorker
from tasks.synthesis import SynthesisResult, gates, oracle_trajectory, synthesize
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.families.kit import Kit, find_links
from tasks.synthesis.long.build import LEAST, LONG_FAMILIES, MOST, candidate_of, draw
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.prompt import Speaker
from tasks.synthesis.replay import Bench, execute
from tasks.synthesis.search import ShorterSearch
from tasks.synthesis.search_ask import Question

DATABASE, SNAPSHOT, TOOLS = shop_database(), shop_snapshot(), shop_tools()
ID = re.compile(r"\b[a-z]{2,4}-[a-z0-9]{5,6}\b")


@pytest.fixture(scope="module")
def result() -> SynthesisResult:
    return synthesize(DATABASE, SNAPSHOT, TOOLS, seed=2, n=6, kinds=("long",))


def test_long_tasks_are_long_and_say_so(result: SynthesisResult) -> None:
    assert len(result.tasks) == 6
    for task in result.tasks:
        assert task.kind == "program" and task.template.startswith("long_")
        assert LEAST <= task.oracle_calls <= MOST and "long" in task.classes
        assert task.kill_rate == 1.0


def test_scripts_and_prompts_hold_no_ids(result: SynthesisResult) -> None:
    for task in result.tasks:
        assert not ID.search(task.oracle.script), task.oracle.script
        assert not ID.search(task.prompt), task.prompt


def test_their_prompts_name_no_tool(result: SynthesisResult) -> None:
    for task in result.tasks:
        assert not [tool.name for tool in TOOLS if tool.name in task.prompt]


def test_the_same_seed_gives_the_same_long_tasks(result: SynthesisResult) -> None:
    again = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=2, n=2, kinds=("long",))
    assert again.tasks == result.tasks[:2]


@pytest.fixture(scope="module")
def talking() -> list[AgentTask]:
    found = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=6, n=8, kinds=("long",)).tasks
    return [task for task in found if task.user is not None]


def test_tasks_with_a_user_need_the_user(talking: list[AgentTask]) -> None:
    assert talking
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT))
        for task in talking:
            assert "multi_turn" in task.classes
            told = oracle_trajectory(task, worker)
            asked = [step for step in told.steps if step.tool == ASK_USER]
            assert told.success and len(asked) == len(task.user.facts) and told.calls == task.oracle_calls
            silent = execute(worker, task.oracle, user=task.user.model_copy(update={"facts": ()}))
            assert not verify(task.verifier, silent.answer, silent.changes).success
            for fact in task.user.facts:
                assert not [value for value in re.findall(r'"([^"]+)"', fact.says) if f'"{value}"' in task.prompt]


def test_shorter_solutions_are_searched_for_where_a_user_must_be_asked(talking: list[AgentTask]) -> None:
    atlas = Atlas(DATABASE, SNAPSHOT, TOOLS)
    with Bench(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT)) as bench:
        search = ShorterSearch(bench, atlas)
        reader = next(tool.name for tool in TOOLS if not tool.writes and not tool.parameters.get("required"))
        padding = f"\n    for _ in range(9):\n        call({reader!r})\n"
        for task in talking:
            assert 1 < task.least_calls <= task.shortest_found <= task.oracle_calls and task.length
            start = task.oracle.script.index("def solve(call):") + len("def solve(call):")
            script = task.oracle.script[:start] + padding + task.oracle.script[start:]
            run = bench.execute(Oracle(script=script), user=task.user)
            assert not run.error and len(run.steps) == task.oracle_calls + 9
            shortest = search.search(task, run)
            assert shortest.found < len(run.steps) - 5 and len(shortest.calls) == shortest.found
            asked = [call.arguments["question"] for call in shortest.calls if call.tool == ASK_USER]
            assert len(set(asked)) == len(asked) == len(task.user.facts), "each fact is asked for, and once"


def test_a_question_that_the_user_answers_only_after_another_comes_after_it() -> None:
    first, second = (
        Fact(topic="ceiling", says="It is 5."),
        Fact(topic="city", says='It is "Ghent".', after=("ceiling",)),
    )
    asked = [Question(Call(tool=ASK_USER, arguments={"question": f.topic}), f.says, f) for f in (first, second)]
    assert asked[1].follows(asked[0]) and not asked[0].follows(asked[1])
    assert asked[0].tells(5) and asked[0].tells(5.0) and not asked[0].tells("5") and not asked[0].tells(True)
    assert asked[1].tells("Ghent") and not asked[1].tells("Cork")


def test_what_a_policy_may_call_is_what_the_oracle_calls(talking: list[AgentTask]) -> None:
    for task in talking:
        assert ASK_USER not in task.tools
        assert set(re.findall(r"call\('(\w+)'", task.oracle.script)) <= {*task.tools, ASK_USER}


def test_declined_tasks_change_nothing_and_name_the_reason() -> None:
    found = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=1, n=2, kinds=("long",), skills=["decline"], max_candidates=30)
    for task in found.tasks:
        assert task.template == "long_all_or_none"
        if "decline" in task.classes:
            assert not task.verifier.expected_changes and re.fullmatch(r"[A-Z_]+", task.expected_answer["reason"])
        else:
            assert task.expected_answer["reason"] == "" and task.writes


def candidates(name: str, count: int = 24) -> list[Candidate]:
    atlas = Atlas(DATABASE, SNAPSHOT, TOOLS)
    links = find_links(atlas)
    (family,) = [family for family in LONG_FAMILIES if family.name == name]
    found = []
    for seed in range(count):
        rng = random.Random(seed)
        desk = Desk(Kit(atlas, rng, Speaker(atlas, rng, "train"), links), (7, 24))
        drawn = draw(desk, family) if family.write is None else None
        candidate = candidate_of(desk, family, drawn) if drawn is not None else family.write and family.write(desk)
        found += [candidate] if candidate else []
    return found


@pytest.mark.parametrize("name", ["triage", "plan", "rebook", "follow_up", "reconcile", "adjust"])
def test_what_each_family_predicts_comes_true(name: str) -> None:
    found = candidates(name)[:6]
    assert found
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT))
        for candidate in found:
            run = execute(worker, candidate.oracle, user=candidate.user)
            assert not gates.executes(candidate, run) and not gates.independent(candidate, run)
            assert not gates.grounded(candidate, run, Atlas(DATABASE, SNAPSHOT, TOOLS))
            wrong = replace(candidate, after={})
            assert gates.independent(wrong, run), "a final state that the rules do not give must be noticed"
