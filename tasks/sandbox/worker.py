"""A sandboxed worker: one sandbox that lives long, holds several environments, and runs each episode in a process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from types import TracebackType
from typing import Any, Literal

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.sandbox.child import encode_calls
from tasks.sandbox.episode import Episode
from tasks.sandbox.errors import SandboxError
from tasks.sandbox.limits import Limits
from tasks.sandbox.outcomes import EpisodeOutcome, changes_of, make_steps, split_batch
from tasks.sandbox.sandbox import Sandbox
from tasks.sandbox.strength import FLOOR, Strength, sandbox_strength

Isolation = Literal["episode", "environment"]
"""What shares a process: nothing but one episode, or successive episodes of one environment.

"environment" is many times faster to reset. It is for tools made by rules: each episode begins with the initial state,
fresh tool modules, clock and chance, but code that patches the standard library would reach the next. An image that is
`foreign` gets a process for each episode whatever is asked for."""

_BATCH_EPISODES = 200


class SandboxWorker:
    """Runs untrusted tool code and scripts. Use it by `with`, from one thread at a time; several may live at once.

    Episodes run in processes forked from one that holds the environment ready; many may be open at the same time. A
    failing episode ends alone. If the sandbox itself dies, the next episode starts it anew.

    Args:
        limits: what one episode may use.
        hash_seed: PYTHONHASHSEED inside; None is 0.
        clock_skew_s: shifts the wall clock inside, to test that episodes do not depend on it.
        frozen: freeze the standard clocks at the environment's start time and seed chance. False shows the real ones.
        bubblewrap, seccomp, landlock: False goes without, for tests and comparisons.
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
        landlock: bool = True,
    ) -> None:
        self.limits = limits or Limits()
        self._means = {"use_bubblewrap": bubblewrap, "use_seccomp": seccomp, "use_landlock": landlock}
        settings: dict[str, Any] = {
            "limits": asdict(self.limits),
            "clock_skew_s": clock_skew_s,
            "frozen": frozen,
            "seccomp": seccomp,
            "bubblewrap": bubblewrap,
            "landlock": landlock,
        }
        self._sandbox = Sandbox(settings, hash_seed or 0)
        self._current: EnvironmentImage | None = None

    def __enter__(self) -> SandboxWorker:
        self._sandbox.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def strength(self) -> Strength:
        """How strong this worker's sandbox is."""
        return sandbox_strength(**self._means)

    @property
    def cpu_s(self) -> float:
        """CPU seconds that its sandbox has used so far, those of ended ones included."""
        return self._sandbox.cpu_s

    def close(self) -> None:
        """End the sandbox with all that runs in it; a later episode starts a new one."""
        self._sandbox.close()

    def load(self, image: EnvironmentImage, *, allow_weak: bool = False) -> None:
        """Make an environment the present one; the worker keeps the last ones, so that going back is cheap.

        Args:
            image: the environment.
            allow_weak: run code that is not made by rules even if this machine's sandbox is below the floor.

        Raises:
            SandboxError: "refused" if the sandbox is too weak for the code; "start" if the environment does not come
                up, for example because the snapshot is no SQLite file.
        """
        self._check_strength(allow_weak or not image.foreign)
        self._current = image
        self._sandbox.ready(image)

    def run_script(self, source: str, *, start_time: str = "2026-01-05T09:00:00", allow_weak: bool = False) -> dict:
        """Run a module's `solve(call)` that belongs to no environment, and return its answer; `call` reaches nothing.

        Args:
            source: the module; what it works on stands in it.
            start_time: what the clocks inside show.
            allow_weak: as for `load`.

        Raises:
            SandboxError: "refused" as `load`; else how the script ended without an answer.
        """
        self._check_strength(allow_weak)
        child = self._sandbox.script(source, start_time)
        try:
            message = child.receive(time.monotonic() + self.limits.script_s, self.limits.output_bytes + 64)
        finally:
            child.close()
        if isinstance(message, list) and len(message) == 2 and message[0] == "answer" and isinstance(message[1], dict):
            return message[1]
        told = str(message[1])[:500] if isinstance(message, list) and message[:1] == ["failed"] else "malformed message"
        raise SandboxError("protocol", told)

    def _check_strength(self, allow_weak: bool) -> None:
        if self.strength.level < FLOOR and not allow_weak:
            raise SandboxError(
                "refused",
                f"the sandbox here is only {self.strength.name!r}; install bubblewrap, or allow weak sandboxes",
            )

    def _image(self, image: EnvironmentImage | None) -> EnvironmentImage:
        if image is not None and image is not self._current:
            self.load(image)
        if self._current is None:
            raise SandboxError("start", "no environment is loaded; call load(image) first")
        return self._current

    def episode(
        self, seed: int = 0, image: EnvironmentImage | None = None, *, isolation: Isolation = "episode"
    ) -> Episode:
        """Begin an episode in a private copy of the loaded environment (or of `image`, which is loaded then)."""
        chosen = self._image(image)
        if isolation == "episode" or chosen.foreign:
            child, loaded = self._sandbox.child(chosen, seed)
            return Episode(child, chosen, loaded.differ, self.limits, self._sandbox.script, child.close)
        child, loaded = self._sandbox.reused_child(chosen, seed, self.limits.wall_s)
        return Episode(child, chosen, loaded.differ, self.limits, self._sandbox.script, lambda: loaded.release(child))

    def run_episode(
        self, calls: Sequence[Call], seed: int = 0, image: EnvironmentImage | None = None
    ) -> EpisodeOutcome:
        """Run a whole episode in one message: initial state, calls, difference. Its `error` says what failed."""
        return self._run(calls, seed, self._image(image))

    def _run(self, calls: Sequence[Call], seed: int, image: EnvironmentImage) -> EpisodeOutcome:
        child, loaded = self._sandbox.child(image, seed)
        n = max(1, len(calls))
        try:
            result, state = child.request(
                "episode",
                encode_calls(calls),
                seconds=self.limits.wall_s * n,
                limit=8 * self.limits.output_bytes * n + self.limits.state_bytes,
            )
            if not isinstance(result, list) or len(result) != 2:
                raise SandboxError("protocol", "the child's answer has the wrong form")
            steps, journal = result
            return EpisodeOutcome(make_steps(calls, steps), changes_of(loaded.differ, journal, state))
        except SandboxError as error:
            return EpisodeOutcome((), (), error.outcome)
        finally:
            child.close()

    def run_episodes(
        self,
        episodes: Sequence[tuple[Sequence[Call], int]],
        image: EnvironmentImage | None = None,
        *,
        isolation: Isolation = "episode",
    ) -> list[EpisodeOutcome]:
        """Run whole episodes, each given as (calls, seed).

        With isolation "environment" one child runs up to 200 of them a message; if it fails, its episodes are run one
        by one, each in a process of its own. Where some tools are foreign, this goes for the episodes that call none of
        these, in processes that hold none of them.
        """
        chosen = self._image(image)
        if isolation == "environment" and chosen.foreign and chosen.ours:
            ours = set(chosen.ours)
            plain = [place for place, (calls, _) in enumerate(episodes) if all(call.tool in ours for call in calls)]
            batched = dict(zip(plain, self._run_batches([episodes[n] for n in plain], chosen.part), strict=True))
            return [
                batched[n] if n in batched else self._run(calls, seed, chosen)
                for n, (calls, seed) in enumerate(episodes)
            ]
        if isolation == "episode" or chosen.foreign:
            return [self._run(calls, seed, chosen) for calls, seed in episodes]
        return self._run_batches(episodes, chosen)

    def _run_batches(
        self, episodes: Sequence[tuple[Sequence[Call], int]], chosen: EnvironmentImage
    ) -> list[EpisodeOutcome]:
        outcomes: list[EpisodeOutcome] = []
        for start in range(0, len(episodes), _BATCH_EPISODES):
            batch = episodes[start : start + _BATCH_EPISODES]
            try:
                outcomes += self._run_batch(batch, chosen)
            except SandboxError:
                outcomes += [self._run(calls, seed, chosen) for calls, seed in batch]
        return outcomes

    def _run_batch(
        self, episodes: Sequence[tuple[Sequence[Call], int]], image: EnvironmentImage
    ) -> list[EpisodeOutcome]:
        child, loaded = self._sandbox.reused_child(image, 0, self.limits.wall_s)
        n = max(1, sum(len(calls) for calls, _ in episodes))
        try:
            unlike = {id(calls): calls for calls, _ in episodes}  # the same chain often runs with many seeds
            texts = {place: encode_calls(calls) for place, calls in unlike.items()}
            results, states = child.request(
                "episodes",
                f"[{','.join(f'[{int(seed)},{texts[id(calls)]}]' for calls, seed in episodes)}]",
                seconds=self.limits.wall_s * n,
                limit=(1 << 32) - 1,
            )
            return split_batch(episodes, results, states, loaded.differ)
        finally:
            loaded.release(child)
