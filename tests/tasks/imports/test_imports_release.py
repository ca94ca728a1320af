"""Worlds of a release's size and manner: keys and quotas in every call, lines inside of orders, files of all kinds."""

from __future__ import annotations

import pytest
from foreign_newsroom import newsroom
from foreign_supply import supply
from foreign_weather import weather
from foreign_worlds import write_release

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.imports import import_world, read_release
from tasks.synthesis import synthesize


@pytest.fixture(scope="module")
def made(tmp_path_factory, worker):
    folder = write_release(tmp_path_factory.mktemp("release"), [supply(), weather(), newsroom()])
    return {world.folder: import_world(world, worker) for world in read_release(folder)}


@pytest.mark.parametrize(
    ("folder", "tools"), [("hospital_supply_chain", 20), ("weather_alert_api", 10), ("news_archive", 12)]
)
def test_every_tool_works(made, folder, tools):
    done = made[folder]
    assert len(done.tools) == tools and not done.rejections
    assert not [finding for finding in done.findings if finding.severity == "fatal"]


def test_a_key_that_every_call_takes_is_the_environment_s_own(made, worker):
    done = made["weather_alert_api"]
    assert not [tool for tool in done.tools if "api_key" in tool.parameters["properties"]]
    fixed = {finding.subject for finding in done.findings if finding.fault == "fixed_parameter"}
    assert fixed == {tool.name for tool in done.tools}
    assert "api_keys" not in {table.name for table in done.database.tables}, "quotas are no state"
    worker.load(EnvironmentImage.of(done.database, done.tools, done.snapshot))
    calls = [Call(tool="get_station", arguments={"station_id": "ST001"})] * 20
    outcome = worker.run_episode(calls)
    assert len({str(step.observation) for step in outcome.steps}) == 1 and not outcome.changes
    given = worker.run_episode([Call(tool="get_station", arguments={"station_id": "ST001", "api_key": "x"})])
    assert given.steps[0].observation["error"]["code"] == "INVALID_ARGUMENTS"


def test_a_confirmation_that_must_be_true_is_given(made):
    tools = {tool.name: tool for tool in made["hospital_supply_chain"].tools}
    assert [tools[f"{verb}_order"].kind for verb in ("submit", "cancel", "receive")] == ["transition"] * 3
    assert "confirm" not in tools["submit_order"].parameters["properties"]
    assert tools["approve_order"].parameters["required"] == ["order_id", "approver_id"]


def test_numbers_in_text_files_are_found_again_in_what_tools_show(made):
    done = made["news_archive"]
    tools = {tool.name: tool for tool in done.tools}
    assert tools["search_articles"].kind == "search" and tools["send_to_review"].kind == "transition"
    assert tools["read_page"].kind in ("get", "read"), "a page is asked for by the name of its file"
    assert {d.name for d in done.database.documents} >= {"style_guide.txt", "README.md", "pages/1001.html"}


@pytest.mark.parametrize("folder", ["hospital_supply_chain", "weather_alert_api", "news_archive"])
def test_they_give_long_chains(made, worker, folder):
    done = made[folder]
    result = synthesize(
        done.database, done.snapshot, done.tools, seed=7, n=2, kinds=("graph",), min_calls=7, worker=worker,
        lengths={10: 1, 12: 1},
    )  # fmt: skip
    assert len(result.tasks) == 2, result.stats["rejected"]
