"""What stages cost: wall and CPU seconds of the work itself, and the memory of the whole process tree."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@dataclass
class Cost:
    """Seconds that a piece of work took; filled when its `measured` block ends."""

    wall_s: float = 0.0
    cpu_s: float = 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the figures rounded to a millisecond."""
        return {"wall_s": round(self.wall_s, 3), "cpu_s": round(self.cpu_s, 3)}


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Measure a block. Sandbox workers count from the moment they end, so close them inside the block."""
    cost, wall, cpu = Cost(), time.monotonic(), cpu_seconds()
    try:
        yield cost
    finally:
        cost.wall_s, cost.cpu_s = time.monotonic() - wall, cpu_seconds() - cpu


@dataclass
class Meter:
    """Watches a process tree's resident memory (peak in MiB) while stages follow one another."""

    peak_mb: float = 0.0
    stage_peak_mb: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def _watch(self, interval_s: float) -> None:
        import psutil

        me = psutil.Process(os.getpid())
        while not self._stop.wait(interval_s):
            total = 0
            with contextlib.suppress(psutil.Error):
                for process in (me, *me.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        total += process.memory_info().rss
            self.stage_peak_mb = max(self.stage_peak_mb, total / 2**20)
            self.peak_mb = max(self.peak_mb, total / 2**20)

    @contextlib.contextmanager
    def running(self, interval_s: float = 1.0) -> Iterator[Meter]:
        """Sample while the block runs. Shared pages count once for each process, so the figure is an upper bound."""
        thread = threading.Thread(target=self._watch, args=(interval_s,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()
