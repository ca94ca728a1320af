"""The whole loop at a small scale: what it leaves, that nothing is faked, what a second run does; then the same store
under a real server and worker with the deployments. One file, so that one process makes the run for all of them."""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from loop_themes import THEMES

from flows.synthesize import fingerprint, share
from schemas.settings import QUICK
from schemas.task import AgentTask
from tasks.environment import EnvironmentImage, verify
from tasks.sandbox import SandboxWorker
from tasks.store import environment_rows, get_blob, list_keys, load_environment, open_store, read_dataset, read_release
from tasks.store.datasets import dataset_key
from tasks.synthesis import oracle_trajectory

WAIT_S = 400
"""Seconds that a scheduled flow run may take."""


@pytest.fixture(scope="module")
def store(loop):
    return open_store(str(loop[0]))


def _tasks(store, *uses: str) -> list[AgentTask]:
    keys = [key for key in list_keys(store, "agent_tasks") if key.partition("/")[0] in uses]
    return [task for key in keys for task in read_dataset(store, "agent_tasks", key)]


def test_every_theme_became_an_environment_with_tools_and_provenance(loop, store):
    rows = [row for row in environment_rows(store, "accepted") if not row.lineage]
    assert len(rows) == len(THEMES) and loop[1]["builds"]["accepted"] == len(THEMES)
    for row in rows:
        assert row.n_tools >= 8 and row.n_tables >= 3 and row.n_documents >= 1
        snapshot = sqlite3.connect(":memory:")
        snapshot.deserialize(get_blob(store, row.snapshot_sha256))
        assert snapshot.execute("PRAGMA foreign_key_check").fetchall() == []
        rows_in = sum(
            snapshot.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]
            for table in load_environment(store, row.env_id).database.tables
        )
        provenance = read_dataset(store, "provenance", row.env_id)
        known = {source.source_id for source in read_dataset(store, "sources", row.env_id)}
        assert len(provenance) == rows_in + row.n_documents
        assert {p.source_id for p in provenance} <= known


def test_bad_specifications_are_rejected_by_name_and_the_run_goes_on(store):
    reasons = {r.key.rpartition("/")[2]: r.gate for r in read_dataset(store, "rejections", "themes")}
    assert "broken_json" in reasons.values() and "empty" in reasons.values()


def test_bad_specifications_are_told_on_standard_error(loop):
    told = [line for line in loop[1]["stderr"].splitlines() if line.startswith("not used: ")]
    assert len(told) == 2 and all(loop[1]["broken"] in line for line in told), told


def test_arena_tasks_were_never_learnt_from(store):
    arena = {fingerprint(t) for t in _tasks(store, "arena-0", "arena-1")}
    uses = {key.partition("/")[0] for key in list_keys(store, "agent_tasks")}
    learnt = {fingerprint(t) for t in _tasks(store, *(u for u in uses if not u.startswith(("arena", "diagnosis"))))}
    looked_at = {fingerprint(t) for t in _tasks(store, "diagnosis-0", "diagnosis-1")}
    assert arena and learnt and looked_at
    assert not arena & learnt and not arena & looked_at


def test_held_out_environments_are_only_measured(store):
    held_out = {row.env_id for row in environment_rows(store, "accepted") if row.split == "held_out"}
    assert held_out
    for key in list_keys(store, "agent_tasks"):
        use, _, env_id = key.partition("/")
        if not use.startswith("arena-"):
            assert env_id not in held_out


def test_released_oracles_solve_their_tasks_and_idleness_does_not(store):
    checked = 0
    for row in environment_rows(store, "accepted"):
        tasks = [t for t in _tasks(store, "train", "arena-0") if t.env_id == row.env_id][:6]
        if not tasks:
            continue
        world = load_environment(store, row.env_id)
        with SandboxWorker(hash_seed=11, clock_skew_s=-5_000_000) as worker:
            worker.load(EnvironmentImage.of(world.database, world.tools, world.snapshot))
            for task in tasks:
                assert oracle_trajectory(task, worker).success, task.task_id
                assert not verify(task.verifier, None, ()).success
                assert task.kill_rate == 1.0 and task.mutants > 0
                checked += 1
    assert checked >= 12


def test_three_arms_met_the_same_fresh_tasks(loop, store):
    results = [r for r in read_dataset(store, "arena_results") if r.purpose == "arena" and r.round == 1]
    by_arm = {arm: {r.task_id for r in results if r.arm == arm} for arm in ("before", "directed", "control")}
    assert by_arm["before"] and by_arm["before"] == by_arm["directed"] == by_arm["control"]
    evolution = loop[1]["evolution"]
    assert evolution["success"].keys() == by_arm.keys()
    runs = {run.arm: run for run in read_dataset(store, "training_runs")}
    assert {"", "rl", "sft_control", "directed", "control"} <= runs.keys()
    assert runs["rl"].method == "grpo" and runs["rl"].parent_id == runs["sft_control"].parent_id


