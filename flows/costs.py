"""What stages cost: wall and CPU seconds, and the memory of the whole process tree."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SAMPLE_S = 4.0
"""Seconds between two looks at memory: shares cost the kernel a walk over every page table."""


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
    """Measure a block in this process. Sandbox workers count from the moment they end: close them inside the block."""
    cost, wall, cpu = Cost(), time.monotonic(), _own_cpu()
    try:
        yield cost
    finally:
        cost.wall_s, cost.cpu_s = time.monotonic() - wall, _own_cpu() - cpu


def _own_cpu() -> float:
    parts = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(part.ru_utime + part.ru_stime for part in parts)


@dataclass
class StageFigures:
    """What one stage of a run cost. `items` is set by the stage itself."""

    stage: str
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_rss_mb: float = 0.0
    items: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, rounded, as a JSON object."""
        return {
            "stage": self.stage,
            "wall_s": round(self.wall_s, 2),
            "cpu_s": round(self.cpu_s, 2),
            "peak_rss_mb": round(self.peak_rss_mb, 1),
            "items": self.items,
        }


class Meter:
    """Watches a process tree while stages follow one another: CPU seconds and peak resident memory (MiB).

    Memory is the sum of the processes' proportional shares where the kernel tells them (Linux), else of their resident
    sets, which counts shared pages once for each process.
    """

    def __init__(self) -> None:
        import psutil

        self.stages: list[StageFigures] = []
        self.peak_mb = 0.0
        self._psutil = psutil
        self._me = psutil.Process(os.getpid())
        self._stage_peak = 0.0
        self._stop = threading.Event()

    def _tree(self) -> list:
        with contextlib.suppress(self._psutil.Error):
            return [self._me, *self._me.children(recursive=True)]
        return [self._me]

    def _memory_mb(self) -> float:
        total = 0
        for process in self._tree():
            with contextlib.suppress(self._psutil.Error, OSError):
                try:
                    total += process.memory_full_info().pss
                except (AttributeError, self._psutil.AccessDenied):
                    total += process.memory_info().rss
        return total / 2**20

    def _cpu_s(self) -> float:
        total = 0.0
        for process in self._tree():
            with contextlib.suppress(self._psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_S):
            now = self._memory_mb()
            self._stage_peak, self.peak_mb = max(self._stage_peak, now), max(self.peak_mb, now)

    @contextlib.contextmanager
    def running(self) -> Iterator[Meter]:
        """Sample memory while the block runs."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[StageFigures]:
        """Measure a stage. CPU of processes that end inside it without being waited for is not seen."""
        figures, wall, cpu = StageFigures(name), time.monotonic(), self._cpu_s()
        self._stage_peak = self._memory_mb()
        try:
            yield figures
        finally:
            figures.wall_s = time.monotonic() - wall
            figures.cpu_s = max(0.0, self._cpu_s() - cpu)
            figures.peak_rss_mb = self._stage_peak
            self.stages.append(figures)
