"""Long tasks end to end: as long as claimed, no ids in their scripts, checked against the schema's rules."""

from __future__ import annotations

import re

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.synthesis import SynthesisResult, synthesize
from tasks.synthesis.long.build import LEAST, MOST

DATABASE, SNAPSHOT, TOOLS = shop_database(), shop_snapshot(), shop_tools()
ID = re.compile(r"\b[a-z]{2,4}-[a-z0-9]{5,6}\b")


@pytest.fixture(scope="module")
def result() -> SynthesisResult:
    return synthesize(DATABASE, SNAPSHOT, TOOLS, seed=2, n=10, kinds=("long",))


def test_long_tasks_are_long_and_say_so(result: SynthesisResult) -> None:
    assert len(result.tasks) >= 6
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
    again = synthesize(DATABASE, SNAPSHOT, TOOLS, seed=2, n=3, kinds=("long",))
    assert again.tasks == result.tasks[:3]
