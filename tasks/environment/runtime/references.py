"""References from an argument to a place in an earlier observation: {"$ref": "2.orders[0].order_id"}."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_STEP = re.compile(r"\d+")
_NESTED = (dict, list, tuple)
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


class UnresolvedReference(ValueError):
    """A reference is malformed or points to nothing; the message says which and where it stopped."""


@lru_cache(maxsize=4096)
def parse_reference(text: str) -> tuple[int, tuple[str | int, ...]]:
    """Split "2.orders[0].order_id" into the step 2 and the path ("orders", 0, "order_id").

    Raises:
        UnresolvedReference: if the text is no reference.
    """
    start = _STEP.match(text)
    if start is None:
        raise UnresolvedReference(f"reference {text!r} does not start with a step number")
    parts: list[str | int] = []
    position = start.end()
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            raise UnresolvedReference(f"reference {text!r} is malformed at character {position}")
        parts.append(part[1] if part[1] is not None else int(part[2]))
        position = part.end()
    return int(start[0]), tuple(parts)


def look_up(text: str, observations: Sequence[Any]) -> Any:
    """Return the value that a reference's text points to.

    Raises:
        UnresolvedReference: if the text is malformed or the place does not exist.
    """
    step, parts = parse_reference(text)
    if step >= len(observations):
        raise UnresolvedReference(f"reference {text!r}: there is no step {step} before this one")
    value = observations[step]
    for part in parts:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                raise UnresolvedReference(f"reference {text!r}: nothing stands at [{part}]")
        elif not isinstance(value, dict) or part not in value:
            raise UnresolvedReference(f"reference {text!r}: nothing stands at {part!r}")
        value = value[part]
    return value


def is_reference(value: Any) -> bool:
    """Say whether a value is a reference: an object with the single key "$ref" and a text."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get("$ref"), str)


def resolve_references(value: Any, observations: Sequence[Any]) -> Any:
    """Return a copy of a JSON value in which each reference is replaced by what it points to.

    Args:
        value: any JSON value; a reference may stand at any depth.
        observations: the observations of the earlier steps, the first one at 0.

    Raises:
        UnresolvedReference: if a reference is malformed or its place does not exist.
    """
    if isinstance(value, dict):
        if len(value) == 1 and is_reference(value):
            return look_up(value["$ref"], observations)
        return {
            key: resolve_references(item, observations) if isinstance(item, _NESTED) else item
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [resolve_references(item, observations) if isinstance(item, _NESTED) else item for item in value]
    return value
