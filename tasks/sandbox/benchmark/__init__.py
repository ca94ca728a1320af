"""Measures the engine, and two stand-ins for how environments are usually run, at the same work in one run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from schemas.task import Verifier
from tasks.sandbox.benchmark.engine import measure_chains, measure_engine
from tasks.sandbox.benchmark.figures import Figure, make_figures
from tasks.sandbox.benchmark.json_files import measure_json_files
from tasks.sandbox.benchmark.mcp_session import measure_mcp
from tasks.sandbox.benchmark.meter import ROUNDS, one_core
from tasks.sandbox.benchmark.work import Work
from tasks.sandbox.worker import SandboxWorker

__all__ = ["ROUNDS", "Figure", "Work", "measure", "measure_chains"]


def verifiers_of(work: Work) -> list[Verifier]:
    """Return a verifier for each of the work's chains, from the changes that it makes."""
    with SandboxWorker() as worker:
        worker.load(work.image)
        changes = [worker.run_episode(chain).changes for chain in work.chains]
    return [Verifier(answer=(), expected_answer={}, expected_changes=found) for found in changes]


def measure(work: Work, seconds: float = 1.0) -> tuple[Figure, ...]:
    """Return the table of the engine and both stand-ins, all on one core; each rate takes about `ROUNDS` x `seconds`.

    Raises:
        AssertionError: if an oracle's episode is not verified anywhere.
        SandboxError: if the sandbox does not come up.
    """
    with one_core(), tempfile.TemporaryDirectory() as folder:
        verifiers = verifiers_of(work)
        return make_figures(
            measure_engine(work, verifiers, seconds),
            measure_json_files(work, verifiers, Path(folder), seconds),
            measure_mcp(work, verifiers, seconds),
            len(work.image.snapshot),
        )
