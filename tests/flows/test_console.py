"""Progress off a terminal: lines while a stage is under way, and one at its end."""

from __future__ import annotations

import io
import threading

from rich.console import Console

from flows import console


def test_a_long_stage_tells_how_far_it_is_off_a_terminal(monkeypatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "console", Console(file=shown, width=200))
    monkeypatch.setattr(console, "EVERY_S", 0.01)
    asked = threading.Semaphore(0)

    def watch() -> str:
        asked.release()
        return "5 answers of models, 0.0100 USD"

    with console.bar("Build environments", 2, watch) as advance:
        advance(1, "1 accepted")
        assert asked.acquire(timeout=20) and asked.acquire(timeout=20)
    lines = [" ".join(line.split()) for line in shown.getvalue().splitlines()]
    told = "1 accepted, 5 answers of models, 0.0100 USD"
    assert any(line.startswith("Build environments 1 of 2 after") and line.endswith(told) for line in lines)
    assert lines[-1] == f"Build environments {told}"
