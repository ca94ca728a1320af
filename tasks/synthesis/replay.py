"""Execute oracles in the sandbox, and replay them in fresh processes with other hash seeds and wall clocks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from schemas.base import canonical_json
from schemas.episode import Step
from schemas.task import Call, Change, Oracle, SimulatedUser
from tasks.dialogue import ASK_USER, RuleUser, answers
from tasks.environment import EnvironmentImage, UnresolvedReference, resolve_references
from tasks.sandbox import EpisodeOutcome, SandboxError, SandboxWorker

REPLAYERS = ((0, 0), (1, 86_400 * 400 + 3_723), (4_217, -86_400 * 900))
"""(hash seed, wall clock skew in seconds) of the processes that must agree."""


@dataclass(frozen=True)
class Run:
    """What an oracle did in one episode; `error` is '' or why it has no result."""

    answer: dict[str, Any] | None
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    error: str = ""

    @property
    def tool_steps(self) -> tuple[Step, ...]:
        """The steps less the questions to the user, which neither read nor change the state."""
        return tuple(step for step in self.steps if step.tool != ASK_USER)

    def text(self) -> str:
        """Return the canonical JSON of all that a replay must reproduce."""
        return canonical_json(
            [
                self.answer,
                [step.model_dump(mode="json") for step in self.steps],
                [change.model_dump(mode="json") for change in self.changes],
                self.error,
            ]
        )


def answer_of(oracle: Oracle, steps: Sequence[Step]) -> dict[str, Any] | None:
    """Return a chain's answer read off its observations; None if a place does not exist."""
    try:
        return resolve_references(oracle.answer, [step.observation for step in steps])
    except UnresolvedReference:
        return None


def execute(worker: SandboxWorker, oracle: Oracle, seed: int = 0, user: SimulatedUser | None = None) -> Run:
    """Run an oracle, chain or script, in a fresh episode of the worker's environment; a script may ask `user`."""
    if not oracle.script:
        return chain_run(oracle, worker.run_episode(oracle.calls, seed=seed))
    try:
        with worker.episode(seed=seed) as episode:
            outside = {ASK_USER: answers(RuleUser(user))} if user is not None else None
            outcome = episode.script(oracle.script, outside)
            return Run(outcome.answer, outcome.steps, episode.changes(), outcome.error)
    except SandboxError as error:
        return Run(None, (), (), str(error))


def chain_run(oracle: Oracle, outcome: EpisodeOutcome) -> Run:
    """Return the run of a chain from an episode's outcome."""
    answer = answer_of(oracle, outcome.steps)
    missing = "" if answer is not None else "the answer's place does not exist in the observations"
    return Run(answer, outcome.steps, outcome.changes, outcome.error or missing)


class Bench:
    """Standing workers for one environment: a main one, and others with other hash seeds and clocks.

    Use it by `with`. `worker` may be given to be used as the main one; it is not closed then.
    """

    def __init__(self, image: EnvironmentImage, worker: SandboxWorker | None = None) -> None:
        self.image = image
        self._given = worker
        self._stack = ExitStack()
        self.workers: list[SandboxWorker] = []

    def __enter__(self) -> Bench:
        try:
            if self._given is not None:
                self.workers.append(self._given)
            for hash_seed, skew in REPLAYERS[len(self.workers) :]:
                worker = SandboxWorker(hash_seed=hash_seed, clock_skew_s=skew)
                self.workers.append(self._stack.enter_context(worker))
            for worker in self.workers:
                worker.load(self.image)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def main(self) -> SandboxWorker:
        """The main worker."""
        return self.workers[0]

    @property
    def cpu_s(self) -> float:
        """CPU seconds that the workers' sandboxes have used so far."""
        return sum(worker.cpu_s for worker in self.workers)

    def execute(self, oracle: Oracle, seed: int = 0, user: SimulatedUser | None = None) -> Run:
        """Run an oracle in the main worker."""
        return execute(self.main, oracle, seed, user)

    def disagreement(self, oracle: Oracle, run: Run, seed: int = 0, user: SimulatedUser | None = None) -> str:
        """Replay an oracle in the other workers; return '' if all agree with `run`, else which differs."""
        for worker, (hash_seed, skew) in zip(self.workers[1:], REPLAYERS[1:], strict=True):
            again = execute(worker, oracle, seed, user)
            if again.text() != run.text():
                return f"a replay with hash seed {hash_seed} and clock {skew:+d} s differs"
        return ""

    def batch(self, episodes: Sequence[Sequence[Call]], seed: int = 0) -> list[EpisodeOutcome]:
        """Run many chains of calls, each from the initial state, in one message."""
        return self.main.run_episodes([(calls, seed) for calls in episodes], isolation="environment")
