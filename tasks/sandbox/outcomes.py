"""What episodes and scripts return, and how it is read from a child's answer, which is not trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.episode import Step
from schemas.task import Call, Change
from tasks.environment import Differ, StateError
from tasks.sandbox.errors import SandboxError


@dataclass(frozen=True)
class ScriptOutcome:
    """What a solution script did: its answer, the calls it made, and '' or why it has no answer."""

    answer: dict[str, Any] | None
    steps: tuple[Step, ...]
    error: str = ""


@dataclass(frozen=True)
class EpisodeOutcome:
    """What a whole episode did: its steps, its changes, and '' or the outcome of the `SandboxError` that ended it."""

    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    error: str = ""


def make_steps(calls: Sequence[Call], results: Any) -> tuple[Step, ...]:
    """Join calls with the [resolved arguments or null, observation] that a child returned.

    Raises:
        SandboxError: with outcome "protocol", if the child's answer has another form.
    """
    steps = []
    if not isinstance(results, list) or len(results) != len(calls):
        raise SandboxError("protocol", "the child did not answer every call")
    for call, result in zip(calls, results, strict=True):
        if not isinstance(result, list) or len(result) != 2 or not isinstance(result[1], dict):
            raise SandboxError("protocol", "the child's answer has the wrong form")
        arguments = result[0] if isinstance(result[0], dict) else call.arguments
        steps.append(Step(tool=call.tool, arguments=arguments, observation=result[1]))
    return tuple(steps)


def changes_of(differ: Differ, journal: Any, state: bytes) -> tuple[Change, ...]:
    """Return the difference that a child's answer tells: its journal of changed rows, or the bytes of its state.

    A child can lie by either, since both come from the process that runs the tools; see `Differ.journaled` for what is
    taken from whom.

    Raises:
        SandboxError: "state", if it tells no intact state.
    """
    try:
        return differ.changes(state) if journal is None else differ.journaled(journal)
    except StateError as error:
        raise SandboxError("state", str(error)) from error


def split_batch(
    episodes: Sequence[tuple[Sequence[Call], int]], results: Any, states: bytes, differ: Differ
) -> list[EpisodeOutcome]:
    """Return the outcomes of a batch, whose states stand one after the other.

    Raises:
        SandboxError: "protocol" or "state", if the child's answer has another form.
    """
    if not isinstance(results, list) or len(results) != len(episodes):
        raise SandboxError("protocol", "the child did not answer every episode")
    outcomes, position = [], 0
    for (calls, _), result in zip(episodes, results, strict=True):
        if not isinstance(result, list) or len(result) != 3 or type(result[2]) is not int or result[2] < 0:
            raise SandboxError("protocol", "the child's answer has the wrong form")
        steps, journal, size = result
        state = states[position : position + size]
        position += size
        if isinstance(steps, str):
            outcomes.append(EpisodeOutcome((), (), "output"))
        else:
            outcomes.append(EpisodeOutcome(make_steps(calls, steps), changes_of(differ, journal, state)))
    return outcomes
