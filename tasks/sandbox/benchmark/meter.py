"""Measure the engine: what a reset, a call and a judged episode cost on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from schemas.task import Call, Verifier
from tasks.environment import EnvironmentImage, verify
from tasks.sandbox.outcomes import EpisodeOutcome
from tasks.sandbox.worker import Isolation, SandboxWorker

_TICKS = os.sysconf("SC_CLK_TCK")


def _descendants(pid: int) -> list[int]:
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [*children, *(later for child in children for later in _descendants(child))]


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all that it has started, living or reaped."""
    total = 0
    for pid in (os.getpid(), *_descendants(os.getpid())):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


def _rates(name: str, work: Callable[[], int], seconds: float) -> dict[str, float]:
    """Return how many units `work` does (it returns how many it did), a second and a CPU second, once warm."""
    work()
    done, cpu, start = 0, _cpu_seconds(), time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        done += work()
    return {f"{name}_per_s": done / spent, f"{name}_per_cpu_s": done / max(_cpu_seconds() - cpu, 1 / _TICKS)}


def measure(image: EnvironmentImage, calls: Sequence[Call], seconds: float = 1.0) -> dict[str, float]:
    """Return rates for an environment and an oracle's calls; each takes about `seconds`.

    Returns:
        `start_s` and `load_s`, seconds until a worker and an environment are ready, and for each of the following a
        rate `_per_s` (on the clock) and `_per_cpu_s` (by CPU seconds of both sides together: what one core alone does,
        even if this machine is busy with other work):
        resets: episodes begun and ended with one call, a process each;
        reused_resets: the same with isolation "environment";
        calls: the first call, one by one through the pipe;
        batched_calls: the first call, 100 times in one message;
        episodes: whole oracle episodes (reset, calls, difference, verdict), a process each;
        batched_episodes: the same with isolation "environment", 50 a message.
    """
    calls = tuple(calls)
    begin = time.perf_counter()
    with SandboxWorker() as worker:
        started = time.perf_counter()
        worker.load(image)
        rates = {"start_s": started - begin, "load_s": time.perf_counter() - started}
        verifier = Verifier(answer=(), expected_answer={}, expected_changes=worker.run_episode(calls).changes)
        tool, arguments = calls[0].tool, calls[0].arguments
        reading, batch = [calls[0]] * 100, [(calls, seed) for seed in range(50)]

        def reset(isolation: Isolation) -> int:
            with worker.episode(isolation=isolation) as one:
                one.call(tool, arguments)
            return 1

        def judged(outcomes: Sequence[EpisodeOutcome]) -> int:
            if not all(verify(verifier, {}, outcome.changes).success for outcome in outcomes):
                raise AssertionError("an oracle episode was not verified")
            return len(outcomes)

        rates |= _rates("resets", lambda: reset("episode"), seconds)
        rates |= _rates("reused_resets", lambda: reset("environment"), seconds)
        with worker.episode() as episode:
            rates |= _rates("calls", lambda: sum(bool(episode.call(tool, arguments)) for _ in range(100)), seconds)
        with worker.episode() as episode:
            rates |= _rates("batched_calls", lambda: len(episode.run(reading)), seconds)
        rates |= _rates("episodes", lambda: judged([worker.run_episode(calls)]), seconds)
        rates |= _rates(
            "batched_episodes", lambda: judged(worker.run_episodes(batch, isolation="environment")), seconds
        )
    return rates
