"""The command that imports: a release goes in, environments, faults and verified chains come out."""

from __future__ import annotations

import json

import pytest
from foreign_domain import write_domain
from foreign_faulty import desk, retail_copy
from foreign_healthy import library
from foreign_worlds import write_release

from flows.build import assign_splits
from flows.imports import ImportOptions, convert, table_lines
from flows.releases import read_worlds
from flows.synthesize import wanted_uses
from schemas.settings import DEFAULTS
from tasks.store import environment_rows, load_environment, open_store, read_dataset


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    release = write_release(folder / "release", [library(), desk(), retail_copy()])
    (release / "half").mkdir()
    (release / "half" / "rows.json").write_text("[]")
    (release / "LICENSE").write_text("Apache License\nVersion 2.0, January 2004\n")
    store = open_store(str(folder / "store"))
    wanted = {"library_circulation": 3}
    results = [
        convert(store.uri, world, ImportOptions(chains=wanted.get(world.folder, 0)))
        for world in read_worlds("agent-world", str(release), "")
    ]
    assign_splits(store.uri, 7)
    lines = table_lines(results)
    assert len(lines) == 7 and "3 of 4 accepted; 1 of them" in lines[-1]
    return store, {row["folder"]: row for row in results}


def test_each_world_ends_in_a_recorded_state(imported):
    store, results = imported
    assert {name: row["state"] for name, row in results.items()} == {
        "library_circulation": "accepted", "faulty_desk": "accepted", "online_shop_support": "accepted",
        "half": "rejected",
    }  # fmt: skip
    rows = {row.env_id: row for row in environment_rows(store)}
    assert len(rows) == 4 and {row.origin for row in rows.values()} == {"agent-world"}
    assert rows[results["half"]["env_id"]].reason
    assert rows[results["online_shop_support"]["env_id"]].split == "test"
    assert rows[results["library_circulation"]["env_id"]].split in ("train", "development", "held_out")


def test_an_environment_is_whole_in_the_store(imported):
    store, results = imported
    world = load_environment(store, results["library_circulation"]["env_id"])
    assert world.database.files and len(world.tools) == 10 and world.environment.sandbox
    (source,) = read_dataset(store, "sources", world.environment.env_id)
    assert source.licence == "Apache-2.0" and source.uri.startswith("file:")
    provenance = read_dataset(store, "provenance", world.environment.env_id)
    assert len(provenance) == sum(table.rows for table in world.database.tables) + len(world.database.documents)
    (theme,) = read_dataset(store, "themes", f"import-{world.environment.env_id}")
    assert theme.kind == "import" and theme.category_l1 and theme.theme_id == world.environment.theme_id


def test_chains_are_stored_by_what_they_may_be_used_for(imported):
    store, results = imported
    assert results["library_circulation"]["chains"] == 3
    tasks = read_dataset(store, "agent_tasks")
    copied = results["online_shop_support"]["env_id"]
    assert not [task for task in tasks if task.env_id == copied]
    assert {task.split for task in tasks} == {"imported"}
    assert all(task.kill_rate == 1.0 and task.oracle_calls >= 6 for task in tasks)


def test_faults_and_questions_are_datasets(imported):
    store, results = imported
    faults = {(f.subject, f.fault) for f in read_dataset(store, "import_findings", results["faulty_desk"]["env_id"])}
    assert ("assign_case", "claims_without_effect") in faults and results["faulty_desk"]["faults"]["invents_rows"] == 2
    questions = read_dataset(store, "imported_questions", results["faulty_desk"]["env_id"])
    assert len(questions) == 7 and results["faulty_desk"]["questions_usable"] == sum(q.usable for q in questions)


def test_a_benchmark_is_never_trained_on(imported, tmp_path):
    store, _ = imported
    (world,) = read_worlds("tau2", str(write_domain(tmp_path / "tau2")), "")
    assert convert(store.uri, world, ImportOptions(chains=0))["test_only"]
    (row,) = [row for row in environment_rows(store) if row.origin == "tau2"]
    assert (row.state, row.split) == ("accepted", "test")
    assign_splits(store.uri, 7)
    rows = environment_rows(store, "accepted")
    assert next(r for r in rows if r.env_id == row.env_id).split == "test"
    assert all(r.split != "test" for r in rows if r.env_id in wanted_uses(rows, DEFAULTS))


@pytest.mark.parametrize("kind", ["agent-world", "tau2"])
def test_what_is_no_release_is_one_line_and_code_2(agentworld, tmp_path, kind):
    done = agentworld("import", kind, str(tmp_path), "--store", str(tmp_path / "store"))
    assert done.returncode == 2 and "agentworld:" in done.stderr and "Traceback" not in done.stderr
    helped = agentworld("import", kind, "--help")
    assert helped.returncode == 0 and f"Example: agentworld import {kind}" in helped.stdout
    assert "--json" in helped.stdout and "--store" in helped.stdout


def test_the_command_runs_the_flow(agentworld, tmp_path):
    release = write_release(tmp_path / "release", [library()])
    words = ("import", "agent-world", str(release), "--store", str(tmp_path / "store"), "--chains", "0", "--json")
    done = agentworld(*words)
    assert done.returncode == 0, done.stderr[-2000:]
    (row,) = json.loads(done.stdout)
    assert (row["state"], row["tools"], row["faults"]) == ("accepted", 10, {})
