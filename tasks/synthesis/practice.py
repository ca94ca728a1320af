"""Practice: oracle episodes by the hundred, executed and verified, for supervised training."""

from __future__ import annotations

import random
from collections.abc import Sequence

from schemas.database import Database
from schemas.episode import Trajectory
from schemas.task import AgentTask, Verifier
from schemas.tool import Tool
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker
from tasks.synthesis import gates
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.graphs import EASY_LENGTHS, LENGTHS
from tasks.synthesis.oracle import trajectory_of
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.replay import Run, chain_run, execute
from tasks.synthesis.synthesize import Kind, Writer, fitting_kinds
from tasks.synthesis.trust import make_task

BATCH = 64
TRIES = 3
"""How many candidates may be written for each wanted episode before the search ends."""


def practice(
    database: Database,
    snapshot: bytes,
    tools: Sequence[Tool],
    *,
    seed: int,
    n: int,
    kinds: Sequence[Kind] = ("graph", "graph", "graph", "program"),
    skills: Sequence[str] | None = None,
    max_calls: int | None = None,
    easy: bool = False,
    phrasing: Phrasing = "train",
    worker: SandboxWorker | None = None,
) -> list[tuple[AgentTask, Trajectory]]:
    """Return up to `n` oracle episodes: tasks with the trajectory that solves them.

    Each is executed, agrees with SQL over the snapshot, is grounded, and gets full reward; it is neither replayed nor
    red-teamed, so it is for training only.

    Args:
        kinds: which kinds to write, in turn; chains are several times cheaper than programs.
        skills: if given, only episodes that exercise one of them.
        max_calls: the most calls of an episode; None for 16.
        easy: short chains of one to three calls, for the start of a curriculum.
        phrasing: which share of the phrasings to use.
        worker: a running sandbox worker; None starts one for the time of this call.

    Raises:
        ValueError: if the snapshot cannot be read.
        SandboxError: if the environment cannot be loaded.
    """
    writer = Writer(database, snapshot, tools, phrasing)
    image = EnvironmentImage.of(database, list(tools), snapshot)
    if worker is None:
        with SandboxWorker() as own:
            return _practice(writer, image, own, seed, n, kinds, skills, max_calls, easy)
    return _practice(writer, image, worker, seed, n, kinds, skills, max_calls, easy)


def _practice(
    writer: Writer, image: EnvironmentImage, worker: SandboxWorker, seed: int, n: int, kinds: Sequence[Kind],
    skills: Sequence[str] | None, max_calls: int | None, easy: bool,
) -> list[tuple[AgentTask, Trajectory]]:  # fmt: skip
    worker.load(image)
    most = max_calls if max_calls is not None else (3 if easy else 16)
    lengths = EASY_LENGTHS if easy else {k: v for k, v in LENGTHS.items() if k <= most} or {most: 1}
    kinds = ("graph",) if easy else fitting_kinds(writer.atlas, kinds, skills)
    found: list[tuple[AgentTask, Trajectory]] = []
    seen: set[str] = set()
    index = 0
    while len(found) < n and index < TRIES * n + 10:
        batch: list[Candidate] = []
        for _ in range(min(BATCH, n - len(found) + 4)):
            rng = random.Random(f"{image.env_id}/practice/{seed}/{index}")
            candidate = writer.write(kinds[index % len(kinds)], rng, tuple(skills or ()), lengths)
            index += 1
            if candidate is None or candidate.key in seen or (skills and not set(skills) & set(candidate.skills)):
                continue
            seen.add(candidate.key)
            batch.append(candidate)
        for candidate, run in zip(batch, _runs(worker, batch), strict=True):
            if len(found) < n and _passes(writer, candidate, run, most):
                found.append(_episode(writer, candidate, run, seed))
    return found


def _runs(worker: SandboxWorker, batch: Sequence[Candidate]) -> list[Run]:
    """Execute a batch: all chains in one message, each script in an episode of its own."""
    chains = [candidate.oracle for candidate in batch if not candidate.oracle.script]
    outcomes = iter(worker.run_episodes([(oracle.calls, 0) for oracle in chains], isolation="environment"))
    return [
        execute(worker, candidate.oracle, user=candidate.user)
        if candidate.oracle.script
        else chain_run(candidate.oracle, next(outcomes))
        for candidate in batch
    ]


def _passes(writer: Writer, candidate: Candidate, run: Run, most: int) -> bool:
    return not (
        gates.executes(candidate, run)
        or gates.length(candidate, run, 1, most)
        or gates.independent(candidate, run, "ambiguous")
        or gates.independent(candidate, run)
        or gates.grounded(candidate, run, writer.atlas)
        or gates.leak(candidate, run, writer.atlas)
    )


def _episode(writer: Writer, candidate: Candidate, run: Run, seed: int) -> tuple[AgentTask, Trajectory]:
    verifier = Verifier(answer=candidate.fields, expected_answer=dict(run.answer or {}), expected_changes=run.changes)
    env_id = writer.atlas.database.env_id
    task = make_task(candidate, run, verifier, env_id, tuple(writer.atlas.tools)).model_copy(update={"seed": seed})
    return task, trajectory_of(task, run)
