"""Replay a release's questions: native calls, baked ids as references, and the reference answers worked out again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.base import canonical_json
from schemas.imports import ImportedQuestion
from schemas.task import Call
from tasks.imports.faults import scalars
from tasks.imports.outcome import Build
from tasks.imports.probe import Prober
from tasks.imports.world import ForeignTool, Question, snake

_MINTED = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|"
    r"\b[A-Za-z]{2,8}[-_][0-9a-f]{6,}\b|\b[A-Za-z]{2,8}[-_]?\d{8,}\b"
)
_CUT = range(1480, 1521)
"""Lengths at which reference answers were seen to be cut."""


def replay_question(
    env_id: str, question: Question, tools: Mapping[str, ForeignTool], prober: Prober, known: frozenset[str]
) -> ImportedQuestion:
    """Return the question with its chain as native calls, what the last one returns here, and the faults found.

    Args:
        tools: native name -> tool.
        known: every text that stands in the environment's files.
    """
    faults: list[str] = []
    calls = list(_native(question, tools, faults))
    outcome = prober.replay(calls)
    observations = [step.observation for step in outcome.steps]
    repaired = _with_references(question.task, calls, observations, known, faults)
    if repaired != calls:
        calls = repaired
        outcome = prober.replay(calls)
        observations = [step.observation for step in outcome.steps]
    refused = sum(isinstance(observation.get("error"), dict) for observation in observations)
    done = len(observations) - refused
    if not calls or done < len(calls) or outcome.error:
        faults.append("chain_fails")
    last = observations[-1] if observations and "chain_fails" not in faults else None
    reference = question.answer if isinstance(question.answer, str) else canonical_json(question.answer)
    faults += _answer_faults(question, reference, observations, last, known)
    wrong = {"chain_fails", "unknown_tool", "answer_contradicted", "answer_cut_short", "answer_bakes_values"}
    return ImportedQuestion(
        env_id=env_id,
        number=question.number,
        task=question.task,
        chain=tuple(calls),
        calls_done=done,
        reference_answer=reference,
        recomputed_answer=canonical_json(last) if last is not None else "",
        faults=tuple(dict.fromkeys(faults)),
        usable=not wrong & set(faults),
    )


def _native(question: Question, tools: Mapping[str, ForeignTool], faults: list[str]) -> Iterator[Call]:
    originals = {tool.original: tool for tool in tools.values()}
    for name, arguments in question.chain:
        tool = originals.get(name) or tools.get(snake(name))
        if tool is None:
            faults.append("unknown_tool")
            continue
        known = tool.parameters["properties"]
        yield Call(tool=tool.name, arguments={key: value for key, value in arguments.items() if key in known})


def _with_references(
    task: str, calls: Sequence[Call], observations: Sequence[Any], known: frozenset[str], faults: list[str]
) -> list[Call]:
    """Replace arguments that come from nowhere by what an earlier step mints here under the same name."""
    seen: set[str] = set()
    found = []
    for number, call in enumerate(calls):
        arguments = dict(call.arguments)
        for name, value in arguments.items():
            text = str(value)
            here = isinstance(value, str) and len(text) > 3 and text not in known and text not in task
            if not here or text in seen or not (_MINTED.search(text) or name.lower().endswith(("id", "token", "key"))):
                continue
            faults.append("baked_value")
            place = _place_of(name, observations[:number])
            if place:
                arguments[name] = {"$ref": place}
        found.append(Call(tool=call.tool, arguments=arguments))
        if number < len(observations):
            seen |= {str(item) for item in scalars(observations[number])}
    return found


def _place_of(name: str, observations: Sequence[Any]) -> str:
    """Return where an earlier observation, the latest first, holds a field of that name; '' if none does."""
    wanted = {name.lower(), name.lower().removeprefix("new_"), name.lower().rpartition("_")[2]}
    for number in range(len(observations) - 1, -1, -1):
        for path, field in _fields(observations[number]):
            if field.lower() in wanted:
                return f"{number}.{path}"
    return ""


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            place = f"{path}.{name}" if path else str(name)
            if isinstance(item, str | int):
                yield place, str(name)
            else:
                yield from _fields(item, place)
    elif isinstance(value, list):
        for number, item in enumerate(value[:5]):
            yield from _fields(item, f"{path}[{number}]")


def _answer_faults(
    question: Question, reference: str, observations: Sequence[Any], last: Any, known: frozenset[str]
) -> Iterator[str]:
    parsed = _json(reference)
    looks = reference.lstrip()[:1] in ("{", "[")
    if looks and parsed is None or len(reference) in _CUT and reference.rstrip()[-1:] not in '.!?"}]':
        yield "answer_cut_short"
    if looks and last is not None and _is_output(parsed, reference, last):
        yield "answer_is_last_output"
    baked = [text for text in _MINTED.findall(reference) if text not in known and text not in question.task]
    if baked:
        yield "answer_bakes_values"
    if last is None:
        return
    if isinstance(parsed, dict | list):
        if _contradicts(parsed, last, known):
            yield "answer_contradicted"
    elif not looks and _false_numbers(question.task, reference, observations):
        yield "answer_contradicted"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_output(parsed: Any, reference: str, last: Any) -> bool:
    """Say whether a reference answer is the last call's output, whole or in part."""
    if isinstance(parsed, dict):
        return isinstance(last, dict) and bool(parsed) and set(parsed) == set(last)
    if parsed is not None:
        return isinstance(last, dict) and any(type(item) is type(parsed) and len(item) == len(parsed)
                                              for item in last.values() if isinstance(item, list))  # fmt: skip
    names = re.findall(r'"(\w+)"\s*:', reference)[:6]
    shown = re.findall(r'"(\w+)"\s*:', json.dumps(last))
    return len(names) > 1 and names[0] in last and all(name in shown for name in names)


