"""Clocks of a benchmark: CPU seconds of this process and all that it started, so that other work counts little."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

ROUNDS = 5
_TICKS = os.sysconf("SC_CLK_TCK")
_SHARE = 0.4
"""A round lasts until this share of its time was spent computing, so that the kernel's 10 ms ticks count little."""


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started and that live, and those that these have started."""
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [*children, *(later for child in children for later in descendants(child))]


def cpu_seconds(*, here: bool = True) -> float:
    """Return the CPU seconds of all that this process has started, living or reaped, and (`here`) of itself."""
    total = 0
    for pid in (os.getpid(), *descendants(os.getpid())):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15] if here or pid != os.getpid() else fields[13:15]))
    return total / _TICKS


class _Best:
    """The best of some rounds of measuring; what disturbs only ever slows."""

    def __init__(self, seconds: float, here: bool, rounds: int) -> None:
        self._seconds, self._here, self._left = seconds, here, rounds
        self.rate = 0.0
        self._begin()

    def _begin(self) -> None:
        self._done, self._cpu, self._start = 0, cpu_seconds(here=self._here), time.perf_counter()

    def goes_on(self, done: int) -> bool:
        """Count what was done; say whether more is to be done."""
        self._done += done
        if time.perf_counter() - self._start >= self._seconds:
            spent = cpu_seconds(here=self._here) - self._cpu
            if spent >= _SHARE * self._seconds:
                self.rate = max(self.rate, self._done / spent)
                self._left -= 1
                self._begin()
        return self._left > 0


def rate(work: Callable[[], int], seconds: float, *, here: bool = True, rounds: int = ROUNDS) -> float:
    """Return how many units `work` does (it returns how many it did) a CPU second, once warm: the best of some rounds.

    Args:
        work: what is measured, repeated.
        seconds: how long each round takes at least, on the clock; longer on a busy machine.
        here: count this process too, not only those that it started.
        rounds: how often to measure.
    """
    work()
    best = _Best(seconds, here, rounds)
    while best.goes_on(work()):
        pass
    return best.rate


async def rate_async(work: Callable[[], Awaitable[int]], seconds: float, rounds: int = ROUNDS) -> float:
    """Do the same for work that is awaited."""
    await work()
    best = _Best(seconds, True, rounds)
    while best.goes_on(await work()):
        pass
    return best.rate


@contextlib.contextmanager
def one_core() -> Iterator[int]:
    """Keep this process, and all that it starts meanwhile, on one core; yields its number."""
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def proportional_memory(pid: int) -> int:
    """Return the bytes that a process and its descendants take, shared pages split among those that share them.

    Raises:
        OSError: if this system does not tell.
    """
    total = 0
    for member in (pid, *descendants(pid)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            text = Path(f"/proc/{member}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) * 1024
    return total
