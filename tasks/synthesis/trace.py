"""An executed oracle as plain calls, with references only where a key was minted in the episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.episode import Step
from schemas.task import Call, Change


def trace_calls(steps: Sequence[Step], changes: Sequence[Change]) -> tuple[Call, ...]:
    """Return an episode's steps as calls that can be run again, each by itself as far as possible.

    An argument that is the key of a row which the episode inserted becomes a reference to the observation that showed
    it first; all other arguments stay literal, so that another call can be dropped.
    """
    inserted = {change.key for change in changes if change.operation == "insert" and isinstance(change.key, str)}
    places: dict[Any, str] = {}
    calls = []
    for number, step in enumerate(steps):
        arguments = {
            name: {"$ref": places[value]} if isinstance(value, str) and value in places else value
            for name, value in step.arguments.items()
        }
        calls.append(Call(tool=step.tool, arguments=arguments))
        for name, value in step.observation.items():
            if isinstance(value, str) and value in inserted:
                places.setdefault(value, f"{number}.{name}")
    return tuple(calls)
