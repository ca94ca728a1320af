"""Measure the engine: what a reset, a call and a judged episode cost on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from schemas.task import Call, Verifier
from tasks.environment import EnvironmentImage, verify
from tasks.sandbox.episode import EpisodeOutcome
from tasks.sandbox.worker import SandboxWorker


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Return how many units a second `work` does (it returns how many it did), once warm."""
    work()
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        done += work()
    return done / spent


def measure(image: EnvironmentImage, calls: Sequence[Call], seconds: float = 1.0) -> dict[str, float]:
    """Return rates for an environment and an oracle's calls; each takes about `seconds`.

    Returns:
        start_s, load_s: seconds until a worker and an environment are ready;
        resets_per_s: episodes begun and ended with one call;
        calls_per_s: the first call, one by one through the pipe;
        batched_calls_per_s: all calls, 100 times in one message;
        episodes_per_s: whole oracle episodes (reset, calls, difference, verdict), a process each;
        batched_episodes_per_s: the same with isolation "environment", 50 a message.
    """
    calls = tuple(calls)
    begin = time.perf_counter()
    with SandboxWorker() as worker:
        started = time.perf_counter()
        worker.load(image)
        loaded = time.perf_counter()
        verifier = Verifier(answer=(), expected_answer={}, expected_changes=worker.run_episode(calls).changes)

        def reset() -> int:
            with worker.episode() as episode:
                episode.call(calls[0].tool, calls[0].arguments)
            return 1

        def judged(outcomes: Sequence[EpisodeOutcome]) -> int:
            if not all(verify(verifier, {}, outcome.changes).success for outcome in outcomes):
                raise AssertionError("an oracle episode was not verified")
            return len(outcomes)

        rates = {"start_s": started - begin, "load_s": loaded - started, "resets_per_s": _rate(reset, seconds)}
        with worker.episode() as episode:
            tool, arguments = calls[0].tool, calls[0].arguments
            rates["calls_per_s"] = _rate(lambda: sum(bool(episode.call(tool, arguments)) for _ in range(100)), seconds)
        reading = [calls[0]] * 100
        with worker.episode() as episode:
            rates["batched_calls_per_s"] = _rate(lambda: len(episode.run(reading)), seconds)
        rates["episodes_per_s"] = _rate(lambda: judged([worker.run_episode(calls)]), seconds)
        batch = [(calls, seed) for seed in range(50)]
        rates["batched_episodes_per_s"] = _rate(
            lambda: judged(worker.run_episodes(batch, isolation="environment")), seconds
        )
    return rates
