"""One order for the calls of an oracle chain: as the prompt speaks of them, as far as it makes no difference.

Oracles may look something up long before it is needed. Which of several independent calls comes next is then a toss
that no policy can predict; an episode to imitate is easier learnt from when that toss is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.episode import Step
from schemas.tool import Tool


def in_order_of_mention(prompt: str, steps: Sequence[Step], tools: Mapping[str, Tool]) -> tuple[Step, ...]:
    """Return the steps reordered by where the prompt first names their arguments.

    A step stays behind the first step whose observation holds an argument that the prompt does not name, writes keep
    their order, and no read crosses a write to a table that it reads: so every observation stays what it was.
    """
    before = [_needed(prompt, steps, index, tools) for index in range(len(steps))]
    places: list[int] = []
    for index, step in enumerate(steps):
        inherited = max((places[other] for other in before[index]), default=0)
        places.append(max(_place(prompt, step), inherited))
    done: list[int] = []
    while len(done) < len(steps):
        ready = [i for i in range(len(steps)) if i not in done and before[i] <= set(done)]
        done.append(min(ready, key=lambda i: (places[i], i)))
    return tuple(steps[index] for index in done)


def _place(prompt: str, step: Step) -> int:
    """Return where the prompt names the rarest (then longest) of a step's arguments; 0 if it names none."""
    named = [text for value in step.arguments.values() if (text := _text(value)) and text in prompt]
    if not named:
        return 0
    return prompt.index(min(named, key=lambda text: (prompt.count(text), -len(text))))


def _needed(prompt: str, steps: Sequence[Step], index: int, tools: Mapping[str, Tool]) -> set[int]:
    """Return the earlier steps that a step must stay behind."""
    step = steps[index]
    needed = set()
    for value in step.arguments.values():
        text = _text(value)
        if not text or text in prompt:
            continue
        source = next((n for n in range(index) if _holds(steps[n].observation, value)), None)
        if source is not None:
            needed.add(source)
    own = tools[step.tool]
    for other in range(index):
        earlier = tools[steps[other].tool]
        both_write = bool(own.writes and earlier.writes)
        touched = set(own.writes) & {*earlier.reads, *earlier.writes} | set(earlier.writes) & set(own.reads)
        if both_write or touched:
            needed.add(other)
    return needed


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    return str(value) if isinstance(value, str | int | float) else ""


def _holds(observation: Any, value: Any) -> bool:
    if isinstance(observation, dict):
        return any(_holds(part, value) for part in observation.values())
    if isinstance(observation, list):
        return any(_holds(part, value) for part in observation)
    return type(observation) is type(value) and bool(observation == value)
