"""Parameters that an environment gives itself: the caller's own credential, and that a call is meant as it stands.

A release's tools take an API key in every call, or refuse until `confirm` is true. Neither is part of a task: an agent
is one caller, and what it calls it means. So both are filled in wherever the tool runs, and no agent sees them.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.imports.literals import Row, distinct, schema_types
from tasks.imports.probe import Prober
from tasks.imports.values import Data
from tasks.imports.world import ForeignTool, snake

_CREDENTIAL = re.compile(
    r"(x_)?(api_?key|access_?(key|token)|auth(_?(key|token))?|(user_)?token|session_?(id|key|token)|bearer(_token)?|"
    r"client_?(key|secret)|secret(_?key)?|credentials?)"
)
_CONFIRM = re.compile(r"(user_)?(confirm(ed|ation)?|acknowledged?|consent(ed)?|agreed?|accept(ed)?(_terms)?|i_agree)")
_ALLOWANCE = re.compile(r"quota|remaining|credits?|balance|allowance|limit")
_SHARE, _LEAST = 0.5, 3
"""What so many of the tools require is the caller's, not the call's."""
_MOST_VALUES, _MOST_TRIES = 12, 6


def fixed_parameters(tools: Sequence[ForeignTool], data: Data, prober: Prober) -> dict[str, dict[str, Any]]:
    """Return tool -> parameter -> the value that the environment gives it in every call."""
    found: dict[str, dict[str, Any]] = {}
    counts = Counter(name for tool in tools for name in tool.parameters["required"] if _means(_CREDENTIAL, name))
    for name, count in sorted(counts.items()):
        users = [tool for tool in tools if name in tool.parameters["required"]]
        if count < _LEAST or count < _SHARE * len(tools):
            continue
        value = _credential(users, name, data, prober)
        for tool in users if value is not None else ():
            found.setdefault(tool.name, {})[name] = value
    for tool in tools:
        for name in tool.parameters["required"]:
            kinds = schema_types(tool.parameters["properties"].get(name, {}))
            if kinds == ("boolean",) and _means(_CONFIRM, name) and _must_be(tool, name, data, prober, found):
                found.setdefault(tool.name, {})[name] = True
    return found


def without(tool: ForeignTool, fixed: Mapping[str, Any]) -> ForeignTool:
    """Return a tool without the parameters that the environment gives."""
    if not fixed:
        return tool
    schema = tool.parameters
    left = {
        **schema,
        "properties": {name: value for name, value in schema["properties"].items() if name not in fixed},
        "required": [name for name in schema["required"] if name not in fixed],
    }
    return replace(tool, parameters=left, stated=schema)


def _means(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.fullmatch(snake(name)) is not None


def _credential(users: Sequence[ForeignTool], name: str, data: Data, prober: Prober) -> Any:
    """Return the value of the data with which most tools go, the one with most allowance among equals; None if none."""
    places = [c for c in data.candidates(users[0], name) if c.score >= 3]
    if not places:
        return None
    column = places[0].column.name
    rows = sorted(data.rows[places[0].table.name], key=_allowance, reverse=True)
    values = distinct(row[column] for row in rows if row[column] not in (None, ""))[:_MOST_VALUES]
    went = {value: sum(_goes(tool, {name: value}, data, prober) for tool in users[:_LEAST]) for value in values}
    best = max(values, key=lambda value: went[value], default=None)  # the first of equals has the largest allowance
    return best if best is not None and went[best] else None


def _allowance(row: Row) -> float:
    cells = (value for name, value in row.items() if _ALLOWANCE.search(snake(name)))
    return sum(value for value in cells if isinstance(value, int | float) and not isinstance(value, bool))


def _goes(tool: ForeignTool, given: Mapping[str, Any], data: Data, prober: Prober) -> bool:
    """Say whether any of a few calls with these values goes."""
    rng = random.Random(f"{tool.name}/{sorted(given)}")
    tries = data.bindings(without(tool, given), rng, _MOST_TRIES)
    return any(not prober.call(tool.name, {**arguments, **given}).refused for arguments in tries[: 2 * _MOST_TRIES])


def _must_be(
    tool: ForeignTool, name: str, data: Data, prober: Prober, known: Mapping[str, Mapping[str, Any]]
) -> bool:  # fmt: skip
    """Say whether a tool's calls go with true and with nothing else."""
    given = known.get(tool.name, {})
    return _goes(tool, {**given, name: True}, data, prober) and not _goes(tool, {**given, name: False}, data, prober)
