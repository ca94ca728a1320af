"""The gates that need one execution only. Each returns '' or why the candidate is not trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from schemas.episode import Step
from schemas.tool import Tool
from tasks.dialogue import ASK_USER
from tasks.environment import UnresolvedReference, resolve_references
from tasks.synthesis.atlas import Atlas, options
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.draft import references
from tasks.synthesis.replay import Run

_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])(?!\.\d)")
_QUOTED = re.compile(r'"([^"]+)"')
_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
CENT = 0.011
"""Sums of prices may differ by rounding."""


def executes(candidate: Candidate, run: Run) -> str:
    """Say no unless the oracle ran to its end, with the refusals that it expects, and every field has its type."""
    if run.error:
        return f"the oracle did not run: {run.error[:300]}"
    refused = [step for step in run.steps if "error" in step.observation]
    if len(refused) != candidate.refusals:
        shown = refused[0].observation["error"] if refused else "none"
        return f"{len(refused)} calls were refused, {candidate.refusals} expected; the first: {shown}"
    if "decline" in candidate.classes and run.changes:
        return "a task to be declined changes the state"
    for field in candidate.fields:
        value = (run.answer or {}).get(field.name)
        if not isinstance(value, _TYPES[field.type]) or (isinstance(value, bool) != (field.type == "boolean")):
            return f"answer field {field.name!r} is {value!r}, not of type {field.type}"
    if set(run.answer or {}) != {field.name for field in candidate.fields}:
        return "the answer has other fields than the prompt asks for"
    return ""


def independent(candidate: Candidate, run: Run, gate: str = "independent") -> str:
    """Say no if observations or answer differ from what SQL over the snapshot says.

    With gate "ambiguous": if a row that the prompt describes as the only one is not.
    """
    observations = [step.observation for step in run.steps]
    for expected in candidate.expected:
        if expected.gate != gate:
            continue
        try:
            found = resolve_references({"$ref": f"{expected.step}.{expected.path}"}, observations)
        except UnresolvedReference:
            found = None
        if not _same(found, expected.value):
            return f"step {expected.step}: {expected.path} is {found!r}, SQL says {expected.value!r}"
    if gate == "independent":
        for name, value in candidate.predicted:
            found = (run.answer or {}).get(name)
            if not _same(found, value):
                return f"answer field {name!r} is {found!r}, SQL says {value!r}"
        return _other_state(candidate, run)
    return ""


def _other_state(candidate: Candidate, run: Run) -> str:
    """Say where the final state differs from what the schema's rules say of it, rows that were made aside."""
    if candidate.after is None:
        return ""
    found = {(c.table, c.key): c.after or {} for c in run.changes if c.operation != "insert"}
    if found.keys() != candidate.after.keys():
        return f"{len(found)} rows were changed, by the rules it is {len(candidate.after)}"
    for place, row in candidate.after.items():
        for name, value in row.items():
            if not _same(found[place].get(name), value):
                return f"{place[0]}: {name} is {found[place].get(name)!r}, by the rules it is {value!r}"
    return ""


def _same(found: Any, value: Any) -> bool:
    if isinstance(found, (int, float)) and isinstance(value, (int, float)):
        return abs(found - value) <= CENT
    if isinstance(found, str) and isinstance(value, int):
        return found == str(value)  # a foreign tool may show the numbers of a text file as they stand there
    return bool(found == value)


