"""A sandboxed worker: one sandbox that lives long, holds several environments, and runs each episode in a process."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, Literal

from schemas.task import Call
from tasks.environment import Differ, EnvironmentImage, StateError
from tasks.sandbox.child import Child, plain_calls
from tasks.sandbox.episode import Episode
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.launch import StartError, start_zygote
from tasks.sandbox.limits import Limits
from tasks.sandbox.outcomes import EpisodeOutcome, changes_of, make_steps, split_batch
from tasks.sandbox.strength import FLOOR, Strength, sandbox_strength
from tasks.sandbox.supervisor import Supervisor, memory_file

_MAX_IMAGES = 16


@dataclass
class _Loaded:
    """An environment that the worker holds: its supervisor, and a child that answers whole batches."""

    image: EnvironmentImage
    supervisor: Supervisor
    differ: Differ
    batch: Child | None = None
    children: weakref.WeakSet[Child] = field(default_factory=weakref.WeakSet)

    @property
    def busy(self) -> bool:
        """Whether an episode is open in it."""
        return any(child.alive for child in self.children)

    def close(self) -> None:
        if self.batch is not None:
            self.batch.close()
        self.supervisor.close()
        self.differ.close()


def _end(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class SandboxWorker:
    """Runs untrusted tool code and scripts. Use it by `with`, from one thread at a time; several may live at once.

    Each episode runs in a process of its own, forked from one that holds the environment ready; many may be open at the
    same time. A failing episode ends alone. If the sandbox itself dies, the next episode starts it anew.

    Args:
        limits: what one episode may use.
        hash_seed: PYTHONHASHSEED inside; None is 0.
        clock_skew_s: shifts the wall clock inside, to test that episodes do not depend on it.
        frozen: freeze the standard clocks at the environment's start time and seed chance. False shows the real ones.
        bubblewrap, seccomp: False goes without, for tests and comparisons.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        hash_seed: int | None = None,
        clock_skew_s: float = 0,
        *,
        frozen: bool = True,
        bubblewrap: bool = True,
        seccomp: bool = True,
    ) -> None:
        self.limits = limits or Limits()
        self._hash_seed = hash_seed or 0
        self._settings: dict[str, Any] = {
            "limits": asdict(self.limits),
            "clock_skew_s": clock_skew_s,
            "frozen": frozen,
            "seccomp": seccomp,
            "bubblewrap": bubblewrap,
        }
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._current: EnvironmentImage | None = None
        self._zygote: Supervisor | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    def __enter__(self) -> SandboxWorker:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def strength(self) -> Strength:
        """How strong this worker's sandbox is."""
        return sandbox_strength(use_bubblewrap=self._settings["bubblewrap"], use_seccomp=self._settings["seccomp"])

    def close(self) -> None:
        """End the sandbox with all that runs in it; a later episode starts a new one."""
        for loaded in self._loaded.values():
            with contextlib.suppress(OSError):
                loaded.close()
        self._loaded.clear()
        self._zygote = None
        if self._finalizer is not None:
            self._finalizer()
            self._finalizer = None

    def load(self, image: EnvironmentImage, *, allow_weak: bool = False) -> None:
        """Make an environment the present one; the worker keeps the last ones, so that going back is cheap.

        Args:
            image: the environment.
            allow_weak: run code that is not made by rules even if this machine's sandbox is below the floor.

        Raises:
            SandboxError: "refused" if the sandbox is too weak for the code; "start" if the environment does not come
                up, for example because the snapshot is no SQLite file.
        """
        if image.foreign and self.strength.level < FLOOR and not allow_weak:
            raise SandboxError(
                "refused",
                f"the sandbox here is only {self.strength.name!r}; install bubblewrap, or allow weak sandboxes",
            )
        self._current = image
        self._ready(image)

    def _start(self) -> Supervisor:
        if self._zygote is None:
            try:
                process, control = start_zygote(self._settings, self._hash_seed)
            except (StartError, OSError) as error:
                raise SandboxError("start", str(error)) from error
            self._zygote = Supervisor(control)
            self._finalizer = weakref.finalize(self, _end, process, control)
        return self._zygote

    def _ready(self, image: EnvironmentImage) -> _Loaded:
        """Return the environment as loaded; load it, and start the sandbox anew if it has died."""
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
        for digest in list(self._loaded)[: max(0, len(self._loaded) - _MAX_IMAGES)]:
            if not self._loaded[digest].busy:
                self._loaded.pop(digest).close()
        return loaded

    def _load(self, image: EnvironmentImage) -> _Loaded:
        header = json.dumps(image.header).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        payload = memory_file(struct.pack("<I", len(header)) + header + image.snapshot)
        try:
            self._start().start("environment", [theirs.fileno(), payload])
        except ConnectionError:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(payload)
        supervisor = Supervisor(ours)
        try:
            answer = supervisor.receive()
        except ConnectionError as error:
            supervisor.close()
            if self._process_ended():
                raise
            raise SandboxError("start", f"environment {image.env_id!r} does not come up: {error}") from error
        if "error" in answer:
            supervisor.close()
            raise SandboxError("start", f"environment {image.env_id!r}: {answer['error']}")
        try:
            return _Loaded(image, supervisor, Differ(image.snapshot, image.log_tables))
        except StateError as error:
            supervisor.close()
            raise SandboxError("start", f"environment {image.env_id!r}: {error}") from error

    def _process_ended(self) -> bool:
        details = self._finalizer.peek() if self._finalizer is not None else None
        return details is None or details[2][0].poll() is not None

    def _child(self, image: EnvironmentImage, seed: int, episodes: int = 1) -> tuple[Child, _Loaded]:
        """Start a confined child of an environment; restart what has died."""
        for attempt in (1, 2):
            loaded = self._ready(image)
            ours, theirs = socket.socketpair()
            try:
                token = loaded.supervisor.start("episode", [theirs.fileno()], seed=seed, episodes=episodes)
                child = Child(ours, loaded.supervisor, token)
                if episodes == 1:
                    loaded.children.add(child)
                return child, loaded
            except ConnectionError as error:
                ours.close()
                self._loaded.pop(image.digest).close()
                if self._process_ended():
                    self.close()
                if attempt == 2:
                    raise SandboxError("start", str(error)) from error
            finally:
                theirs.close()
        raise AssertionError("unreachable")

    def _script(self, source: str, image: EnvironmentImage) -> Child:
        ours, theirs = socket.socketpair()
        payload = memory_file(source.encode())
        try:
            zygote = self._start()
            token = zygote.start("script", [theirs.fileno(), payload], start_time=image.start_time, seed=0)
            return Child(ours, zygote, token)
        except ConnectionError as error:
            ours.close()
            raise SandboxError("start", str(error)) from error
        finally:
            theirs.close()
            os.close(payload)

    def _image(self, image: EnvironmentImage | None) -> EnvironmentImage:
        if image is not None and image is not self._current:
            self.load(image)
        if self._current is None:
            raise SandboxError("start", "no environment is loaded; call load(image) first")
        return self._current

    def episode(self, seed: int = 0, image: EnvironmentImage | None = None) -> Episode:
        """Begin an episode in a private copy of the loaded environment (or of `image`, which is loaded then)."""
        chosen = self._image(image)
        child, loaded = self._child(chosen, seed)
        return Episode(child, chosen, loaded.differ, self.limits, self._script)

    def run_episode(
        self, calls: Sequence[Call], seed: int = 0, image: EnvironmentImage | None = None
    ) -> EpisodeOutcome:
        """Run a whole episode in one message: initial state, calls, difference. Its `error` says what failed."""
        chosen = self._image(image)
        child, loaded = self._child(chosen, seed)
        n = max(1, len(calls))
        try:
            results, state = child.request(
                "episode",
                plain_calls(calls),
                seconds=self.limits.wall_s * n,
                limit=8 * self.limits.output_bytes * n + self.limits.state_bytes,
            )
            return EpisodeOutcome(make_steps(calls, results), changes_of(loaded.differ, state))
        except SandboxError as error:
            return EpisodeOutcome((), (), error.outcome)
        finally:
            child.close()

    def run_episodes(
        self,
        episodes: Sequence[tuple[Sequence[Call], int]],
        image: EnvironmentImage | None = None,
        *,
        isolation: Literal["episode", "environment"] = "episode",
    ) -> list[EpisodeOutcome]:
        """Run whole episodes, each given as (calls, seed).

        With isolation "environment" one child runs them all, one after the other, each from the initial state and with
        fresh tool modules: several times faster. It is for tools whose tests have passed, as code that patches the
        standard library would reach the next episode. If the child fails, the episodes are run one by one.
        """
        if isolation == "episode":
            return [self.run_episode(calls, seed, image) for calls, seed in episodes]
        chosen = self._image(image)
        loaded = self._ready(chosen)
        if loaded.batch is None or not loaded.batch.alive:
            loaded.batch, loaded = self._child(chosen, 0, episodes=1_000_000)
        n = max(1, sum(len(calls) for calls, _ in episodes))
        try:
            results, states = loaded.batch.request(
                "episodes",
                [[seed, plain_calls(calls)] for calls, seed in episodes],
                seconds=self.limits.wall_s * n,
                limit=(1 << 32) - 1,
            )
            return split_batch(episodes, results, states, loaded.differ)
        except SandboxError:
            return [self.run_episode(calls, seed, chosen) for calls, seed in episodes]
