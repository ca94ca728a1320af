"""One running sandbox: its zygote, the environments that it holds ready, and the children started in them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from schemas.snapshot import SnapshotRefused, check_snapshot
from tasks.environment import Differ, EnvironmentImage, StateError, own_modules
from tasks.sandbox.child import Child
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.launch import StartError, start_zygote
from tasks.sandbox.supervisor import Supervisor, memory_file
from tasks.sandbox.usage import tree_cpu_s

_MAX_ENVIRONMENTS = 16
_MAX_IDLE = 128
MANY_EPISODES = 1_000_000
"""What a child that is used again and again is given CPU seconds for."""


@dataclass
class Loaded:
    """An environment that the sandbox holds ready.

    `idle` are children that have ended an episode and may begin another one; `open` are those in an episode.
    """

    image: EnvironmentImage
    supervisor: Supervisor
    differ: Differ
    idle: list[Child] = field(default_factory=list)
    open: weakref.WeakSet[Child] = field(default_factory=weakref.WeakSet)

    @property
    def busy(self) -> bool:
        """Whether an episode is open in it."""
        return any(child.alive for child in self.open)

    def release(self, child: Child) -> None:
        """Take a child back for a later episode."""
        self.open.discard(child)
        if child.alive and len(self.idle) < _MAX_IDLE:
            self.idle.append(child)
        else:
            child.close()

    def close(self) -> None:
        """End the environment with all its children."""
        for child in self.idle:
            child.close()
        self.supervisor.close()
        self.differ.close()


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Sandbox:
    """A sandbox that starts when first needed, and anew when it has died.

    Methods raise `SandboxError` with outcome "start" if the sandbox or an environment does not come up.
    """

    def __init__(self, settings: dict[str, Any], hash_seed: int) -> None:
        self._settings = settings
        self._hash_seed = hash_seed
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()
        self._zygote: Supervisor | None = None
        self._end: weakref.finalize[..., Any] | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._spent_s = 0.0

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all that has run in it so far, as far as the kernel tells."""
        running = self.process if self._end is not None else None
        return self._spent_s + (tree_cpu_s(running.pid) if running is not None else 0.0)

    def start(self) -> Supervisor:
        """Return the zygote's control; start it if it does not run."""
        if self._zygote is None:
            try:
                self.process, control = start_zygote(self._settings, self._hash_seed)
            except (StartError, OSError) as error:
                raise SandboxError("start", str(error)) from error
            self._zygote = Supervisor(control)
            self._end = weakref.finalize(self, _end, self.process, control)
        return self._zygote

    def close(self) -> None:
        """End the sandbox with all that runs in it."""
        self._spent_s = self.cpu_s
        for loaded in self._loaded.values():
            with contextlib.suppress(OSError):
                loaded.close()
        self._loaded.clear()
        self._zygote = None
        if self._end is not None:
            self._end()
            self._end = None

    def ready(self, image: EnvironmentImage) -> Loaded:
        """Return the environment as loaded; the longest unused ones without an open episode make room for it."""
        loaded = self._loaded.get(image.digest)
        if loaded is not None:
            self._loaded.move_to_end(image.digest)
            return loaded
        try:
            loaded = self._load(image)
        except ConnectionError:
            self.close()
            try:
                loaded = self._load(image)
            except ConnectionError as error:
                raise SandboxError("start", f"environment {image.env_id!r}: {error}") from error
        self._loaded[image.digest] = loaded
        for digest in list(self._loaded)[: max(0, len(self._loaded) - _MAX_ENVIRONMENTS)]:
            if not self._loaded[digest].busy:
                self._loaded.pop(digest).close()
        return loaded

    def _load(self, image: EnvironmentImage) -> Loaded:
        try:
            check_snapshot(image.snapshot)
        except SnapshotRefused as error:
            raise SandboxError("start", f"environment {image.env_id!r}: {error}") from error
        header = json.dumps({**image.header, "own_modules": own_modules(image.snapshot)}).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        payload = memory_file(struct.pack("<I", len(header)) + header + image.snapshot)
        try:
            self.start().start("environment", [theirs.fileno(), payload])
        except (ConnectionError, SandboxError):
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(payload)
        supervisor = Supervisor(ours)
        try:
            answer = supervisor.receive()
            if "error" in answer:
                raise SandboxError("start", f"environment {image.env_id!r}: {answer['error']}")
            return Loaded(image, supervisor, Differ(image.snapshot, image.log_tables, wary=image.foreign))
        except ConnectionError as error:
            supervisor.close()
            if self._has_ended():
                raise
            raise SandboxError("start", f"environment {image.env_id!r} does not come up: {error}") from error
        except StateError as error:
            supervisor.close()
            raise SandboxError("start", f"environment {image.env_id!r}: {error}") from error
        except SandboxError:
            supervisor.close()
            raise

    def _has_ended(self) -> bool:
        """Ask the zygote for a child that never was: it answers, or it is gone."""
        if self._zygote is None:
            return True
        try:
            self._zygote.end("")
        except ConnectionError:
            return True
        return False

    def child(self, image: EnvironmentImage, seed: int, episodes: int = 1) -> tuple[Child, Loaded]:
        """Start a confined child of an environment, with CPU time for so many episodes."""
        for attempt in (1, 2):
            loaded = self.ready(image)
            ours, theirs = socket.socketpair()
            try:
                token = loaded.supervisor.start("episode", [theirs.fileno()], seed=seed, episodes=episodes)
            except ConnectionError as error:
                ours.close()
                self._loaded.pop(image.digest).close()
                if self._has_ended():
                    self.close()
                if attempt == 2:
                    raise SandboxError("start", str(error)) from error
                continue
            finally:
                theirs.close()
            child = Child(ours, loaded.supervisor, token)
            loaded.open.add(child)
            return child, loaded
        raise AssertionError("unreachable")

    def reused_child(self, image: EnvironmentImage, seed: int, seconds: float) -> tuple[Child, Loaded]:
        """Return an idle child of an environment that has begun another episode, or a new one."""
        loaded = self.ready(image)
        while loaded.idle:
            child = loaded.idle.pop()
            try:
                child.request("start", str(int(seed)), seconds=seconds, limit=65536)
            except SandboxError:
                continue
            loaded.open.add(child)
            return child, loaded
        return self.child(image, seed, MANY_EPISODES)

    def script(self, source: str, start_time: str) -> Child:
        """Start a confined child that runs a solution script, at an environment's time but without its state."""
        ours, theirs = socket.socketpair()
        payload = memory_file(source.encode(errors="replace"))
        try:
            zygote = self.start()
            token = zygote.start("script", [theirs.fileno(), payload], start_time=start_time, seed=0)
            return Child(ours, zygote, token)
        except ConnectionError as error:
            ours.close()
            raise SandboxError("start", str(error)) from error
        finally:
            theirs.close()
            os.close(payload)
