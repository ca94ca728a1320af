"""Which of an environment's tools a task offers: those that its oracle needs, among distractors."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from schemas.episode import Step
from schemas.task import Oracle

OFFERED = 12
"""Tools that a task offers, where its oracle needs no more. The whole environment has two to three times as many: a
subset keeps a policy's context short, and most of it are distractors."""

_CALLED = re.compile(r"call\(\s*[\"'](\w+)[\"']")


def offered_tools(oracle: Oracle, steps: Iterable[Step], tools: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """Return the names of the tools that a task offers, in a random order.

    A script's tools are those that it called and those in branches that it did not take.
    """
    needed = {call.tool for call in oracle.calls} | {step.tool for step in steps}
    needed |= set(_CALLED.findall(oracle.script)) & set(tools)
    others = [name for name in tools if name not in needed]
    chosen = sorted(needed) + rng.sample(others, min(len(others), max(0, OFFERED - len(needed))))
    rng.shuffle(chosen)
    return tuple(chosen)
