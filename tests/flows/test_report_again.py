"""What a run says of a store that other commands have worked on since, and the report that is drawn again."""

from __future__ import annotations

import json

import pytest
from report_example import report_data

from flows import launch
from flows.errors import Refused
from flows.holdings import POLICY, changes, holdings
from flows.policies import CURRENT
from flows.redraw import redraw
from flows.report import next_commands
from schemas.base import canonical_json
from schemas.settings import DEFAULTS, QUICK, Settings, is_quick
from tasks.store import Store, open_store, write_dataset

DATA = report_data()


def _policy(store: Store, name: str) -> None:
    named = {"policy_id": name, "run_id": f"run-{name}", "checkpoint_sha256": name * 8}
    store.put(CURRENT, canonical_json(named).encode())


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    """Return a store as a quick run leaves it, whose inputs stay the same."""
    found = open_store(str(tmp_path / "store"))
    write_dataset(found, "themes", "all", DATA.themes)
    for row in DATA.environments:
        write_dataset(found, "environments", row.env_id, [row])
        write_dataset(found, "tools", row.env_id, [tool for tool in DATA.tools if tool.env_id == row.env_id])
    write_dataset(found, "agent_tasks", "train/all", DATA.tasks[:4])
    _policy(found, "first")
    found.put("report.html", b"as the run left it")
    record = {
        "run_id": "0123456789ab", "ok": True, "unchanged": False, "started_at": "2026-11-29T14:02:11Z", "seed": 5,
        "quick": True, "stages": [], "missing": [], "report": f"{found.uri}/report.html", "held": holdings(found.uri),
    }  # fmt: skip
    found.put("runs/0123456789ab.json", canonical_json(record).encode())
    monkeypatch.setattr(launch, "inputs_hash", lambda settings: "0123456789ab")
    return found


def test_a_run_over_a_store_as_it_left_it_says_that_nothing_has_changed(store, capsys):
    write_dataset(store, "agent_tasks", "train/all", DATA.tasks[:4])  # the same rows once more
    record = launch.launch_run(store.uri, QUICK)
    said = capsys.readouterr().out
    assert "Nothing has changed since run 0123456789ab" in said and "no work was done" in said
    assert record["unchanged"] and record["changed_since"] == []


def test_a_run_over_a_store_that_was_worked_on_says_what_has_changed(store, capsys):
    write_dataset(store, "agent_tasks", "train/all", DATA.tasks[:3])
    _policy(store, "second")
    record = launch.launch_run(store.uri, QUICK)
    said = capsys.readouterr().out
    assert "Nothing has changed" not in said and "no work was done" in said
    assert "changed datasets: agent_tasks; current policy: second (secondse), was first (firstfir)" in said
    assert "it shows the run's state" in said and "agentworld report" in said and "--force" in said
    assert not record["unchanged"] and len(record["changed_since"]) == 2
    assert store.get("report.html") == b"as the run left it"


def test_the_report_drawn_again_shows_the_present_store(store, capsys):
    write_dataset(store, "agent_tasks", "train/all", DATA.tasks[:3])
    outcome = redraw(store.uri)
    page = store.get("report.html").decode()
    assert outcome["run_id"] == "0123456789ab" and outcome["redrawn_at"] in page
    assert "Quick scale" in page and "Drawn again" in page and "<b>5</b>" in page
    launch.launch_run(store.uri, QUICK)
    assert "drawn again since" in capsys.readouterr().out
    write_dataset(store, "agent_tasks", "train/all", DATA.tasks[:2])
    launch.launch_run(store.uri, QUICK)
    assert "older than that; `agentworld report --store /" in capsys.readouterr().out


def test_a_store_of_single_stages_gets_a_report_and_an_empty_one_none(tmp_path):
    with pytest.raises(Refused, match="nothing to report"):
        redraw(str(tmp_path / "store"))
    store = open_store(str(tmp_path / "store"))
    write_dataset(store, "themes", "all", DATA.themes)
    redraw(store.uri)
    assert "Run of single stages" in store.get("report.html").decode() and not list(store.list("runs/"))


def test_changes_name_what_came_and_went():
    assert changes({"tools": "a", POLICY: "p"}, {"tools": "a", POLICY: "p"}) == []
    assert changes({"tools": "a"}, {"themes": "b", POLICY: "p"}) == [
        "changed datasets: themes, tools",
        "current policy: p, was none",
    ]


def test_the_next_commands_are_those_that_the_store_suffices_for(tmp_path):
    uri = open_store(str(tmp_path / "store")).uri
    bare = " ".join(next_commands(uri, False, ()))
    assert not any(word in bare for word in (" show ", " play ", " evolve ")) and "rebuild --failed" in bare
    assert "synthesize" in " ".join(next_commands(uri, True, ()))
    some = " ".join(next_commands(uri, True, DATA.tasks[:1]))
    assert f" play {DATA.tasks[0].task_id} " in some and "evolve" not in some  # no policy to continue from
    _policy(open_store(uri), "first")
    assert "evolve" in " ".join(next_commands(uri, True, DATA.tasks[:1]))


def test_only_the_quick_scale_is_quick():
    assert is_quick(QUICK) and not is_quick(DEFAULTS)
    assert is_quick(Settings(arena_tasks=10)) and not is_quick(Settings(environments=2))
    assert json.loads(QUICK.model_dump_json())["seed"] == DEFAULTS.seed
