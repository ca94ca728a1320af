"""How strong this machine's sandbox is, said plainly."""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import dataclass, field

from tasks.sandbox.inner import landlock, seccomp

FLOOR = 2
"""Below this level, code that is not made by rules is refused unless the caller insists."""


@dataclass(frozen=True)
class Strength:
    """What the sandbox holds back.

    Attributes:
        name: "bubblewrap+seccomp", "bubblewrap", "landlock+seccomp", "seccomp" or "limits".
        level: 3, 2, 2, 1 or 0; the floor for code that is not made by rules is 2.
        holds: property -> whether it is enforced: "network" (no connection out), "files_hidden" (only the system's and
            Python's files can be read), "files_read_only", "home_hidden", "processes" (no new ones), "signals" (none to
            others), "system_calls" (filtered), "own_namespaces", "memory", "cpu", "wall_time", "output".
    """

    name: str
    level: int
    holds: dict[str, bool] = field(default_factory=dict)


def make_strength(*, bubblewrap: bool, landlocked: bool, filtered: bool) -> Strength:
    """Return the strength of a combination of means."""
    hidden = bubblewrap or landlocked
    holds = {
        "network": bubblewrap or filtered,
        "files_hidden": hidden,
        "files_read_only": hidden or filtered,
        "home_hidden": hidden,
        "processes": filtered,
        "signals": filtered,
        "system_calls": filtered,
        "own_namespaces": bubblewrap,
        "memory": True,
        "cpu": True,
        "wall_time": True,
        "output": True,
    }
    first = "bubblewrap" if bubblewrap else "landlock" if landlocked else ""
    name = "+".join(filter(None, (first, "seccomp" if filtered else ""))) or "limits"
    level = 2 + filtered if bubblewrap else int(filtered) + int(filtered and landlocked)
    return Strength(name, level, holds)


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


def sandbox_strength(*, use_bubblewrap: bool = True, use_seccomp: bool = True) -> Strength:
    """Return the strength of the sandbox that `SandboxWorker` uses on this machine, or would use without some means."""
    bubblewrap = use_bubblewrap and bubblewrap_works()
    return make_strength(
        bubblewrap=bubblewrap,
        landlocked=not bubblewrap and landlock.supported(),
        filtered=use_seccomp and seccomp.supported(),
    )
