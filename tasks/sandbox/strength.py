"""How strong this machine's sandbox is, said plainly."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tasks.sandbox.inner import landlock, seccomp

FLOOR = 2
"""Below this level, code that is not made by rules is refused unless the caller insists."""


PROPERTIES = {
    "files_hidden": "no file can be read but the system's and Python's own",
    "home_hidden": "home directories cannot be listed",
    "metadata_hidden": "which other files there are, their sizes and times, cannot be seen",
    "files_read_only": "nothing on the disk or in shared memory can be written, made, renamed, removed or altered",
    "environment": "the environment variables of other processes cannot be read",
    "inheritance": "no descriptor, variable or object of the factory is inherited",
    "other_memory": "the memory of other processes cannot be read or traced",
    "other_episodes": "no state of another episode can be read",
    "next_episode": "nothing that code patches, leaves behind or writes reaches a later episode",
    "network": "no connection, datagram or name look-up gets out, and no local socket is reached",
    "processes": "no other process or thread can be started",
    "programs": "no program can be executed",
    "signals": "no other process can be signalled",
    "system_calls": "only some sixty system calls are let through",
    "own_namespaces": "the host's name, processes and mounts are not seen",
    "leftovers": "nothing lives on after its episode",
    "memory": "the memory limit cannot be exceeded or raised",
    "cpu": "the limit of CPU time cannot be exceeded or raised",
    "wall_time": "whatever does not answer is ended in time",
    "output": "results beyond the limit are refused, whatever is sent",
    "protocol": "nobody answers for another episode or claims what only the factory knows",
    "database": "the tools' own connection attaches, loads, runs and alters no more than rows",
    "data_only": "what comes out is plain JSON and rows that JSON can hold",
}
"""What the sandbox may hold back. The hostile suite attacks each of them as tool code and as script code, and checks
`Strength.holds` both ways: what it says is held withstands, and what it says is open can be shown to be open."""


@dataclass(frozen=True)
class Strength:
    """What the sandbox holds back.

    Attributes:
        name: the means joined by "+", strongest first, of "bubblewrap" or "landlock", and "seccomp"; or "limits".
        level: 3 bubblewrap and seccomp, 2 bubblewrap, or Landlock and seccomp, 1 seccomp, else 0; the floor for code
            that is not made by rules is 2.
        holds: each of `PROPERTIES` -> whether it is enforced.
    """

    name: str
    level: int
    holds: dict[str, bool] = field(default_factory=dict)


def make_strength(
    *,
    bubblewrap: bool,
    landlocked: bool,
    filtered: bool,
    unlimited: bool = False,
    uncounted: bool = False,
    traceable: bool = True,
) -> Strength:
    """Return the strength of a combination of means.

    Args:
        bubblewrap: namespaces of its own, no privileges, a view of few files.
        landlocked: Landlock, where there is no bubblewrap.
        filtered: the filter of system calls.
        unlimited: the factory's process may raise its limits.
        uncounted: the number of its user's processes is not limited.
        traceable: the machine lets processes of one user read one another's memory.
    """
    hidden = bubblewrap or landlocked
    limited = bubblewrap or filtered or not unlimited
    apart = (filtered and hidden) or not traceable
    open_or_not = {
        "files_hidden": hidden,
        "home_hidden": hidden,
        "metadata_hidden": bubblewrap,
        "files_read_only": bubblewrap or filtered,
        "environment": hidden,
        "other_memory": apart,
        "other_episodes": apart,
        "next_episode": filtered or not traceable,
        "network": bubblewrap or filtered,
        "processes": filtered or not uncounted,
        "programs": filtered or (landlocked and not unlimited),
        "signals": filtered,
        "system_calls": filtered,
        "own_namespaces": bubblewrap,
        "leftovers": filtered,
        "memory": limited,
        "cpu": limited,
    }
    holds = {name: open_or_not.get(name, True) for name in PROPERTIES}
    first = "bubblewrap" if bubblewrap else "landlock" if landlocked else ""
    name = "+".join(filter(None, (first, "seccomp" if filtered else ""))) or "limits"
    level = 2 + filtered if bubblewrap else int(filtered) + int(filtered and landlocked)
    return Strength(name, level, holds)


def _capable(number: int) -> bool:
    """Say whether this process has a capability, by its number in linux/capability.h, on the machine itself."""
    try:
        mapped = Path("/proc/self/uid_map").read_text().split()
        status = Path("/proc/self/status").read_text()
    except OSError:
        return os.geteuid() == 0
    effective = int(status.split("CapEff:")[1].split()[0], 16)
    return mapped == ["0", "0", "4294967295"] and bool(effective >> number & 1)


_SYS_PTRACE, _SYS_ADMIN, _SYS_RESOURCE = 19, 21, 24


def _uncounted() -> bool:
    """Say whether the kernel leaves this process's children uncounted: those of the first root are never counted."""
    mapped = Path("/proc/self/uid_map")
    first = os.getuid() == 0 and (not mapped.exists() or mapped.read_text().split()[:2] == ["0", "0"])
    return first or _capable(_SYS_RESOURCE) or _capable(_SYS_ADMIN)


def _traceable() -> bool:
    """Say whether a process may read the memory of one that it did not start (see Yama in the kernel's manual)."""
    try:
        scope = int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        scope = 0
    return scope == 0 or (scope < 3 and _capable(_SYS_PTRACE))


@functools.cache
def bubblewrap_works() -> bool:
    """Try whether bubblewrap is there and may make its namespaces on this machine."""
    if shutil.which("bwrap") is None:
        return False
    command = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def sandbox_strength(*, use_bubblewrap: bool = True, use_seccomp: bool = True, use_landlock: bool = True) -> Strength:
    """Return the strength of the sandbox that `SandboxWorker` uses on this machine, or would use without some means."""
    bubblewrap = use_bubblewrap and bubblewrap_works()
    return make_strength(
        bubblewrap=bubblewrap,
        landlocked=use_landlock and not bubblewrap and landlock.supported(),
        filtered=use_seccomp and seccomp.supported(),
        unlimited=_capable(_SYS_RESOURCE),
        uncounted=_uncounted(),
        traceable=_traceable(),
    )
