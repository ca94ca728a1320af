"""Processes that read documents: one that hangs, dies or swells costs the document that it was at, and only that."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tasks.themes.jobs import Job
from tasks.themes.workers import READER, read_jobs

SPEC = {"name": "Kiosk", "tools": [{"name": "sell_paper", "description": "Sells a paper."}]}
FRAGILE = """
import os, sys
from tasks.themes.jobs import Job
from tasks.themes.reader import read_job
for line in sys.stdin:
    job = Job.model_validate_json(line)
    if job.key == "bomb":
        os.abort()
    print(read_job(job).model_dump_json(), flush=True)
"""


def job(key: str, content: bytes = b"", path: str = "") -> Job:
    return Job(key=key, uri=f"file:///{key}", retrieved_at="2020-01-01T00:00:00Z", content=content, path=path)


def numbered(count: int) -> list[Job]:
    return [job(f"{i:02}", json.dumps({**SPEC, "name": f"Kiosk {i}"}).encode()) for i in range(count)]


def test_outcomes_come_in_the_order_of_the_jobs_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    jobs = [*numbered(9), job("broken", b"{")]
    outcomes = read_jobs(jobs, done=lambda found, refused: told.append((found, refused)))
    assert [one.found[0][0].name for one in outcomes[:9]] == [f"Kiosk {i}" for i in range(9)]
    assert outcomes[9].refused[0].gate == "broken_json"
    assert sorted(told) == [(0, 1), *[(1, 0)] * 9]
    assert read_jobs([]) == []


def test_a_document_that_hangs_is_given_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")  # opening it waits for a writer that never comes
    jobs = [job("pipe", path=str(tmp_path / "pipe.json")), *numbered(5)]
    outcomes = read_jobs(jobs, seconds=3)
    assert [one.gate for one in outcomes[0].refused] == ["reader_timeout"]
    assert "more than 3 s" in outcomes[0].refused[0].reason
    assert all(one.found for one in outcomes[1:])


def test_a_process_that_dies_is_started_again_for_the_next_document() -> None:
    jobs = numbered(6)
    jobs[1:1] = [job("bomb"), job("bomb")]
    outcomes = read_jobs(jobs, command=(sys.executable, "-c", FRAGILE))
    assert [one.gate for outcome in outcomes for one in outcome.refused] == ["reader_died"] * 2
    assert sum(len(outcome.found) for outcome in outcomes) == 6
    assert "code -6" in outcomes[1].refused[0].reason


def test_a_reader_that_cannot_even_start_rejects_all(tmp_path: Path) -> None:
    outcomes = read_jobs(numbered(3), command=(sys.executable, "-c", "raise SystemExit(3)"))
    assert [one.refused[0].gate for one in outcomes] == ["reader_died"] * 3


def test_a_document_that_swells_beyond_the_memory_is_refused() -> None:
    swelling = b"[" + b"[]," * 10_000_000 + b"[]]"
    outcomes = read_jobs([job("big", swelling), *numbered(1)], command=(*READER[:-1], "400000000"))
    assert outcomes[0].refused[0].gate in ("too_complex", "reader_died")
    assert outcomes[1].found


def test_what_a_reader_is_told_does_not_hold_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "secret")
    script = "import os, sys; sys.stdin.readline(); sys.exit(7 if 'PLANTED_KEY' in os.environ else 8)"
    assert "code 8" in read_jobs(numbered(1), command=(sys.executable, "-c", script))[0].refused[0].reason
