"""How a command ends that did not go well: one line on standard error and an exit code, where the cause is known."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
STOPPED = "what was finished is kept, and so is every answer of a model: run it again to go on"
"""What holds when a command is stopped before its end."""


class End(NamedTuple):
    """One line for a person, and the exit code."""

    line: str
    code: int


@contextlib.contextmanager
def flushed() -> Iterator[None]:
    """Write standard output out when the block ends, so that a full disk is noticed while it can still be told."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError:
        # what is left in the buffer cannot be written either, and would be reported again as the process ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def tell_stop() -> None:
    """Have this process say one line on standard error when SIGTERM ends it; it still ends by that signal.

    Processes that it forks end silently. Code with a handler of its own (a server, a flow while it runs) goes first.
    """
    mine = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        if os.getpid() == mine:
            with contextlib.suppress(OSError):
                os.write(2, f"agentworld: stopped; {STOPPED}\n".encode())
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, stop)


def explained(error: Exception) -> End | None:
    """Return how a command ends after an error, or None where only a traceback tells what happened."""
    from flows.errors import Refused
    from tasks.models.errors import ModelError, RolesError
    from tasks.store.objects import StoreError

    if isinstance(error, StoreError | Refused | RolesError):
        return End(str(error), 2)
    if isinstance(error, ModelError):
        return End(f"the model: {error.reason} [{error.gate}]", 1)
    if isinstance(error, BrokenPipeError):
        return End("the reader of the output went away", 1)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = f" to {error.filename}" if error.filename else ""
        return End(f"cannot write{where}: {error.strerror}", 1)
    if _is_unreachable(error):
        url = os.environ.get("PREFECT_API_URL")
        if url:
            return End(f"the Prefect server {url} cannot be reached: start it, or unset PREFECT_API_URL", 2)
        return End("Prefect's temporary server did not start: run it again, or start one with `agentworld up`", 2)
    return None


def _is_unreachable(error: BaseException) -> bool:
    """Tell whether the error, or what caused it, is a Prefect server that does not answer."""
    if "prefect" not in sys.modules:
        return False
    import httpx

    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        told = str(cause)
        if isinstance(cause, httpx.TransportError) or told.startswith("Failed to reach API"):
            return True
        if isinstance(cause, RuntimeError) and "ephemeral Prefect API server" in told:
            return True
        cause = cause.__cause__ or cause.__context__
    return False
