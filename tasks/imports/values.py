"""Values for foreign parameters, taken from the data: keys, names and other cells, nested ones too."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.database import Column, Table
from tasks.imports.literals import NUMERIC, QUOTED, Row, as_typed, distinct, literal_values, schema_types, spread
from tasks.imports.verbs import sounds_writing
from tasks.imports.words import singular
from tasks.imports.world import ForeignTool, snake

_PREFIX = re.compile(
    r"^(min|max|minimum|maximum|new|start|end|from|to|target|source|since|until|after|before|old|current|updated)_"
)
_AFTER = re.compile(r"_(?:of|by|for|in|from|to|with|at|on|per)_")
QUERIES = ("query", "q", "keyword", "keywords", "search", "search_term", "term", "text", "search_text", "search_query")
LIMITS = ("limit", "max_results", "page_size", "top_k", "top_n", "n", "num_results", "per_page", "count", "max_items")


@dataclass(frozen=True)
class Candidate:
    """A column that may hold what a parameter wants; `score` says how much the names agree."""

    table: Table
    column: Column
    score: float

    @property
    def entity(self) -> str:
        """Return 'table.column'."""
        return f"{self.table.name}.{self.column.name}"


@dataclass
class Data:
    """The rows of a foreign world by table, and what its parameters may be filled with."""

    tables: tuple[Table, ...]
    rows: dict[str, list[Row]]
    start_time: str
    stems: tuple[str, ...] = ()
    """names of files that are no tables, without folder and ending"""
    _known: dict[tuple[str, str], list[Candidate]] = field(default_factory=dict)
    _keys: dict[str, dict[Any, Row]] = field(default_factory=dict)

    def by_key(self, table: Table) -> dict[Any, Row]:
        """Return a table's rows by key."""
        return {row[table.key]: row for row in self.rows[table.name]}

    def by_key_cached(self, table: Table) -> dict[Any, Row]:
        """Return `by_key`, computed once."""
        if table.name not in self._keys:
            self._keys[table.name] = self.by_key(table)
        return self._keys[table.name]

    def table(self, name: str) -> Table:
        """Return the table of that name.

        Raises:
            StopIteration: if there is none.
        """
        return next(table for table in self.tables if table.name == name)

    def subject(self, tool: ForeignTool) -> list[Table]:
        """Return the tables that a tool's name speaks of: its head noun first, what follows "of" or "by" last.

        `list_patient_visits` speaks of visits, then of patients; `list_cases_of_agent` of cases, then of agents.
        """
        text = f"_{tool.name}_"
        head = len(_AFTER.split(text, maxsplit=1)[0])
        found = []
        for table in self.tables:
            noun = singular(table.name)
            last = noun.rpartition("_")[2]
            for weight, word in ((2, noun), (2, table.name), (1, last), (1, f"{last}s")):
                place = text.find(f"_{word}_")
                if place >= 0 and (weight == 2 or len(last) > 3):
                    found.append((place < head, weight, place + len(word), len(word), table))
                    break
        found.sort(key=lambda one: (*(-part for part in one[:4]), one[4].name))
        return [one[4] for one in found] or self._described(tool)

    def _described(self, tool: ForeignTool) -> list[Table]:
        """Return the tables that the first sentence of a tool's description speaks of, where its name does not."""
        said = re.findall(r"[a-z]+", tool.description.partition(".")[0].lower())
        places = {
            table.name: {singular(table.name).rpartition("_")[2], table.name.rpartition("_")[2]}
            for table in self.tables
        }
        return [table for table in self.tables if places[table.name] & set(said)]

    def keys_by_role(self, name: str) -> list[Any]:
        """Return the keys of rows that a parameter's name calls by a category: `approver_id` of approvers."""
        stem = re.sub(r"_(id|by|code|key)$", "", snake(name))
        return [
            row[table.key]
            for table in self.tables
            for column in table.columns
            if column.role in ("category", "status")
            for row in self.rows[table.name]
            if len(stem) > 3 and snake(str(row[column.name])) == stem
        ]

    def candidates(self, tool: ForeignTool, name: str) -> list[Candidate]:
        """Return the columns that a parameter may speak of, the likeliest first."""
        known = self._known.get((tool.name, name))
        if known is not None:
            return known
        schema = tool.parameters["properties"].get(name, {})
        subject = self.subject(tool)
        found = []
        for table in self.tables:
            for column in table.columns:
                score = _score(snake(name), table, column, subject)
                if score > 0 and _fits(schema, column):
                    bonus = 1.5 - 0.5 * subject.index(table) if table in subject[:2] else 0.0
                    found.append(Candidate(table, column, score + bonus))
        found.sort(key=lambda c: (-c.score, c.entity))
        self._known[tool.name, name] = found
        return found

    def samples(self, tool: ForeignTool, name: str, rng: random.Random, most: int = 4) -> list[Any]:
        """Return distinct values for one parameter: its options, cells of its likeliest column, else plausible ones."""
        schema = tool.parameters["properties"].get(name, {})
        return distinct(list(self._values(tool, name, schema, rng, most)))[:most]

    def _values(
        self, tool: ForeignTool, name: str, schema: Mapping[str, Any], rng: random.Random, most: int
    ) -> Iterator[Any]:
        kinds = schema_types(schema)
        if schema.get("enum"):
            yield from schema["enum"]
            return
        if "boolean" in kinds:
            yield from (True, False)
            return
        if "array" in kinds:
            yield from self._arrays(tool, name, schema, rng)
            return
        if "object" in kinds and "string" not in kinds:
            yield from self._objects(tool, name, schema, rng)
            return
        if name.lower() in LIMITS and "integer" in kinds:
            yield from (20, 5)
            return
        for table in self.subject(tool)[:1]:
            if name.lower() in QUERIES and table.label:
                labels = [str(row[table.label]) for row in spread(self.rows[table.name], most)]
                yield from (*labels[:-1], *(label.split()[0] for label in labels[-1:]))
        for candidate in self.candidates(tool, name)[:2]:
            values = distinct(
                row[candidate.column.name]
                for row in self.rows[candidate.table.name]
                if row[candidate.column.name] not in (None, "")
            )
            picked = values[:1] + rng.sample(values[1:], min(most, len(values) - 1)) if values else []
            yield from (as_typed(value, kinds) for value in picked)
        yield from literal_values(name, schema, self.start_time)
        if "string" in kinds and not self.candidates(tool, name)[:1]:
            yield from (as_typed(key, kinds) for key in self.keys_by_role(name))
        if "string" in kinds and name.lower() in ("id", "name", "path", "file", "filename", "page", "page_id"):
            yield from self.stems[:most]
        if "string" in kinds and not self.candidates(tool, name):
            yield from QUOTED.findall(tool.description)
        if "integer" in kinds or "number" in kinds:
            yield from (1, 2, 5)
        else:
            yield f"sample {name.replace('_', ' ')}"

    def _arrays(self, tool: ForeignTool, name: str, schema: Mapping[str, Any], rng: random.Random) -> Iterator[Any]:
        items = schema.get("items") or {}
        inner = ForeignTool(
            tool.name, tool.original, "", {"properties": {singular(name): items, name: items}, "required": []}, ""
        )
        one = "object" if "object" in schema_types(items) else ""
        values = list(self._values(inner, name if one else singular(name), items, rng, 3))
        if values:
            yield values[:2]
            yield values[:1]
        yield []

    def _objects(self, tool: ForeignTool, name: str, schema: Mapping[str, Any], rng: random.Random) -> Iterator[Any]:
        properties = schema.get("properties") or {}
        if properties:
            inner = ForeignTool(tool.name, tool.original, "", {"properties": properties, "required": []}, "")
            for turn in range(2):
                chosen = {}
                for part, sub in properties.items():
                    values = distinct(list(self._values(inner, part, sub, rng, 3)))
                    if values:
                        chosen[part] = values[turn % len(values)]
                yield chosen
            return
        for table in self.subject(tool)[:1]:
            for column in table.columns:
                if column.role in ("measure", "category", "attribute", "label") and self.rows[table.name]:
                    yield {column.name: self.rows[table.name][0][column.name]}
                    break
        yield {}

    def bindings(self, tool: ForeignTool, rng: random.Random, most: int = 6) -> list[dict[str, Any]]:
        """Return argument objects for the required parameters, each bound to one row where the names allow it."""
        required = list(tool.parameters["required"])
        if not required:
            return [{}]
        found: list[dict[str, Any]] = []
        for table in self._anchors(tool, required)[:2]:
            for row in self._telling(table, most):
                found.append({name: self._bound(tool, name, table, row, rng) for name in required})
        if not found:
            samples = {name: self.samples(tool, name, rng, most) or [""] for name in required}
            found = [{n: v[turn % len(v)] for n, v in samples.items()} for turn in range(most)]
        return distinct(found)[: 2 * most]

    def _telling(self, table: Table, most: int) -> list[Row]:
        """Return rows of a table: one of each status, then others spread evenly over it."""
        rows = self.rows[table.name]
        firsts = [
            row
            for column in table.columns
            if column.role == "status" or (column.role == "flag" and column.type == "boolean")
            for row in {row[column.name]: row for row in reversed(rows)}.values()
        ]
        return distinct([*spread(rows, max(2, most // 2)), *firsts, *spread(rows, most)])

    def _anchors(self, tool: ForeignTool, required: Sequence[str]) -> list[Table]:
        """Return the tables from whose rows most of the required parameters can be taken."""
        scores: dict[str, float] = {}
        for name in required:
            best: dict[str, float] = {}
            for candidate in self.candidates(tool, name):
                if candidate.column.role not in ("measure",) or candidate.score >= 6:
                    best[candidate.table.name] = max(best.get(candidate.table.name, 0.0), candidate.score)
            for table, score in best.items():
                scores[table] = scores.get(table, 0.0) + score
        ordered = sorted(scores, key=lambda name: (-scores[name], name))
        return [self.table(name) for name in ordered if self.rows[name]]

    def _bound(self, tool: ForeignTool, name: str, table: Table, row: Row, rng: random.Random) -> Any:
        schema = tool.parameters["properties"].get(name, {})
        if not schema.get("enum"):
            for candidate in self.candidates(tool, name):
                if candidate.table.name == table.name and row[candidate.column.name] not in (None, ""):
                    found = row[candidate.column.name]
                    if candidate.column.name != table.key and self._rewrites(tool, table):
                        found = self._another(table, candidate.column, found, rng)
                    value = as_typed(found, schema_types(schema))
                    return [value] if schema_types(schema) == ("array",) else value
        values = self.samples(tool, name, rng)
        if values and self._rewrites(tool, table):
            held = {str(cell) for cell in row.values()}
            values = [value for value in values if str(value) not in held] or values
        return rng.choice(values) if values else ""

    def _rewrites(self, tool: ForeignTool, table: Table) -> bool:
        """Say whether a tool seems to change a row that it is given the key of: new values must differ from the old."""
        keyed = any(
            c.table.name == table.name and c.column.name == table.key and c.score >= 5
            for name in tool.parameters["required"]
            for c in self.candidates(tool, name)[:1]
        )
        return keyed and sounds_writing(tool.name, tool.declared)

    def _another(self, table: Table, column: Column, value: Any, rng: random.Random) -> Any:
        others = distinct(row[column.name] for row in self.rows[table.name])
        others = [other for other in others if other not in (None, "", value)]
        if others:
            return rng.choice(others)
        return value + 1 if isinstance(value, int | float) else f"{value} (new)"


def _score(name: str, table: Table, column: Column, subject: Sequence[Table]) -> float:
    noun = singular(table.name).lower()
    last = noun.rpartition("_")[2]
    low = snake(column.name)
    key = column.name == table.key
    bare = _PREFIX.sub("", name)
    one = singular(name)
    if key:
        if name in (low, f"{noun}_id", f"{noun}id", noun, f"{noun}_code", f"{noun}_key", f"{noun}_number"):
            generic = low in ("id", "key", "code", "name") and name == low
            return 10.0 if not generic else (9.0 if table in subject[:1] else 1.0)
        if one in (low, f"{noun}_id", noun) or name in (f"{last}_id", last):
            return 8.0
        if name == "id" and table in subject[:1]:
            return 8.0
    if name == low:
        return 6.0
    if bare == low or one == low:
        return 5.0
    if column.references and name == snake(column.references.partition(".")[2]):
        return 4.5
    if name in ("id", "key", "code"):
        return 0.5 if low.endswith(f"_{name}") else 0.0
    if len(low) > 2 and (bare.endswith(f"_{low}") or low.endswith(f"_{bare}") or low.startswith(f"{bare}_")):
        return 3.5
    if len(set(bare.split("_")) & set(low.split("_")) - {"id", "of", "name", "date"}) and len(bare) > 3:
        return 1.5
    return 0.0


def _fits(schema: Mapping[str, Any], column: Column) -> bool:
    kinds = schema_types(schema)
    if "array" in kinds:
        kinds = schema_types(schema.get("items") or {})
    if not kinds or "string" in kinds:
        return column.type != "boolean"
    if "boolean" in kinds:
        return column.type == "boolean"
    if any(kind in NUMERIC for kind in kinds):
        return column.type in NUMERIC
    return False
