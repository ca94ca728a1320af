"""CPU time of a process with all its descendants, read from the kernel."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def tree_cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process, its living descendants, and those of them that were waited for.

    Read from Linux's /proc; 0.0 where there is none or the process is gone. It is asked this way because bubblewrap
    does not wait for the process that it starts, so that resource.getrusage never sees a sandbox's time.
    """
    total = 0
    waiting = [pid]
    while waiting:
        place = Path(f"/proc/{waiting.pop()}")
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (place / "stat").read_bytes().rpartition(b")")[2].split()
            total += sum(map(int, fields[11:15]))  # user and system ticks: own, and of children waited for
            for thread in (place / "task").iterdir():
                waiting += map(int, (thread / "children").read_bytes().split())
    return total / _TICKS