def test_the_release_is_cut_from_rows_that_passed(loop, store):
    audit = loop[1]["audit"]
    assert audit["failed"] == 0 and audit["expectations"] > 100
    manifest = read_release(store, audit["release"])
    assert manifest["datasets"]["environments"]["rows"] >= len(THEMES)
    for dataset in manifest["datasets"].values():
        assert get_blob(store, dataset["sha256"])


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("script", "img", "iframe") and values.get("src") or tag == "link" and values.get("href"):
            self.loads.append(str(values.get("src") or values.get("href")))


def test_report_and_data_docs_load_nothing_from_elsewhere(loop):
    folder = loop[0]
    for path in (folder / "report.html", *sorted((folder / "docs").glob("*.html"))):
        page = _Page()
        page.feed(path.read_text())
        assert not [address for address in page.loads if not address.startswith("data:")], path
    assert "control" in (folder / "report.html").read_text()


def test_each_candidate_has_an_end_and_a_cost(loop, store):
    rows = read_dataset(store, "yields")
    assert {row.env_id for row in rows} <= {row.env_id for row in environment_rows(store)}
    assert sum(row.candidates for row in rows) > sum(row.accepted for row in rows) > 0
    assert all(row.cpu_s > 0 for row in rows)
    assert "CPU a candidate" in (loop[0] / "report.html").read_text()


def test_cached_results_are_json(loop):
    for path in (loop[0] / "results").iterdir():
        record = json.loads(path.read_bytes())
        assert record["metadata"]["serializer"]["type"] == "json"


def test_running_again_does_no_work_and_says_so(loop, agentworld):
    store, record = loop
    before = {path: path.stat().st_mtime_ns for path in (store / "datasets").rglob("*.parquet")}
    themes = [word for theme in THEMES for word in ("--theme", theme)]
    done = agentworld("run", "--quick", "--store", str(store), "--spec", record["broken"], *themes)
    assert done.returncode == 0 and "no work was done" in done.stdout, done.stdout + done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in (store / "datasets").rglob("*.parquet")}
    assert record["held"]["agent_tasks"] and record["held"]["policy"] and record["quick"]


def test_play_shows_the_verdict(loop, store, agentworld):
    task = next(t for t in _tasks(store, "train", "arena-0") if t.oracle.calls)
    wrong = agentworld("play", task.task_id, "--store", str(loop[0]), stdin="tools\nnonsense\nanswer x=1\n")
    assert wrong.returncode == 1 and "not solved" in wrong.stdout and "no tool or command" in wrong.stdout


def test_play_explains_its_commands_and_lets_a_person_leave(loop, store, agentworld):
    task = next(t for t in _tasks(store, "train", "arena-0") if t.oracle.calls)
    done = agentworld("play", task.task_id, "--store", str(loop[0]), stdin="help\nquit\n")
    told = " ".join(done.stdout.split())  # a narrow terminal wraps lines
    assert done.returncode == 0 and told.count("leave without an answer") == 2, done.stdout + done.stderr


def test_show_names_where_an_environment_came_from(loop, store, agentworld):
    row = environment_rows(store, "accepted")[0]
    shown = json.loads(agentworld("show", row.env_id, "--json", "--store", str(loop[0])).stdout)
    assert shown["sources"] and all("(" in source for source in shown["sources"])
    listed = json.loads(agentworld("ls", "--json", "--store", str(loop[0])).stdout)
    assert row.env_id in {item["env_id"] for item in listed}


def test_tasks_are_dealt_in_proportion():
    def make(number: int) -> AgentTask:
        return AgentTask(
            task_id=f"t{number:03}", env_id="e", kind="graph" if number % 2 else "program", prompt="p", tools=("x",),
            oracle={}, oracle_calls=1, expected_answer={}, verifier={"answer": (), "expected_answer": {}},
        )  # fmt: skip

    hands = share([make(n) for n in range(30)], {"train": 20, "arena": 40})
    assert {use: len(hand) for use, hand in hands.items()} == {"train": 10, "arena": 20}
    assert all({t.kind for t in hand} == {"graph", "program"} for hand in hands.values())
    assert {use: len(hand) for use, hand in share([make(n) for n in range(30)], {"a": 2, "b": 1}).items()} == {
        "a": 2,
        "b": 1,
    }