def _contradicts(parsed: Any, last: Any, known: frozenset[str]) -> bool:
    """Say whether a reference differs from what is returned here where the same names lead, minted values aside."""
    if isinstance(parsed, dict) and isinstance(last, dict):
        return any(_contradicts(item, last[name], known) for name, item in parsed.items() if name in last)
    if isinstance(parsed, list) and isinstance(last, list):
        return len(parsed) != len(last) or any(_contradicts(a, b, known) for a, b in zip(parsed, last, strict=True))
    if isinstance(parsed, dict | list) or isinstance(last, dict | list):
        return False
    if isinstance(parsed, str) and isinstance(last, str):
        return parsed != last and not _MINTED.search(parsed) and parsed in known
    if isinstance(parsed, bool) or isinstance(last, bool):
        return parsed != last
    if isinstance(parsed, int | float) and isinstance(last, int | float):
        return abs(parsed - last) > 0.011
    return False


def _false_numbers(task: str, reference: str, observations: Sequence[Any]) -> list[str]:
    """Return the numbers of a text that no observation, and not the question, holds; small ones may be counts."""
    texts = " ".join(str(item) for observation in observations for item in scalars(observation)) + " " + task
    held = {float(text) for text in re.findall(r"\d+(?:\.\d+)?", texts.replace(",", ""))}
    found = []
    for text in re.findall(r"(?<![\w-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])", reference):
        value = float(text.replace(",", ""))
        if value > 12 and not any(abs(value - other) < 0.011 for other in held):
            found.append(text)
    return found


def replay_questions(
    build: Build, tools: Mapping[str, ForeignTool], prober: Prober, known: frozenset[str]
) -> tuple[ImportedQuestion, ...]:
    """Replay the questions of a world and record the faults found in each."""
    found = []
    for question in build.world.questions:
        replayed = replay_question(build.env_id, question, tools, prober, known)
        for fault in replayed.faults:
            severity = "repaired" if replayed.recomputed_answer else "fatal"
            build.find(
                f"question {question.number}", fault, severity, _SAID[fault],
                reference=replayed.reference_answer[:400], recomputed=replayed.recomputed_answer[:400],
            )  # fmt: skip
        found.append(replayed)
    return tuple(found)


_SAID: dict[str, str] = {
    "unknown_tool": "its chain calls a tool that does not exist or does not work",
    "chain_fails": "its verified chain does not run from the initial files",
    "baked_value": "its chain holds an id or a time that a run minted: now a reference to what this run mints",
    "answer_is_last_output": "its reference answer is the last call's output only: worked out again",
    "answer_cut_short": "its reference answer is cut off: worked out again",
    "answer_contradicted": "its reference answer differs from what the data says: worked out again",
    "answer_bakes_values": "its reference answer holds ids or times of a past run: worked out again",
}
