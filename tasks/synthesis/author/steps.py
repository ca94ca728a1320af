"""An oracle's chain in words for a model: what each step does with what, and what is known from where."""

from __future__ import annotations

from typing import Any

from schemas.base import canonical_json
from schemas.task import Call
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate


def told_steps(candidate: Candidate, atlas: Atlas) -> str:
    """Return the steps of a chain, one a line, then where the answer's fields are read; no values of the answer."""
    lines = [f"step {number}: {_told(call, atlas)}" for number, call in enumerate(candidate.oracle.calls, 1)]
    for name, place in candidate.oracle.answer.items():
        lines.append(f"answer {name}: {_value(place)}")
    return "\n".join(lines)


def _told(call: Call, atlas: Atlas) -> str:
    tool = atlas.tools[call.tool]
    given = "; ".join(f"{name} = {_value(value)}" for name, value in sorted(call.arguments.items())) or "no arguments"
    kind = "changes data" if tool.writes else "only reads"
    return f"{tool.description.split(chr(10))[0].strip()} ({kind}) With {given}."


def _value(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"$ref"}:
        number, _, path = value["$ref"].partition(".")
        return f"what step {int(number) + 1} shows at {path}"
    return canonical_json(value)
