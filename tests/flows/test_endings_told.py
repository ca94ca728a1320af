"""What commands say at their end: that a stopped one can go on, and which command is next."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from audit_example import write_world

from flows.browse import nothing
from flows.commands.making import _builds
from tasks.store import LocalStore


def test_a_command_that_sigterm_ends_says_that_it_can_go_on() -> None:
    code = "import os, signal; from flows.ends import tell_stop; tell_stop(); os.kill(os.getpid(), signal.SIGTERM)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGTERM
    assert ended.stderr.splitlines() == [
        "agentworld: stopped; what was finished is kept, and so is every answer of a model: run it again to go on"
    ]


def test_no_tasks_yet_names_the_command_that_writes_them(tmp_path: Path) -> None:
    assert "run `agentworld run" in nothing(f"file://{tmp_path}", "tasks")
    write_world(LocalStore(tmp_path), "theme")
    told = nothing(f"file://{tmp_path}", "tasks")
    assert "when all of them are written" in told and "`agentworld synthesize --store" in told


@pytest.mark.parametrize(("models", "ending"), [("m.toml", "--store s --models m.toml"), (None, "--store s")])
def test_the_next_command_keeps_the_models(models: str | None, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        _builds([{"state": "accepted", "env_id": "e", "reason": ""}], "s", models, False)
    assert capsys.readouterr().out.splitlines()[-1].endswith(ending)
