"""Judge foreign tools by their probes: the faults that others' releases were seen to have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.imports import Fault
from schemas.task import Change
from tasks.imports.literals import schema_types
from tasks.imports.observe import lists, objects
from tasks.imports.probe import Probe, Prober, ToolProbes
from tasks.imports.values import Data
from tasks.imports.verbs import LOG_NAMES, sounds_reading, sounds_writing, verb

_MISSING = re.compile(r"no module named '?([\w.]+)", re.IGNORECASE)
_NOT_FOUND = re.compile(r"not.?found|no.?such|unknown|does.?n.?t exist", re.IGNORECASE)
_CLAIMS = re.compile(
    r"success|successful|\b(created|added|inserted|updated|changed|modified|deleted|removed|cancell?ed|booked|reserved|"
    r"sent|posted|submitted|assigned|moved|approved|rejected|closed|started|completed|registered|scheduled|saved|"
    r"stored|published|archived|transferred|confirmed|recorded|applied|paid|refunded|ok|done)\b",
    re.IGNORECASE,
)
_VAGUE = frozenset(("execute", "process", "apply", "make", "open", "draw", "log", "put", "start", "import", "place"))
_ID = re.compile(r"(^|_)id$|Id$|_(code|number|key)$")
ABSENT = {"string": "zz-absent-0000", "integer": 987654321, "number": 987654321}


@dataclass(frozen=True)
class Judgement:
    """A fault of a tool; a fatal one leaves the tool out."""

    fault: Fault
    severity: str
    detail: str
    evidence: dict[str, Any] = field(default_factory=dict)


def scalars(value: Any) -> Iterator[Any]:
    """Yield all scalars inside of a JSON value, names of fields too."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from scalars(item)
    else:
        yield value


