"""A plain install has no torch: all stages but training and the arena work, and the run says how to get the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loop_themes import THEMES

_WITHOUT = """
from importlib.machinery import PathFinder

found = PathFinder.find_spec


def find_spec(name, path=None, target=None):
    missing = name.partition(".")[0] in ("torch", "accelerate", "transformers", "safetensors")
    return None if missing else found(name, path, target)


PathFinder.find_spec = staticmethod(find_spec)
"""


@pytest.fixture
def plain(surroundings, tmp_path: Path):
    """Return a function that runs the command line without torch, as are the processes that it starts."""
    (tmp_path / "sitecustomize.py").write_text(_WITHOUT)
    path = os.pathsep.join([str(tmp_path), surroundings["PYTHONPATH"]])

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "flows.cli", *words],
            env={**surroundings, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, timeout=400,
        )  # fmt: skip

    return call


def test_a_run_without_torch_makes_tasks_and_says_what_is_missing(plain, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    done = plain("run", "--quick", "--json", "--store", store, "--theme", THEMES[0])
    assert done.returncode == 0, done.stderr[-2000:]
    record = json.loads(done.stdout)
    assert record["builds"]["accepted"] == 1
    assert any(Path(store, "datasets", "agent_tasks").rglob("*.parquet"))
    assert any("pip install" in sentence for sentence in record["missing"])
    trained = plain("train", "--quick", "--store", store)
    assert trained.returncode == 2 and "pip install" in trained.stderr and "Traceback" not in trained.stderr
