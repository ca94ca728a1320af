"""Start the sandbox's zygote: in bubblewrap where it works, else as a plain process that limits itself."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from tasks.sandbox.strength import bubblewrap_works

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("tasks/environment/runtime", "tasks/sandbox/inner")
_INSIDE = "/factory"
_START_S = 20.0

_BOOT = """
import json, sys, types
root, descriptor, settings = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
for name in ("tasks", "tasks.environment", "tasks.sandbox"):
    package = types.ModuleType(name)
    package.__path__ = [root + "/" + name.replace(".", "/")]
    sys.modules[name] = package
from tasks.sandbox.inner.zygote import main
main(descriptor, settings)
"""
# The packages above the two are stand-ins without their own __init__: the sandbox sees none of the factory's modules.


class StartError(RuntimeError):
    """The sandbox did not start; the message holds what it said."""


def _python() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _readable() -> list[str]:
    """Return what the sandbox may read where Landlock takes bubblewrap's place."""
    system = ["/usr", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/urandom"]
    return [*system, *_prefixes(), *(str(_ROOT / package) for package in _PACKAGES)]


def _prefixes() -> list[str]:
    """Return where Python lies, if it lies outside of /usr."""
    prefixes = {os.path.realpath(sys.base_prefix), str(Path(_python()).parents[1])}
    return [prefix for prefix in sorted(prefixes) if prefix != "/usr" and not prefix.startswith("/usr/")]


def bubblewrap_command() -> list[str]:
    """Return the command up to the program: all namespaces new, read-only system, nothing else, no capabilities."""
    command = [
        "bwrap", "--unshare-all", "--new-session", "--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox",
        "--uid", "65534", "--gid", "65534",
    ]  # fmt: skip
    command += ["--ro-bind", "/usr", "/usr"]
    for name in ("/lib", "/lib64", "/lib32", "/bin"):
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", os.readlink(path), name]
        elif path.exists():
            command += ["--ro-bind", name, name]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for prefix in _prefixes():
        command += ["--ro-bind", prefix, prefix]
    command += ["--dir", "/dev"]
    for device in ("/dev/null", "/dev/zero", "/dev/urandom"):
        command += ["--dev-bind", device, device]
    for package in _PACKAGES:
        command += ["--ro-bind", str(_ROOT / package), f"{_INSIDE}/{package}"]
    return [*command, "--dir", "/tmp", "--remount-ro", "/", "--chdir", "/"]


def start_zygote(settings: dict[str, Any], hash_seed: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the zygote and wait until it is ready.

    The zygote ends as soon as the returned control socket is closed, also by the death of this process, and takes its
    namespaces with it. (bwrap's --die-with-parent is not used: it follows the thread that started it, not the process.)

    Raises:
        StartError: if it does not come up.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    descriptor = theirs.fileno()
    wrapped = bubblewrap_works() and settings.get("bubblewrap", True)
    root = _INSIDE if wrapped else str(_ROOT)
    settings = settings | {"readable": None if wrapped else _readable()}
    program = [_python(), "-s", "-S", "-P", "-B", "-c", _BOOT, root, str(descriptor), json.dumps(settings)]
    environment = {"PYTHONHASHSEED": str(hash_seed), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    if wrapped:
        given = [part for name, value in environment.items() for part in ("--setenv", name, value)]
        program = [*bubblewrap_command(), *given, *program]
        environment |= {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            cwd="/",
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        theirs.close()
        _wait_ready(process, ours, errors)
    return process, ours


def _wait_ready(process: subprocess.Popen[bytes], control: socket.socket, errors: IO[bytes]) -> None:
    control.settimeout(_START_S)
    try:
        ready = control.recv(4096)
    except (TimeoutError, OSError):
        ready = b""
    if not ready:
        control.close()
        process.kill()
        process.wait()
        errors.seek(0)
        said = errors.read(4000).decode(errors="replace").strip().splitlines()
        raise StartError(f"the sandbox did not start: {said[-1] if said else 'it said nothing'}")
