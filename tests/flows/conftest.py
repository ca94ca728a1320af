"""One small real run of the loop, which the tests of flows look at from several sides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loop_themes import THEMES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """Have a real Prefect server for this process."""
    from flows.runtime import configure

    configure()
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory) -> dict[str, str]:
    """Return an environment with an empty home, as on a fresh machine."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "AGENTWORLD_"))}
    return {**kept, "HOME": str(home), "AGENTWORLD_HOME": str(home / "agentworld"), "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def agentworld(surroundings, tmp_path_factory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs the command line in an empty folder."""
    folder = tmp_path_factory.mktemp("cwd")

    def call(*words: str, stdin: str = "", timeout: float = 500) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "flows.cli", *words],
            env=surroundings, cwd=folder, input=stdin, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    return call


@pytest.fixture(scope="session")
def loop(agentworld, tmp_path_factory) -> Iterator[tuple[Path, dict]]:
    """Run the loop at the small scale over a few themes; yield the store's folder and the run's record."""
    store = tmp_path_factory.mktemp("loop") / "store"
    broken = tmp_path_factory.mktemp("broken")
    (broken / "truncated.json").write_text('{"openapi": "3.0.0", "paths": {')
    (broken / "empty.md").write_text("")
    themes = [word for theme in THEMES for word in ("--theme", theme)]
    done = agentworld("run", "--quick", "--json", "--store", str(store), "--spec", str(broken), *themes)
    assert done.returncode == 0, done.stderr[-3000:]
    yield store, {**json.loads(done.stdout), "stderr": done.stderr, "broken": str(broken)}
