"""An oracle's chain in words for a model: what each step does with what, and what is known from where."""

from __future__ import annotations

import re
from typing import Any

from schemas.base import canonical_json
from schemas.task import Call
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.replay import Run


def told_steps(candidate: Candidate, atlas: Atlas) -> str:
    """Return the steps of a chain, one a line, then where the answer's fields are read; no values of the answer."""
    lines = [f"step {number}: {_told(call, atlas)}" for number, call in enumerate(candidate.oracle.calls, 1)]
    for name, place in candidate.oracle.answer.items():
        lines.append(f"answer {name}: {_value(place)}")
    return "\n".join(lines)


def field_notes(candidate: Candidate, atlas: Atlas) -> dict[str, str]:
    """Return, for each field of the answer that is read from a column with words of its own, its meaning and unit."""
    notes = {}
    for name, place in candidate.oracle.answer.items():
        if not (isinstance(place, dict) and set(place) == {"$ref"}):
            continue
        number, _, path = place["$ref"].partition(".")
        tool = atlas.tools[candidate.oracle.calls[int(number)].tool]
        shown = re.sub(r"\[\d+\]|(?<=\.)\d+\.", "[]", path)
        table, _, column = next((out.of for out in tool.outputs if out.path == shown), "").partition(".")
        if table in atlas.tables and column:
            known = atlas.tables[table].column(column)
            told = "; ".join(filter(None, [known.description, known.unit and f"in {known.unit}"]))
            notes[name] = f": {told}" if told else ""
    return notes


def done_twice(run: Run, atlas: Atlas) -> str:
    """Return what a chain does twice in the same way to the same records, or ''."""
    done = set()
    for step in run.tool_steps:
        if atlas.tools[step.tool].writes:
            call = canonical_json([step.tool, step.arguments])
            if call in done:
                return f"it does the same thing twice: {step.tool} with the same arguments"
            done.add(call)
    return ""


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
