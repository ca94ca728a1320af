"""What a reading tool of a model's does, found by calling it with real values: the meaning of its fields and its kind.

A meaning is only given where every probe agrees with SQL's view of the same rows, so that tasks can be written over the
tool as over one made by rules. What cannot be shown stays without meaning, and the tool keeps the kind "read".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from schemas.database import Column, Database, Table
from schemas.tool import Meaning, Tool, ToolField
from tasks.coding.signature import JSON_TYPES
from tasks.coding.snapshot import State
from tasks.coding.trial import at, same

Row = dict[str, Any]
Ask = Callable[[dict[str, Any]], Row]
"""Calls the tool in a fresh episode and returns the observation."""
Test = Callable[[Any, Any], bool]

PROBES = 4
_LIMITS = ("limit", "max_results", "page_size")
_TESTS: tuple[tuple[Meaning, Test], ...] = (
    ("contains", lambda cell, given: isinstance(cell, str) and str(given).lower() in cell.lower()),
    ("equals", lambda cell, given: bool(same(cell, given))),
    ("at_least", lambda cell, given: type(cell) is type(given) and cell >= given),
    ("at_most", lambda cell, given: type(cell) is type(given) and cell <= given),
)


@dataclass(frozen=True)
class _Listing:
    """Where a search lists the rows of a table, and which columns it shows of them."""

    path: str
    table: Table
    columns: tuple[str, ...]


def explain(tool: Tool, database: Database, state: State, ask: Ask, seed: int) -> Tool:
    """Return a reading tool with the kind and the meanings that its answers show; any other tool as it is.

    Args:
        ask: calls the tool in a fresh episode.
    """
    if tool.writes:
        return tool
    tables = [table for table in database.tables if table.name in tool.reads and state[table.name]]
    probe = _Probe(tool, state, ask, random.Random(f"meanings-{seed}-{tool.name}"))
    for table in tables:
        for infer in (probe.get, probe.search, probe.aggregate):
            found = infer(table)
            if found is not None:
                return found
    return tool


class _Probe:
    def __init__(self, tool: Tool, state: State, ask: Ask, rng: random.Random) -> None:
        self.tool, self.state, self.ask, self.rng = tool, state, ask, rng
        self.properties: dict[str, Any] = tool.parameters["properties"]
        self.required: list[str] = tool.parameters["required"]
        self.filters = [name for name in self.properties if name not in _LIMITS]

    def _rows(self, table: Table) -> list[Row]:
        return list(self.state[table.name].values())

    def _values(self, name: str, table: Table, column: Column, most: int = PROBES) -> list[Any]:
        """Return cells of a column that a parameter may take, in its type."""
        schema = self.properties[name]
        if schema["type"] != JSON_TYPES[column.type] and not (schema["type"] == "number" and column.type == "integer"):
            return []
        cells = sorted({row[column.name] for row in self._rows(table) if row[column.name] is not None}, key=repr)
        cells = [cell for cell in cells if cell in schema.get("enum", [cell])]
        picked = self.rng.sample(cells, min(most, len(cells)))
        return [bool(cell) for cell in picked] if column.type == "boolean" else picked

    def _field(self, name: str, table: Table, column: Column, meaning: Meaning) -> ToolField:
        own = f"{table.name}.{column.name}"
        kind = self.properties[name]["type"]
        return ToolField(path=name, type=kind, entity=column.references or own, meaning=meaning, of=own)

    def _cells(self, table: Table, columns: Sequence[str], prefix: str) -> tuple[ToolField, ...]:
        """Return the outputs, with the cells of a row at `prefix` named."""
        found = []
        for output in self.tool.outputs:
            name = output.path.removeprefix(prefix) if output.path.startswith(prefix) else ""
            if name in columns:
                column = table.column(name)
                own = f"{table.name}.{name}"
                cell = {"entity": column.references or own, "meaning": "cell", "of": own}
                output = output.model_copy(update=cell)
            found.append(output)
        return tuple(found)

    # --- one row by its key ---

    def get(self, table: Table) -> Tool | None:
        """Return the tool as one that looks up a row by its key."""
        if len(self.required) != 1 or len(self.properties) != 1:
            return None
        key, (name,) = table.column(table.key), self.required
        shown: set[str] | None = None
        for value in self._values(name, table, key):
            answer = self.ask({name: value})
            row = self.state[table.name][value]
            here = {n for n in row if n in answer and same(answer[n], row[n])}
            shown = here if shown is None else shown & here
        if shown is None or len(shown) < 2 or table.key not in shown:
            return None
        inputs = (self._field(name, table, key, "equals"),)
        outputs = self._cells(table, sorted(shown), "")
        return self.tool.model_copy(update={"kind": "get", "table": table.name, "inputs": inputs, "outputs": outputs})

    # --- rows by filters ---

    def search(self, table: Table) -> Tool | None:
        """Return the tool as one that finds all rows that its filters let through, in the order of their keys."""
        arrays = [o.path for o in self.tool.outputs if o.type == "array" and "[]" not in o.path and "." not in o.path]
        keyed = [path for path in arrays if f"{path}[].{table.key}" in {o.path for o in self.tool.outputs}]
        if len(keyed) != 1 or len(self.required) > 1:
            return None
        listing = _Listing(keyed[0], table, tuple(c.name for c in table.columns))
        found: dict[str, tuple[Column, Meaning]] = {}
        base: dict[str, Any] = {}
        for name in [*self.required, *(n for n in self.filters if n not in self.required)]:
            told = self._filter(listing, name, base, found)
            if told is not None:
                found[name] = told[:2]
                base = base or ({name: told[2]} if name in self.required else {})
            elif name in self.required:
                return None
        if not self.required and not self._agrees(listing, {}, self._rows(table)):
            return None
        inputs = [self._field(n, table, *found[n]) if n in found else self._other(n) for n in self.properties]
        outputs = self._cells(table, self._shown(listing, base), f"{listing.path}[].")
        total = self._total(listing, base, found)
        count = {"meaning": "matches", "of": table.name}
        outputs = tuple(o.model_copy(update=count) if o.path == total else o for o in outputs)
        kind = "search" if found else "list"
        update = {"kind": kind, "table": table.name, "inputs": tuple(inputs), "outputs": outputs}
        return self.tool.model_copy(update=update)

    def _other(self, name: str) -> ToolField:
        kind = self.properties[name]["type"]
        limit = name in _LIMITS and kind == "integer"
        return ToolField(path=name, type=kind, meaning="limit" if limit else "")

    def _agrees(self, listing: _Listing, arguments: Row, wanted: Sequence[Row]) -> bool:
        """Say whether a call lists the wanted rows in the order of their keys, or as many as its limit lets through."""
        key = listing.table.key
        answer = self.ask(arguments)
        rows = answer.get(listing.path)
        if not isinstance(rows, list):
            return False
        keys = [row.get(key) for row in rows if isinstance(row, dict)]
        whole = [row[key] for row in wanted]
        return keys == whole or (
            0 < len(keys) < len(whole) and self._cuts() >= len(keys) and keys == whole[: len(keys)]
        )

    def _cuts(self) -> int:
        """Return the most rows that the tool lists; 0 if nothing limits them."""
        limits = [self.properties[name] for name in _LIMITS if name in self.properties]
        return max((schema.get("default", schema.get("maximum", 0)) for schema in limits), default=0)

    def _filter(self, listing: _Listing, name: str, base: Row, found: dict[str, tuple[Column, Meaning]]
                ) -> tuple[Column, Meaning, Any] | None:  # fmt: skip
        """Return (column, meaning, a value) of a parameter that explains all probes, and narrows some of them down."""
        rows = self._kept(listing.table, base, found)
        named = [c for c in listing.table.columns if c.name in name or name in c.name]
        for column in [*named, *(c for c in listing.table.columns if c not in named)]:
            cells = self._values(name, listing.table, column)
            for meaning, test in _tests(column):
                given = [_part(cell) for cell in cells] if meaning == "contains" else cells
                kept = [[r for r in rows if r[column.name] is not None and test(r[column.name], v)] for v in given]
                telling = any(0 < len(some) < len(rows) for some in kept)
                if telling and all(
                    self._agrees(listing, {**base, name: value}, some) for value, some in zip(given, kept, strict=True)
                ):
                    return column, meaning, given[0]
        return None

    def _kept(self, table: Table, arguments: Row, found: dict[str, tuple[Column, Meaning]]) -> list[Row]:
        tests = dict(_TESTS)
        rows = self._rows(table)
        for name, value in arguments.items():
            column, meaning = found[name]
            rows = [row for row in rows if row[column.name] is not None and tests[meaning](row[column.name], value)]
        return rows

    def _shown(self, listing: _Listing, base: Row) -> list[str]:
        """Return the columns that every listed row shows as they are."""
        rows = [row for row in self.ask(base)[listing.path] if isinstance(row, dict)]
        stored = [self.state[listing.table.name][row[listing.table.key]] for row in rows]
        return [
            name for name in listing.columns
            if rows and all(name in row and same(row[name], own[name]) for row, own in zip(rows, stored, strict=True))
        ]  # fmt: skip

    def _total(self, listing: _Listing, base: Row, found: dict[str, tuple[Column, Meaning]]) -> str:
        """Return the path of the number of matches, '' if none is shown to be one."""
        probes = [base]
        for name, (column, _) in found.items():
            probes += [{**base, name: value} for value in self._values(name, listing.table, column, 2)]
        counts = [len(self._kept(listing.table, probe, found)) for probe in probes]
        whole = [o.path for o in self.tool.outputs if o.type == "integer" and "[]" not in o.path]
        if len(set(counts)) < 2:
            return ""
        answers = [self.ask(probe) for probe in probes]
        return next((p for p in whole if all(_at(a, p) == n for a, n in zip(answers, counts, strict=True))), "")

    # --- statistics ---

    def aggregate(self, table: Table) -> Tool | None:
        """Return the tool as one whose number is a statistic over the rows that its filters let through."""
        numbers = [o.path for o in self.tool.outputs if o.type in ("integer", "number") and "[]" not in o.path]
        if not self.filters or not numbers or len(self.required) > 1:
            return None
        for first in self.required or self.filters:
            for column in table.columns:
                figure = self._figure(table, first, column, numbers)
                if figure is not None:
                    return self._aggregate(table, {first: (column, "equals")}, *figure)
        return None

    def _figure(self, table: Table, name: str, column: Column, numbers: Sequence[str]
                ) -> tuple[str, Meaning, str] | None:  # fmt: skip
        """Return (path, statistic, column) of the number that is a statistic over the rows with the given cell."""
        values = self._values(name, table, column)
        if len(values) < 2:
            return None
        answers = [self.ask({name: value}) for value in values]
        groups = [[row for row in self._rows(table) if same(row[column.name], value)] for value in values]
        for path in numbers:
            for meaning, of in _statistics(table):
                wanted = [_statistic(meaning, of, rows) for rows in groups]
                found = [_at(answer, path) for answer in answers]
                if len(set(wanted)) > 1 and None not in wanted and all(map(same, found, wanted)):
                    return path, meaning, of
        return None

    def _narrows(self, table: Table, name: str, base: Row, found: dict[str, tuple[Column, Meaning]],
                 figure: tuple[str, Meaning, str]) -> tuple[Column, Meaning] | None:  # fmt: skip
        """Return what a further filter of a statistic compares, if every probe of it agrees and some tells."""
        path, statistic, of = figure
        rows = self._kept(table, base, found)
        for column in table.columns:
            cells = self._values(name, table, column)
            for meaning, test in _tests(column):
                given = [_part(cell) for cell in cells] if meaning == "contains" else cells
                kept = [[r for r in rows if r[column.name] is not None and test(r[column.name], v)] for v in given]
                wanted = [_statistic(statistic, of, some) for some in kept]
                pairs = [(value, one) for value, one in zip(given, wanted, strict=True) if one is not None]
                if not any(one != _statistic(statistic, of, rows) for _, one in pairs):
                    continue
                if all(same(_at(self.ask({**base, name: value}), path), one) for value, one in pairs):
                    return column, meaning
        return None

    def _aggregate(self, table: Table, found: dict[str, tuple[Column, Meaning]], path: str, meaning: Meaning, of: str
                   ) -> Tool:  # fmt: skip
        for name in self.filters:
            base = {n: value for n in self.required for value in self._values(n, table, found[n][0], 1)}
            told = self._narrows(table, name, base, found, (path, meaning, of)) if name not in found else None
            if told is not None:
                found[name] = told
        of = f"{table.name}.{of}" if of else table.name
        outputs = tuple(
            output.model_copy(update={"meaning": meaning, "of": of}) if output.path == path else output
            for output in self.tool.outputs
        )
        inputs = tuple(self._field(n, table, *found[n]) if n in found else self._other(n) for n in self.properties)
        update = {"kind": "aggregate", "table": table.name, "inputs": inputs, "outputs": outputs}
        return self.tool.model_copy(update=update)


def _part(text: str) -> str:
    """Return the beginning of a text, so that what only equals the whole is told apart."""
    return text[: max(3, len(text) // 2)].strip()


def _tests(column: Column) -> Iterator[tuple[Meaning, Test]]:
    """Yield what a filter over a column may mean."""
    for meaning, test in _TESTS:
        words = column.type == "string" and not column.references
        ordered = column.type in ("integer", "number", "date") and not column.references
        if meaning == "equals" or (words if meaning == "contains" else ordered):
            yield meaning, test


def _at(answer: Row, path: str) -> Any:
    try:
        return at(answer, path)
    except (KeyError, IndexError, TypeError):
        return None


def _statistics(table: Table) -> Iterator[tuple[Meaning, str]]:
    yield "count", ""
    for column in table.columns:
        if column.type in ("integer", "number") and not column.references and column.name != table.key:
            for meaning in ("sum", "average", "minimum", "maximum"):
                yield meaning, column.name  # type: ignore[misc]


def _statistic(meaning: Meaning, column: str, rows: Sequence[Row]) -> Any:
    if meaning == "count":
        return len(rows)
    values = [row[column] for row in rows if row[column] is not None]
    if not values:
        return None
    how: dict[str, Callable[[list[Any]], Any]] = {"sum": sum, "average": fmean, "minimum": min, "maximum": max}
    return round(how[meaning](values), 6)