def log_files(
    probes: Mapping[str, ToolProbes], changed: Mapping[str, set[str]], core: set[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return (logs, written data), each as file -> the reading tools that write it.

    What a tool writes that should only read is a log if its name says so, if most tools write it, or if it holds no
    data that tools are about. Other files are data, and the tool counts as a writing one.

    Args:
        changed: tool -> files that its probes changed.
        core: files with records that tools are about.
    """
    logs: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    active = [name for name, found in probes.items() if found.done]
    for file in sorted({file for files in changed.values() for file in files}):
        writers = [name for name in active if file in changed[name]]
        readers = [name for name in writers if sounds_reading(name, probes[name].tool.declared)]
        beside = any(len(changed[name]) > 1 for name in writers)
        named = bool(LOG_NAMES.search(file))
        common = len(writers) > 2 and len(writers) >= 0.6 * len(active)
        aside = file not in core and len(readers) == len(writers)
        if (named and (readers or beside)) or (readers and (common or aside)):
            logs[file] = sorted(readers)
        elif readers:
            written[file] = sorted(readers)
    return logs, written


def judge(
    data: Data, probes: ToolProbes, prober: Prober, broken: Prober, known: frozenset[str], shapes: Mapping[str, str],
    changes: Mapping[int, tuple[Change, ...]],
) -> list[Judgement]:  # fmt: skip
    """Return the faults of one tool, fatal ones first.

    Args:
        broken: probes the same tools over files that cannot be read.
        known: every text that stands in the files.
        shapes: table -> "list", "map" ...
        changes: id of a probe -> its changes, logs aside.
    """
    found = [*_failing(data, probes, shapes)]
    if not found:
        found = [
            *_empty(data, probes, shapes),
            *_swallowing(probes, broken),
            *_without_effect(probes, changes),
            *_inventing(data, probes, prober, known, changes),
        ]
    return sorted(found, key=lambda one: one.severity != "fatal")


def _failing(data: Data, probes: ToolProbes, shapes: Mapping[str, str]) -> Iterator[Judgement]:
    if not probes.all or probes.done:
        return
    first = probes.all[0]
    error = first.observation.get("error") if isinstance(first.observation.get("error"), dict) else {}
    message = f"{first.refused}: {error.get('message', '')}"[:300]
    shown = {"arguments": first.arguments, "error": message, "probes": len(probes.all)}
    missing = _MISSING.search(message)
    if missing:
        yield Judgement("missing_module", "fatal", f"it needs the module {missing[1]}", shown)
    elif all(_NOT_FOUND.search(f"{p.refused} {p.observation}") for p in probes.all) and _bound_keys(data, probes):
        tables = _bound_keys(data, probes)
        mapped = [name for name in tables if shapes.get(name) in ("map", "object")]
        fault: Fault = "list_over_map" if mapped else "never_finds"
        why = f"{mapped[0]} is an object by id, not a list" if mapped else "its keys are real ones"
        yield Judgement(fault, "fatal", f"it finds none of {len(probes.all)} rows that exist: {why}", shown)
    else:
        yield Judgement("always_fails", "fatal", f"no call went; the first: {message}", shown)


def _bound_keys(data: Data, probes: ToolProbes) -> list[str]:
    """Return the tables whose real keys the probes were given."""
    found = []
    for name in probes.tool.parameters["required"]:
        for candidate in data.candidates(probes.tool, name)[:1]:
            if candidate.column.name == candidate.table.key:
                found.append(candidate.table.name)
    return found


def _empty(data: Data, probes: ToolProbes, shapes: Mapping[str, str]) -> Iterator[Judgement]:
    """A reader whose every list is empty although the data has rows."""
    if not sounds_reading(probes.tool.name, probes.tool.declared):
        return
    found = [list(lists(probe.observation)) for probe in probes.done]
    if not all(found) or any(items for places in found for _, items in places):
        return
    if any(len([v for v in scalars(probe.observation) if isinstance(v, str)]) > 8 for probe in probes.done):
        return
    tables = [table.name for table in data.subject(probes.tool) if data.rows[table.name]]
    if not tables or len(probes.done) < 2:
        return
    shown = {"probes": len(probes.done), "table": tables[0], "rows": len(data.rows[tables[0]])}
    mapped = shapes.get(tables[0]) in ("map", "object")
    fault: Fault = "list_over_map" if mapped else "always_empty"
    why = "an object by id, which it reads as a list" if mapped else f"{shown['rows']} rows"
    yield Judgement(fault, "fatal", f"every list that it returns is empty, though {tables[0]} has {why}", shown)


def _swallowing(probes: ToolProbes, broken: Prober) -> Iterator[Judgement]:
    """A tool that answers as if all were well when its files cannot be read."""
    for probe in probes.done[:1]:
        again = broken.call(probes.tool.name, probe.arguments)
        empty = [items for _, items in lists(again.observation)]
        if not again.refused and again.observation != probe.observation and empty and not any(empty):
            shown = {"arguments": probe.arguments, "observation": _short(again.observation)}
            yield Judgement("swallows_errors", "note", "with unreadable files it returns an empty list", shown)


def _without_effect(probes: ToolProbes, changes: Mapping[int, tuple[Change, ...]]) -> Iterator[Judgement]:
    if not sounds_writing(probes.tool.name, probes.tool.declared) or not probes.done:
        return
    if any(changes[id(probe)] for probe in probes.done):
        return
    probe = probes.done[0]
    claim = _CLAIMS.search(str(probe.observation))
    if claim is None or (verb(probes.tool.name) in _VAGUE and "success" not in claim[0].lower()):
        return
    shown = {"arguments": probe.arguments, "observation": _short(probe.observation), "probes": len(probes.done)}
    text = f"it says that it did so in {len(probes.done)} calls and changed nothing"
    yield Judgement("claims_without_effect", "fatal", text, shown)


def _inventing(
    data: Data, probes: ToolProbes, prober: Prober, known: frozenset[str], changes: Mapping[int, tuple[Change, ...]]
) -> Iterator[Judgement]:
    """A tool that returns records which the data does not hold."""
    if any(changes[id(probe)] for probe in probes.done):
        return
    for probe in probes.done:
        for path, item in objects(probe.observation):
            texts = [v for v in item.values() if isinstance(v, str) and len(v) > 2]
            given = set(map(str, scalars(probe.arguments)))
            named = any(_ID.search(name) and isinstance(value, str) for name, value in item.items())
            listed = path.endswith("[]") and len(item) >= 3 and len(texts) >= 2 and named
            if listed and not any(text in known or text in given for text in texts):
                shown = {"arguments": probe.arguments, "record": _short(item)}
                yield Judgement("invents_rows", "fatal", "it returns records that are in no file", shown)
                return
    keys = [
        name
        for name in probes.tool.parameters["required"]
        if any(c.column.name == c.table.key for c in data.candidates(probes.tool, name)[:1])
    ]
    if not keys or not sounds_reading(probes.tool.name, probes.tool.declared) or not probes.done:
        return
    kinds = schema_types(probes.tool.parameters["properties"][keys[0]])
    absent = next((ABSENT[kind] for kind in kinds if kind in ABSENT), ABSENT["string"])
    probe = prober.call(probes.tool.name, {**probes.done[0].arguments, keys[0]: absent})
    for _, item in objects(probe.observation):
        told = [v for v in item.values() if v not in (None, "", absent) and not isinstance(v, dict | list | bool)]
        silent = probe.refused or _NOT_FOUND.search(str(item)) or not any(told)
        if not silent and absent in item.values() and len(told) >= 2:
            shown = {"arguments": probe.arguments, "record": _short(item)}
            yield Judgement("invents_rows", "fatal", "asked for a key that does not exist, it makes up a record", shown)
            return


def _short(value: Any) -> Any:
    text = str(value)
    return value if len(text) <= 600 else text[:600] + " ..."


def uncovered(probes: ToolProbes) -> list[str]:
    """Return the optional parameters with which no call went."""
    return sorted(name for name, tried in probes.single.items() if tried and all(p.refused for p in tried))


def same_outcome(first: Probe, second: Probe) -> bool:
    """Say whether two runs of one call agree in all that they show."""
    return (
        first.observation == second.observation and first.changes == second.changes and first.failure == second.failure
    )