def scalars(value: Any) -> Iterator[Any]:
    """Yield all scalars inside a JSON value."""
    if isinstance(value, dict):
        for item in value.values():
            yield from scalars(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from scalars(item)
    else:
        yield value


def numbers_in(text: str) -> set[float]:
    """Return the numbers that stand in a prompt, outside of names and ids."""
    return {float(match) for match in _NUMBER.findall(text)}


def grounded(candidate: Candidate, run: Run, atlas: Atlas) -> str:
    """Say no if an argument of the oracle comes neither from the prompt, an earlier observation nor the schema."""
    numbers = numbers_in(candidate.prompt)
    seen: set[Any] = set()
    for number, step in enumerate(run.steps):
        tool = atlas.tools.get(step.tool)
        if step.tool == ASK_USER:
            if foreign := _not_asked_for(candidate, step, numbers, run):
                return f"step {number}: the question holds {foreign}, which comes from nowhere"
            reply = str(step.observation.get("reply", ""))
            numbers |= numbers_in(reply)
            seen.update(_QUOTED.findall(reply))
            continue
        for name, argument in step.arguments.items():
            for value in scalars(argument):
                if not is_grounded(value, candidate.prompt, numbers, seen, tool, name):
                    return f"step {number}: argument {name} = {value!r} of {step.tool} comes from nowhere"
        seen.update(value for value in scalars(step.observation) if value is not None)
    return ""


def _not_asked_for(candidate: Candidate, step: Step, numbers: set[float], run: Run) -> str:
    """Return a word of a question that the prompt does not hold; a count of rows may stand in it too."""
    known = set(re.findall(r"\w+", candidate.prompt.lower()))
    for word in re.findall(r"\w+", str(step.arguments.get("question", "")).lower()):
        if word not in known and not (word.isdigit() and int(word) <= _most_rows(run)):
            return repr(word)
    return ""


def _most_rows(run: Run) -> int:
    return max((len(v) for s in run.steps for v in s.observation.values() if isinstance(v, list)), default=0)


def is_grounded(value: Any, prompt: str, numbers: set[float], seen: set[Any], tool: Tool | None, name: str) -> bool:
    """Say whether an argument comes from the prompt, from what was seen, or from the schema's options."""
    if value is None or isinstance(value, bool):
        return True
    if tool is not None and (value in options(tool, name) or value in _bounds(tool, name)):
        return True
    if isinstance(value, (int, float)):
        return (
            float(value) in numbers or value in seen or any(float(value) in numbers_in(text) for text in _texts(seen))
        )
    if f'"{value}"' in prompt or value in seen:
        return True
    return any(_stands_in(value, text) for text in _texts(seen))


def _bounds(tool: Tool, name: str) -> tuple[Any, ...]:
    """Return the least and the most that a tool's schema lets a page size be."""
    if not any(field.path == name and field.meaning == "limit" for field in tool.inputs):
        return ()
    schema = tool.parameters.get("properties", {}).get(name, {})
    return tuple(schema[word] for word in ("minimum", "maximum") if word in schema)


def _texts(seen: set[Any]) -> list[str]:
    """Return the documents among what was seen: texts of several lines, inside of which a value may stand."""
    return [text for text in seen if isinstance(text, str) and "\n" in text]


def leak(candidate: Candidate, run: Run, atlas: Atlas) -> str:
    """Say no if the prompt names a tool or a column as the schema does, or holds the answer."""
    prompt = candidate.prompt
    outside = re.sub(r'"[^"]*"', '""', prompt)
    for name in atlas.tools:
        if "_" in name and re.search(rf"\b{re.escape(name)}\b", prompt):
            return f"the prompt names the tool {name}"
    if found := re.search(r"\b[a-z0-9]+_[a-z0-9_]+\b", outside):
        return f"the prompt holds the schema name {found.group()}"
    numbers = numbers_in(outside)
    for fact in candidate.user.facts if candidate.user is not None else ():
        told = _QUOTED.findall(fact.says)
        if any(f'"{value}"' in prompt for value in told) or (not told and numbers_in(fact.says) & numbers):
            return f"the prompt holds what the user keeps back: {fact.topic}"
    for field in candidate.fields:
        value = (run.answer or {}).get(field.name)
        if field.name in candidate.choices or isinstance(value, bool) or value is None:
            continue
        if isinstance(value, (int, float)):
            if float(value) in numbers:
                return f"the prompt holds the answer's {field.name}: {value}"
        elif isinstance(value, str) and value and _stands_in(value, prompt):
            return f"the prompt holds the answer's {field.name}: {value}"
    if all(field.name in candidate.choices for field in candidate.fields):
        return "every field of the answer is a choice among things that the prompt names"
    return ""


def _stands_in(value: str, prompt: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", prompt.lower()) is not None


def matters(candidate: Candidate, run: Run, atlas: Atlas) -> str:
    """Say no if a call neither feeds a later argument, nor the answer, nor the state.

    For scripts only the reads that came back empty or refused are looked at; dropped writes are the red team's.
    """
    if candidate.oracle.script:
        return ""
    texts = references(candidate.oracle.answer)
    used = {int(text.partition(".")[0]) for text in texts}
    for call in candidate.oracle.calls:
        used |= {int(text.partition(".")[0]) for text in references(call.arguments)}
    for number, call in enumerate(candidate.oracle.calls):
        tool = atlas.tools[call.tool]
        if number not in used and not tool.writes:
            return f"step {number} ({call.tool}) feeds neither an argument nor the answer"
    return ""


def length(candidate: Candidate, run: Run, least: int, most: int) -> str:
    """Say no if the oracle makes fewer or more calls than wanted."""
    calls = len(run.steps)
    return "" if least <= calls <= most else f"the oracle makes {calls} calls, wanted are {least} to {most}"
