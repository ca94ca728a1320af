"""Children that a supervising process forks, limits, kills and reaps. The supervisor never runs a tool's code."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from tasks.sandbox.inner.seccomp import Filter

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def limit_resources(limits: dict[str, Any], episodes: int = 1) -> None:
    """Set this process's resource limits; with CPU seconds for so many episodes."""
    cpu = int(limits["cpu_s"] * episodes) + 1

    def lower(which: int, value: int) -> None:
        _, hard = resource.getrlimit(which)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (bound, bound))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, limits["file_bytes"])
    lower(resource.RLIMIT_NOFILE, limits["open_files"])
    lower(resource.RLIMIT_NPROC, limits["processes"])
    lower(resource.RLIMIT_AS, limits["memory_bytes"])
    lower(resource.RLIMIT_CPU, cpu + 1)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(cpu, hard), hard))  # SIGXCPU tells the cause; at `hard` comes SIGKILL


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends.

    Raises:
        ProcessLookupError: if the parent has ended already.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        raise ProcessLookupError("the parent is gone")


class Children:
    """The living and lately ended children of this process, by the token that the factory gave them."""

    def __init__(self, limits: dict[str, Any], call_filter: Filter | None) -> None:
        self._limits = limits
        self._filter = call_filter
        self._living: dict[str, int] = {}
        self._ended: dict[str, int] = {}

    def fork(
        self,
        token: str,
        close: tuple[socket.socket, ...],
        work: Callable[[], None],
        *,
        confined: bool,
        episodes: int = 1,
    ) -> None:
        """Fork a child that runs `work` and exits; `confined` children get limits and the filter of system calls."""
        self.collect()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self._living[token] = pid
            return
        code = 1
        try:
            _die_with(parent)
            for sock in close:
                sock.close()
            signal.set_wakeup_fd(-1)
            if confined:
                limit_resources(self._limits, episodes)
                if self._filter is not None:
                    self._filter.install()
            work()
            code = 0
        except MemoryError:
            code = 77
        except BaseException as error:
            if os.environ.get("SANDBOX_DEBUG"):
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(code)

    def collect(self) -> None:
        """Reap whatever has ended."""
        pids = {pid: token for token, pid in self._living.items()}
        while pids:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            token = pids.pop(pid, None)
            if token is not None:
                del self._living[token]
                self._ended[token] = status
        while len(self._ended) > 256:
            del self._ended[next(iter(self._ended))]

    def kill(self, token: str) -> None:
        """Kill a child if it still lives. One that is ending keeps the status that it is ending with."""
        if token in self._living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._living[token], signal.SIGKILL)

    def end(self, token: str) -> int:
        """Kill a child and return its wait status; -1: unknown."""
        self.kill(token)
        pid = self._living.pop(token, None)
        if pid is not None:
            with contextlib.suppress(ChildProcessError):
                return os.waitpid(pid, 0)[1]
        return self._ended.pop(token, -1)

    def kill_all(self) -> None:
        """Kill every child that still lives."""
        for pid in self._living.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in self._living.values():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def supervise(control: socket.socket, children: Children, start: Callable[[dict[str, Any], list[int]], None]) -> None:
    """Serve a control socket until the factory closes it, then kill the children.

    A message is one JSON object with the descriptors that belong to it. "kill" is answered with a child's wait status;
    "drop" kills too and is not answered; any other starts something by `start(message, descriptors)`, unanswered too.
    """
    try:
        while True:
            data, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 4)
            if not data:
                return
            message = json.loads(data)
            if message["op"] == "kill":
                status = children.end(message["token"])
                control.send(json.dumps({"token": message["token"], "status": status}).encode())
            elif message["op"] == "drop":
                children.kill(message["token"])
            else:
                start(message, descriptors)
    except (ConnectionError, BrokenPipeError):
        return
    finally:
        children.kill_all()
