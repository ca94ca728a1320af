"""The command line without a run: help, exit codes, clear refusals."""

from __future__ import annotations

import json

import pytest

from schemas.environment import Rejection
from tasks.store import open_store, write_dataset

COMMANDS = (
    "run", "up", "discover", "build", "rebuild", "synthesize", "train", "arena", "evolve", "audit", "ls", "show",
    "play", "doctor", "bench", "gc", "serve", "report", "estimate",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(agentworld, command):
    done = agentworld(command, "--help")
    assert done.returncode == 0 and f"Example: agentworld {command}" in done.stdout
    assert command == "up" or "--json" in done.stdout or command == "play"


def test_help_imports_nothing_heavy(agentworld, surroundings):
    import subprocess
    import sys

    code = (
        "import sys, flows.cli\n"
        "print([m for m in ('prefect', 'torch', 'polars', 'pyarrow', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ls", "--store", "gs://bucket"), "unknown scheme"),
        (("ls", "nonsense", "--store", "{tmp}"), "the kinds are"),
        (("show", "nothing", "--store", "{tmp}"), "no environment, theme or task in"),
        (("play", "nothing", "--store", "{tmp}"), "no single task"),
        (("ls", "--store", "/dev/null/store"), "cannot write to the store"),
        (("audit", "--store", "/dev/null/store"), "cannot write to the store"),
        (("arena", "--store", "{tmp}", "--seed", "x"), "Invalid value for '--seed'"),
        (("bench", "--store", "{tmp}"), "no tasks in"),
        (("report", "--store", "{tmp}"), "nothing to report in"),
        (("discover", "--store", "{tmp}", "--spec", "{tmp}/absent"), "--spec {tmp}/absent: there is no such file"),
        (("discover", "--store", "{tmp}", "--no-embedded"), "name your own with --spec"),
        (("run", "--store", "{tmp}", "--corpus", "{tmp}/absent"), "--corpus {tmp}/absent: there is no such file"),
        (("build", "--store", "{tmp}"), "run `agentworld discover"),
        (("run", "--store", "{tmp}", "--models", "{tmp}/absent"), "the roles file {tmp}/absent cannot be read"),
        (("estimate", "--store", "{tmp}", "--models", "{tmp}/absent"), "the roles file {tmp}/absent cannot be read"),
        (("rebuild", "--failed", "--store", "{tmp}"), "run `agentworld discover"),
        (("synthesize", "--store", "{tmp}"), "run `agentworld build"),
        (("train", "--store", "{tmp}"), "run `agentworld build"),
        (("evolve", "--store", "{tmp}"), "run `agentworld build"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_code_2(agentworld, tmp_path, words, said):
    done = agentworld(*(word.format(tmp=tmp_path / "store") for word in words))
    assert done.returncode == 2 and said.format(tmp=tmp_path / "store") in done.stderr, done.stderr
    told = [line for line in done.stderr.splitlines() if line and not line.startswith(("Usage: ", "Try "))]
    assert len(told) == 1 and "Traceback" not in told[0], done.stderr


def test_an_empty_store_says_how_to_fill_it_and_json_stays_json(agentworld, tmp_path):
    store = str(tmp_path / "store")
    done = agentworld("ls", "tasks", "--store", store)
    assert done.returncode == 0 and not done.stdout and f"run `agentworld run --store {store}`" in done.stderr
    done = agentworld("ls", "tasks", "--json", "--store", store)
    assert json.loads(done.stdout) == [] and not done.stderr


def test_rows_stand_under_a_header_for_people_only():
    from flows.browse import lines

    rows = [{"env_id": "shop", "rows": 7}, {"env_id": "airport", "rows": 12}]
    assert lines(rows, True) == ["env_id   rows", "shop     7", "airport  12"]
    assert lines(rows, False) == ["shop  7", "airport  12"] and lines([], True) == []


def test_doctor_says_what_there_is(agentworld, tmp_path):
    done = agentworld("doctor", "--json", "--store", str(tmp_path / "store"))
    found = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert found["store"]["state"] == "ok" and found["sandbox"]["state"] in ("ok", "weak")
    assert {"training", "browser", "models", "prefect", "corpora"} <= found.keys()


def test_rejections_are_listed_and_a_full_disk_is_one_line(agentworld, surroundings, tmp_path):
    import subprocess
    import sys

    words = ("ls", "rejections", "--store", str(tmp_path / "store"))
    row = Rejection(stage="mining", key="/data/a.csv", gate="unreadable_file", reason="/data/a.csv is empty: fill it")
    write_dataset(open_store(words[-1]), "rejections", "corpus", [row])
    assert json.loads(agentworld(*words, "--json").stdout) == [row.model_dump()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "flows.cli", *words],
            env=surroundings,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1 and done.stderr == "agentworld: cannot write: No space left on device\n"


def test_a_server_that_cannot_be_reached_is_one_line(surroundings, tmp_path):
    import subprocess
    import sys

    (tmp_path / "kiosk.md").write_text("# Kiosk\n\n## Workflows\n\n### Sell a paper\nOnly what is in stock is sold.\n")
    words = ("discover", "--no-embedded", "--spec", "kiosk.md", "--store", "store")
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", *words], env={**surroundings, "PREFECT_API_URL": "http://127.0.0.1:9/api"},
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1 and "http://127.0.0.1:9/api cannot be reached" in done.stderr
