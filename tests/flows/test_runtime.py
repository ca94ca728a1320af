"""What flows have of Prefect and Dask: names of runs, and workers that ask for no port of their own."""

from __future__ import annotations

import contextlib
import re
import socket
import warnings
from pathlib import Path


def test_a_flow_run_is_named_by_flow_store_round_and_time(monkeypatch):
    from prefect.runtime import flow_run

    from flows.runtime import run_name

    monkeypatch.setenv("AGENTWORLD_STORE", "s3://bucket/factory/")
    assert re.fullmatch(r"arena factory \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", run_name("arena")())

    given = {"store": "file:///data/shop-store", "round_number": 3}
    monkeypatch.setitem(vars(flow_run), "parameters", given)
    assert run_name("regenerate")().startswith("regenerate shop-store round 3 2")


def test_every_flow_names_its_runs():
    for path in (Path(__file__).resolve().parents[2] / "flows").glob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.startswith("@flow(") or "flow_run_name=run_name(" in line, f"{path}: {line}"


def test_workers_start_without_a_word_while_the_usual_port_is_taken():
    from flows.runtime import compute, workers

    with socket.socket() as taken, warnings.catch_warnings():
        with contextlib.suppress(OSError):  # another program has it already, which is as good
            taken.bind(("127.0.0.1", 8787))
            taken.listen()
        warnings.simplefilter("error", UserWarning)
        with workers(1):
            assert compute(int, "3") == 3
