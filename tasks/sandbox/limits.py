"""What a child of the sandbox may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one child, which runs one episode or one script.

    Attributes:
        wall_s: seconds that a call may take; a batch of n calls may take n times that.
        cpu_s: CPU seconds of the whole child (rounded up to a second).
        memory_bytes: address space of the child, what Python itself needs (about 60 MB) included.
        processes: processes that the child may have beside itself.
        file_bytes: the largest file it may write (there is no place to write one to).
        open_files: descriptors that it may have open.
        output_bytes: characters of one observation's JSON, or of a script's answer.
        state_bytes: the largest state that is read back.
        script_calls: tool calls that one script may make.
        script_s: seconds that one script may take, its calls included.
    """

    wall_s: float = 5.0
    cpu_s: float = 20.0
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 0
    file_bytes: int = 0
    open_files: int = 32
    output_bytes: int = 1_000_000
    state_bytes: int = 256 * 1024 * 1024
    script_calls: int = 1000
    script_s: float = 30.0