class Server:
    """The REST API of a running Prefect server."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/api"

    def post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{path}", timeout=60) as reply:
            return json.load(reply)

    def start(self, deployment: str, parameters: dict[str, Any]) -> str:
        found = self.get(f"deployments/name/{deployment}")
        run = self.post(f"deployments/{found['id']}/create_flow_run", {"parameters": parameters})
        return run["id"]

    def ended(self, run_id: str) -> dict[str, Any]:
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            run = self.get(f"flow_runs/{run_id}")
            if run["state_type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"):
                return run
            time.sleep(2)
        raise AssertionError(f"flow run {run_id} has not ended within {WAIT_S} s")

    def runs_of(self, deployment: str) -> list[dict[str, Any]]:
        found = self.get(f"deployments/name/{deployment}")
        return self.post("flow_runs/filter", {"deployments": {"id": {"any_": [found["id"]]}}})


@pytest.fixture(scope="module")
def copied_store(loop, tmp_path_factory) -> Path:
    """Return a copy of the small run's store, so that other tests see it as it was."""
    folder = tmp_path_factory.mktemp("scheduled") / "store"
    shutil.copytree(loop[0], folder)
    return folder


@pytest.fixture(scope="module")
def server(copied_store, surroundings, tmp_path_factory) -> Iterator[Server]:
    """Start `agentworld up`; stop it by SIGTERM and see that it ends cleanly."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.cli", "up", "--port", str(port), "--store", str(copied_store)],
        env=surroundings, cwd=tmp_path_factory.mktemp("up"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert f"http://127.0.0.1:{port}" in line, (line, process.stderr.read() if process.stderr else "")
    yield Server(port)
    process.terminate()
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and rest.strip().endswith("stopped")


SETTINGS = QUICK.model_dump(mode="json")


def test_all_deployments_are_there_with_their_schedules(server):
    found = {d["name"]: d for d in server.post("deployments/filter", {})}
    assert {"discover", "build", "rebuild-failed", "synthesize", "train", "arena", "regenerate", "audit", "run"} <= set(
        found
    )
    assert [found[name]["schedules"][0]["schedule"]["cron"] for name in ("discover", "arena")] == [
        "0 3 * * 1",
        "0 2 * * *",
    ]


def test_the_arena_finds_a_weakness_and_its_event_starts_a_regeneration(server, copied_store):
    store = open_store(str(copied_store))
    before = json.loads(store.get("arena/round.json"))["round"]
    run = server.ended(server.start("arena/arena", {"store": store.uri, "settings": SETTINGS}))
    assert run["state_type"] == "COMPLETED", run["state"]
    assert read_dataset(store, "diagnoses", f"round-{before}")
    until = time.monotonic() + 60
    while not (started := server.runs_of("regenerate/regenerate")):
        assert time.monotonic() < until, "the event started no regeneration"
        time.sleep(1)
    ended = server.ended(started[0]["id"])
    assert ended["state_type"] == "COMPLETED", ended["state"]
    assert ended["parameters"]["round_number"] == before and ended["parameters"]["settings"]["seed"] == QUICK.seed
    assert json.loads(store.get("arena/round.json"))["round"] == before + 1
    arms = {r.arm for r in read_dataset(store, "arena_results") if r.round == before + 1 and r.purpose == "arena"}
    assert arms == {"before", "directed", "control"}


def test_a_failed_build_is_rerun_with_its_finished_stages_from_the_cache(server, copied_store):
    store = open_store(str(copied_store))
    row = next(r for r in environment_rows(store, "accepted") if not r.lineage)
    # The disk fails at the commit: a folder stands where the environment's tools are to be written.
    store.delete(dataset_key("environments", row.env_id))
    place = copied_store / dataset_key("tools", row.env_id)
    place.unlink()
    place.mkdir()
    (place / "in-the-way").write_text("")
    settings = {**SETTINGS, "themes": [row.theme_id]}
    built = server.ended(server.start("build/build", {"store": store.uri, "settings": settings}))
    assert built["state_type"] == "COMPLETED"  # one environment's failure never fails the run
    (failed,) = environment_rows(store, "failed")
    assert failed.theme_id == row.theme_id and "cannot write object" in failed.reason

    shutil.rmtree(place)
    again = server.ended(server.start("rebuild-failed/rebuild-failed", {"store": store.uri, "settings": settings}))
    assert again["state_type"] == "COMPLETED"
    assert environment_rows(store, "failed") == []
    rebuilt = next(r for r in environment_rows(store, "accepted") if r.env_id == row.env_id)
    assert rebuilt.snapshot_sha256 == row.snapshot_sha256 and rebuilt.tools_sha256 == row.tools_sha256
    children = server.post("flow_runs/filter", {"flow_runs": {"parent_flow_run_id": {"any_": [again["id"]]}}})
    task_runs = server.post(
        "task_runs/filter", {"task_runs": {"flow_run_id": {"any_": [again["id"], *(c["id"] for c in children)]}}}
    )
    states = {t["name"].split()[0]: t["state_name"] for t in task_runs}
    assert states["mine"] == states["code"] == "Cached", states
