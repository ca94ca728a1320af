"""End the temporary Prefect servers of commands that were killed: nobody else would."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

STARTED_BY = "AGENTWORLD_STARTED_BY"
"""The variable by which a command's own processes know it: "<pid>:<when it began, in ticks since boot>"."""

_SERVER = b"prefect.server.api.server:create_app"
_PROC = Path("/proc")


def mark_children() -> None:
    """Have every process that this one starts know by its environment who started it."""
    began = _began(os.getpid())
    if began:
        os.environ[STARTED_BY] = f"{os.getpid()}:{began}"


def end_orphans() -> list[int]:
    """End the Prefect servers of this user that a command started which is gone; return their process ids.

    Does nothing where there is no /proc.
    """
    ended = []
    for pid, starter in _servers():
        if _began(starter[0]) != starter[1]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)
                ended.append(pid)
    return ended


def _servers() -> Iterator[tuple[int, tuple[int, str]]]:
    """Yield (process id, (its starter's, when that began)) of each server that says who started it."""
    mark = f"{STARTED_BY}=".encode()
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):  # gone meanwhile, or another user's
            if _SERVER not in (folder / "cmdline").read_bytes():
                continue
            for line in (folder / "environ").read_bytes().split(b"\0"):
                if line.startswith(mark):
                    pid, _, began = line.removeprefix(mark).decode().partition(":")
                    yield int(folder.name), (int(pid), began)


def _began(pid: int) -> str:
    """Return when a process began, in ticks since boot; '' if there is none. Ids are used again, these are not."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
