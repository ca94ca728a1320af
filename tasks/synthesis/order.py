"""Figures that the task itself changes: read before or after the change they differ, and a prompt does not say when."""

from __future__ import annotations

import re
from typing import Any

from schemas.task import Oracle
from schemas.tool import ToolField
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.replay import Bench, Run
from tasks.synthesis.trace import trace_calls

FIGURES = ("matches", "count", "sum", "average", "minimum", "maximum")


def order(candidate: Candidate, run: Run, atlas: Atlas, bench: Bench) -> str:
    """Say no if a field of a chain's answer is read before a write that changes it.

    A figure over rows is asked for again after the last write; a cell counts as changed if a row of its table held
    the answer's value in that column and no longer does. Scripts are not looked at.
    """
    if candidate.oracle.script or not run.changes:
        return ""
    last = max((n for n, step in enumerate(run.steps) if atlas.tools[step.tool].writes), default=-1)
    again: dict[str, int] = {}
    for name, place in candidate.oracle.answer.items():
        if not isinstance(place, dict) or set(place) != {"$ref"}:
            continue
        number, _, path = place["$ref"].partition(".")
        if int(number) > last or atlas.tools[run.steps[int(number)].tool].writes:
            continue
        field = _output(atlas, run.steps[int(number)].tool, path)
        if field is None:
            continue
        if field.meaning in FIGURES:
            again[name] = int(number)
        elif column := _changed(field, (run.answer or {}).get(name), run):
            return f"answer field {name!r} is read before the task changes it ({column})"
    if not again:
        return ""
    calls = trace_calls(run.steps, run.changes)
    repeated = list(dict.fromkeys(again.values()))
    answer = {name: _moved(candidate, name, len(calls) + repeated.index(number)) for name, number in again.items()}
    later = bench.execute(Oracle(calls=(*calls, *(calls[number] for number in repeated)), answer=answer))
    for name in again:
        before, after = (run.answer or {}).get(name), (later.answer or {}).get(name)
        if before != after:
            return f"answer field {name!r} is {before!r} before the task's changes and {after!r} after them"
    return ""


def _moved(candidate: Candidate, name: str, number: int) -> dict[str, Any]:
    _, _, path = candidate.oracle.answer[name]["$ref"].partition(".")
    return {"$ref": f"{number}.{path}"}


def _output(atlas: Atlas, tool: str, path: str) -> ToolField | None:
    plain = re.sub(r"\[\d+\]", "[]", path)
    return next((field for field in atlas.tools[tool].outputs if field.path == plain), None)


def _changed(field: ToolField, value: Any, run: Run) -> str:
    """Return the column if a row that held the value in the field's column no longer does."""
    table, _, column = (field.of or field.entity).partition(".")
    for change in run.changes:
        if change.table != table or change.before is None or column not in change.before:
            continue
        if change.before[column] == value and (change.after or {}).get(column) != value:
            return f"{table}.{column}"
    return ""
