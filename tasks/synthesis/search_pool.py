"""Which reading calls a shorter solution may use, and what they show in an environment's initial state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from schemas.task import Call
from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Atlas, options, required
from tasks.synthesis.gates import numbers_in
from tasks.synthesis.replay import Bench
from tasks.synthesis.sight import Sight, call_name

QUOTED = re.compile(r'"([^"]+)"')
MOST_OF_TOOL = 24
"""Calls of one tool that are tried beside the one that lists everything."""


class Lookout:
    """Observations of reading calls in an environment's initial state; each call is made once."""

    def __init__(self, bench: Bench, atlas: Atlas) -> None:
        self.bench, self.atlas = bench, atlas
        self._seen: dict[str, Sight] = {}

    def look(self, calls: Sequence[Call]) -> list[Sight]:
        """Return what calls show, each by itself."""
        names = [call_name(call) for call in calls]
        new = {name: call for name, call in zip(names, calls, strict=True) if name not in self._seen}
        if new:
            outcome = self.bench.batch([list(new.values())])[0]
            for (name, call), step in zip(new.items(), outcome.steps, strict=False):
                self._seen[name] = Sight(call, self.atlas.tools[call.tool], step.observation)
        return [self._seen[name] for name in names if name in self._seen]

    def pool(self, prompt: str, tools: Sequence[str], keys: Sequence[Any]) -> list[Sight]:
        """Return what the reading calls show that a solver could think of.

        A tool that lists all rows of its table at once needs no other call; else its filters are tried with what the
        prompt states, and every key in `keys` where a parameter takes it. Only keys that a solver would have seen by
        then count in the search; here all are tried.
        """
        said = QUOTED.findall(prompt)
        numbers = sorted(numbers_in(QUOTED.sub(" ", prompt)))
        readers = [self.atlas.tools[name] for name in sorted(tools) if not self.atlas.tools[name].writes]
        whole = {tool.name: everything(tool) for tool in readers if not required(tool)}
        sights = dict(zip(whole, self.look(list(whole.values())), strict=True))
        calls = []
        for tool in readers:
            sight = sights.get(tool.name)
            if sight is None or (tool.kind != "document" and sight.complete is None):
                calls += list(self._calls(tool, said, numbers, keys))[:MOST_OF_TOOL]
        return [*sights.values(), *self.look(calls)]

    def _calls(self, tool: Tool, said: Sequence[str], numbers: Sequence[float], keys: Sequence[Any]) -> Iterator[Call]:
        needed = required(tool)
        base = everything(tool).arguments
        choices = [
            (field.path, value) for field in tool.inputs for value in self._values(tool, field, said, numbers, keys)
        ]
        groups = next((options(tool, field.path) for field in tool.inputs if field.meaning == "group_by"), ())
        if groups and not needed:
            name = next(field.path for field in tool.inputs if field.meaning == "group_by")
            yield from (Call(tool=tool.name, arguments={**base, name: column}) for column in groups)
        for size in range(max(1, len(needed)), max(2, len(needed)) + 1):
            for picked in combinations(choices, size):
                names = {name for name, _ in picked}
                if len(names) == size and set(needed) <= names:
                    yield Call(tool=tool.name, arguments={**base, **dict(picked)})

    def _values(
        self, tool: Tool, field: ToolField, said: Sequence[str], numbers: Sequence[float], keys: Sequence[Any]
    ) -> list[Any]:
        fixed = options(tool, field.path)
        if field.meaning in ("sort_by", "descending", "limit", "group_by"):
            return []
        if fixed:
            return [option for option in fixed if option in said]
        if tool.kind == "document":
            names = {name for name, _, _ in self.atlas.documents()}
            return [key for key in keys if key in names]
        table, _, column = field.entity.partition(".")
        if table not in self.atlas.tables:
            return []
        if self.atlas.is_key(field.entity):
            known = set(self.atlas.values(table, column))
            return [value for value in dict.fromkeys((*said, *keys)) if value in known]
        if field.meaning == "contains":
            return [text for text in said if any(text in str(v) for v in self.atlas.values(table, column))]
        if field.type == "string":
            known = set(self.atlas.values(table, column))
            return [text for text in said if text in known or field.meaning in ("at_least", "at_most")]
        if field.type in ("integer", "number"):
            return [int(n) if n.is_integer() else n for n in numbers if n.is_integer() or field.type == "number"]
        return []


def everything(tool: Tool) -> Call:
    """Return the call of a tool that shows as much as it can: no filter, the largest page."""
    limit = next((field.path for field in tool.inputs if field.meaning == "limit"), "")
    most = tool.parameters.get("properties", {}).get(limit, {}).get("maximum") if limit else None
    return Call(tool=tool.name, arguments={limit: most} if most else {})
