"""A real server and worker with the deployments: the arena's event starts a regeneration; a failed build is rerun."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.settings import QUICK
from tasks.store import environment_rows, open_store, read_dataset
from tasks.store.datasets import dataset_key

pytestmark = pytest.mark.xdist_group("loop")  # the small run is made once
WAIT_S = 400


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
