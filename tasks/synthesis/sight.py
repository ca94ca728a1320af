"""What one observation shows: its values and its rows, indexed so that facts can be looked up in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.base import canonical_json
from schemas.task import Call
from schemas.tool import Tool

Cell = tuple[str, Any]
SLACK = 0.006
"""How far a statistic computed from rows may be from the one that a tool rounds."""


@dataclass(frozen=True)
class Fact:
    """Cells that stand in one row of an observation; the first names the row, unless nothing does."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Statistic:
    """A number about the rows of a table that the arguments `filters` (canonical JSON of their values) leave."""

    table: str
    value: float
    filters: frozenset[str]


@dataclass(frozen=True)
class Listing:
    """All rows of a table that `filters` leave, or as many as one certain call (its name) shows in its order."""

    table: str
    filters: frozenset[str]
    call: str


Need = Fact | Statistic | Listing
"""What an episode must have seen."""


class Sight:
    """One call's observation in some state of an environment."""

    def __init__(self, call: Call, tool: Tool, observation: dict[str, Any]) -> None:
        self.call, self.tool, self.observation = call, tool, observation

    @cached_property
    def name(self) -> str:
        """The call as one text."""
        return call_name(self.call)

    @cached_property
    def refused(self) -> bool:
        """Whether the call was refused."""
        return "error" in self.observation

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The objects of the observation that hold scalars, the outermost among them."""
        return list(_objects(self.observation))

    @cached_property
    def scalars(self) -> frozenset[Any]:
        """All texts and numbers that it shows."""
        return frozenset(v for row in self.rows for v in row.values() if isinstance(v, (str, int, float)))

    @cached_property
    def texts(self) -> list[str]:
        """The documents that it shows, in lower case: texts of several lines."""
        return [value.lower() for value in self.scalars if isinstance(value, str) and "\n" in value]

    @cached_property
    def by_cell(self) -> dict[Cell, list[dict[str, Any]]]:
        """Its rows by each cell."""
        found: dict[Cell, list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows:
            for name, value in row.items():
                if isinstance(value, (str, int, float)):
                    found[name, value].append(row)
        return found

    @cached_property
    def filters(self) -> frozenset[str]:
        """The values of its filtering arguments as canonical JSON."""
        return filters_of(self.call, self.tool)

    @cached_property
    def complete(self) -> list[dict[str, Any]] | None:
        """The listed rows if they are all rows that its filters leave, else None."""
        listed = next((value for value in self.observation.values() if isinstance(value, list)), None)
        if listed is None or self.observation.get("total") != len(listed):
            return None
        return [row for row in listed if isinstance(row, dict)]

    def tells(self, value: Any) -> bool:
        """Say whether a value can be read off it: as a cell, or inside a document."""
        if value in self.scalars:
            return True
        if not self.texts:
            return False
        pattern = re.compile(rf"(?<!\w){re.escape(str(value).lower())}(?!\w)")
        return any(pattern.search(text) for text in self.texts)

    def shows(self, need: Need) -> bool:
        """Say whether a fact, a statistic or a listing can be read off it."""
        if isinstance(need, Statistic):
            return self._gives(need)
        if isinstance(need, Listing):
            whole = self.complete is not None and self.tool.table == need.table and self.filters <= need.filters
            return whole or self.name == need.call
        rows = self.by_cell.get(need.cells[0], ())
        return any(all(row.get(name, self) == value for name, value in need.cells) for row in rows)

    def _gives(self, need: Statistic) -> bool:
        if self.tool.table != need.table or self.refused:
            return False
        if self.complete is not None and self.filters <= need.filters:
            return True  # all rows are there, to be counted or added up by hand
        if self.filters == need.filters:
            return any(_near(self.observation.get(name), need.value) for name in ("value", "total"))
        rest = need.filters - self.filters
        if self.filters <= need.filters and len(rest) == 1:
            for row in self.observation.get("groups", ()):
                if _near(row.get("value"), need.value) and rest <= {canonical_json(v) for v in row.values()}:
                    return True
        return False


def call_name(call: Call) -> str:
    """Return a call as one text, the same for equal calls."""
    return canonical_json([call.tool, call.arguments])


def filters_of(call: Call, tool: Tool) -> frozenset[str]:
    """Return the values of a call's filtering arguments as canonical JSON; paging and sorting are no filters."""
    controls = {f.path for f in tool.inputs if f.meaning in ("sort_by", "descending", "limit", "group_by")}
    return frozenset(canonical_json(v) for name, v in call.arguments.items() if name not in controls and v is not None)


def _near(found: Any, value: float) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found - value) <= SLACK


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)
