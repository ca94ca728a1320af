"""What the engine does: resets, calls and judged episodes through the real sandbox."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence

from schemas.task import Call, Verifier
from tasks.environment import EnvironmentImage, verify
from tasks.sandbox.benchmark.meter import proportional_memory, rate
from tasks.sandbox.benchmark.work import Work
from tasks.sandbox.episode import Episode
from tasks.sandbox.worker import Isolation, SandboxWorker

_RESETS = 400
_EPISODES = 12


def measure_engine(work: Work, verifiers: Sequence[Verifier], seconds: float) -> dict[str, float]:
    """Return the engine's figures by name, those that end in `_s` a CPU second of both sides of the pipe.

    `reset_ms` is the median time, through the pipe, until an episode after one that wrote may begin; `episode_kb` what
    one more live episode that has read and written takes, in a process of its own.

    Raises:
        AssertionError: if an oracle's episode is not verified.
    """
    figures: dict[str, float] = {}
    with SandboxWorker() as worker:
        worker.load(work.image)
        figures["reset_ms"] = _reset_ms(worker, work)
        figures["episode_kb"] = _episode_kb(worker, work)
        with worker.episode(isolation="environment") as episode:
            figures["calls_inside_s"] = rate(lambda: len(episode.run(work.lookups)), seconds, here=False)
            figures["calls_batched_s"] = rate(lambda: len(episode.run(work.lookups)), seconds)
            figures["calls_s"] = rate(lambda: _one_by_one(episode, work.lookups), seconds)
        figures["episodes_s"] = rate(
            lambda: _judged(worker, work.image, work.chains, verifiers, "environment"), seconds
        )
        figures["episodes_forked_s"] = rate(
            lambda: _judged(worker, work.image, work.chains, verifiers, "episode"), seconds
        )
    return figures


def measure_chains(worlds: Sequence[tuple[EnvironmentImage, Sequence[Sequence[Call]]]], seconds: float) -> float:
    """Return how many judged oracle episodes of several environments run a CPU second, each environment in one process.

    Args:
        worlds: environments whose tools rules wrote, each with its chains.
        seconds: how long each round takes at least.
    """
    with SandboxWorker() as worker:
        verifiers = []
        for image, chains in worlds:
            outcomes = worker.run_episodes([(chain, 0) for chain in chains], image, isolation="environment")
            verifiers.append([Verifier(answer=(), expected_answer={}, expected_changes=o.changes) for o in outcomes])

        def judged() -> int:
            for (image, chains), wanted in zip(worlds, verifiers, strict=True):
                _judged(worker, image, chains, wanted, "environment")
            return sum(len(chains) for _, chains in worlds)

        return rate(judged, seconds)


def _one_by_one(episode: Episode, calls: Sequence[Call]) -> int:
    for call in calls:
        episode.call(call.tool, call.arguments)
    return len(calls)


def _judged(
    worker: SandboxWorker,
    image: EnvironmentImage,
    chains: Sequence[Sequence[Call]],
    verifiers: Sequence[Verifier],
    isolation: Isolation,
) -> int:
    """Run every chain in an episode of another seed, so that minted keys differ, and judge its changes."""
    outcomes = worker.run_episodes([(chain, 1 + n) for n, chain in enumerate(chains)], image, isolation=isolation)
    for verifier, outcome in zip(verifiers, outcomes, strict=True):
        if outcome.error or not verify(verifier, {}, outcome.changes).success:
            raise AssertionError(f"an oracle's episode was not verified: {outcome.error or outcome.changes}")
    return len(outcomes)


def _reset_ms(worker: SandboxWorker, work: Work) -> float:
    times = []
    for number in range(_RESETS):
        begin = time.perf_counter()
        episode = worker.episode(number, isolation="environment")
        times.append(time.perf_counter() - begin)
        with episode:
            episode.run(work.chains[number % len(work.chains)])
    return 1000 * statistics.median(times)


def _episode_kb(worker: SandboxWorker, work: Work) -> float:
    """Return the memory of a live episode; NaN where the system does not tell."""
    episodes, sizes = [], []
    try:
        for number in range(_EPISODES):
            episodes.append(worker.episode(number))
            episodes[-1].run(work.chains[number % len(work.chains)])
            sizes.append(proportional_memory(os.getpid()))
    except OSError:
        return float("nan")
    finally:
        for episode in episodes:
            episode.close()
    return (sizes[-1] - sizes[0]) / (len(sizes) - 1) / 1024
