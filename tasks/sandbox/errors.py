"""What goes wrong with an episode in the sandbox."""

from __future__ import annotations

import signal

OUTCOMES = ("timeout", "memory", "killed", "output", "protocol", "refused", "state", "start", "closed")


class SandboxError(RuntimeError):
    """An episode or a worker failed; the worker itself goes on.

    Attributes:
        outcome: "timeout" (wall or CPU time), "memory", "killed" (the child ended by itself or by a signal), "output"
            (a result is too long), "protocol" (an answer is malformed), "state" (the final state's bytes are broken),
            "refused" (this machine's sandbox is too weak for the code), "start" (the sandbox or the environment does
            not come up), "closed" (the episode is over).
    """

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(f"{outcome}: {message}")
        self.outcome = outcome


def from_status(status: int) -> SandboxError:
    """Return the error that tells how a child ended, from its wait status."""
    if status >= 0:
        number = status & 0x7F
        if number == signal.SIGXCPU:
            return SandboxError("timeout", "the process has used up its CPU time")
        if number == signal.SIGALRM:
            return SandboxError("timeout", "a call took too long")
        if number:
            return SandboxError("killed", f"the process was ended by signal {number}")
        if status >> 8 == 77:
            return SandboxError("memory", "the process has no memory left")
        return SandboxError("killed", f"the process ended by itself with status {status >> 8}")
    return SandboxError("killed", "the process is gone")
