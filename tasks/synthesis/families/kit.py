"""What every family of programs works with: links between tables, actions, script lines and phrasings."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemas.database import Action, Column, Table
from schemas.task import AnswerField
from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Atlas, Row, field_for, required
from tasks.synthesis.draft import Condition
from tasks.synthesis.filters import SHOWN, argument_value, is_sayable, row_columns, row_prefix
from tasks.synthesis.phrases import undoubled
from tasks.synthesis.prompt import Speaker, field_name
from tasks.synthesis.rules import allowed, rows_changed

MOST_ROWS = 9
"""The most rows that a program walks over one by one, so that a policy can follow."""


@dataclass(frozen=True)
class Program:
    """One program: the body of `solve`, what the prompt asks for, and the answer as SQL over the snapshot has it."""

    body: tuple[str, ...]
    sentences: tuple[str, ...]
    fields: tuple[AnswerField, ...]
    predicted: dict[str, Any]
    constructs: tuple[str, ...]
    tools: tuple[str, ...]
    choices: frozenset[str] = frozenset()
    refusals: int = 0

    @property
    def script(self) -> str:
        """The module's source text: `def solve(call)`."""
        lines = "\n".join(f"    {line}" for line in self.body)
        return f"def solve(call):\n{lines}\n"


@dataclass(frozen=True)
class Link:
    """A parent table whose rows can be found by label, and a child table that can be listed by parent."""

    parent: Table
    find_parent: Tool
    parent_field: ToolField
    child: Table
    find_children: Tool
    child_field: ToolField
    column: Column


@dataclass(frozen=True)
class Change:
    """A transition or update and the tool that performs it; `key` is the parameter that names the row."""

    action: Action
    tool: Tool
    key: str


class Kit:
    """The means of one environment, one random generator and one register of phrasings."""

    def __init__(self, atlas: Atlas, rng: random.Random, speaker: Speaker, links: Sequence[Link] | None = None) -> None:
        self.atlas, self.rng, self.speaker = atlas, rng, speaker
        self.links = list(links if links is not None else find_links(atlas))

    @cached_property
    def transitions(self) -> list[Change]:
        """Return the transitions that a tool performs."""
        return [c for c in changes(self.atlas) if c.action.kind == "transition"]

    @cached_property
    def updates(self) -> list[Change]:
        """Return the updates that a tool performs."""
        return [c for c in changes(self.atlas) if c.action.kind == "update"]

    def label_finder(self, table: str) -> tuple[Tool, ToolField] | None:
        """Return a tool that finds a table's rows by label, or None."""
        return label_finder(self.atlas, table)

    def owners(self, link: Link) -> list[Row]:
        """Return the parents that a prompt can name and that have children, in random order."""
        label = link.parent.label
        having = {row.get(link.column.name) for row in self.atlas.rows[link.child.name]}
        rows = [
            row
            for row in self.atlas.rows[link.parent.name]
            if row[link.parent.key] in having
            and isinstance(row.get(label), str)
            and is_sayable(row[label])
            and self.atlas.label_of(link.parent.name, row) is not None
        ]
        return self.rng.sample(rows, len(rows))

    def children(self, link: Link, owner: Row) -> list[Row]:
        """Return the children of a parent."""
        key = owner[link.parent.key]
        return [row for row in self.atlas.rows[link.child.name] if row.get(link.column.name) == key]

    def owner_phrase(self, link: Link, owner: Row) -> str:
        """Return the noun phrase of a parent: `the customer "Ada Adler"`."""
        return self.label_phrase(link.parent, owner)

    def label_phrase(self, table: Table, row: Row) -> str:
        """Return the noun phrase of a row that its label names."""
        return self.speaker.say("row_label", noun=table.noun, value=f'"{row[table.label]}"')

    def find_owner(self, link: Link, owner: Row, name: str = "owner") -> str:
        """Return the script line that finds a parent by its label."""
        return self.find_labelled(link.find_parent, link.parent_field, owner, name)

    def find_labelled(self, tool: Tool, field: ToolField, row: Row, name: str) -> str:
        """Return the script line that finds a row of a tool's table by its label."""
        table = self.atlas.tables[tool.table]
        label = row[table.label]
        rows = f"call({tool.name!r}, {field.path}={label!r})[{list_name(self.atlas, tool)!r}]"
        return f"{name} = next(row for row in {rows} if row[{table.label!r}] == {label!r})"

    def list_children(
        self, link: Link, conditions: Sequence[Condition] = (), name: str = "rows", owner: str = "owner"
    ) -> list[str]:
        """Return the script lines that list a parent's children that meet conditions."""
        first = f"{link.child_field.path}={owner}[{link.parent.key!r}]"
        return self.list_rows(link.find_children, conditions, name, first)

    def list_rows(self, tool: Tool, conditions: Sequence[Condition], name: str = "rows", first: str = "") -> list[str]:
        """Return the script lines that list rows: by the tool's own filters where it has them, else in Python."""
        arguments, rest = [first] if first else [], []
        for condition in conditions:
            field = field_for(tool, condition.operator, f"{tool.table}.{condition.column}")
            if field is not None:
                arguments.append(f"{field.path}={argument_value(field, condition.value)!r}")
            else:
                rest.append(condition)
        lines = [f"{name} = call({tool.name!r}, {', '.join(arguments)})[{list_name(self.atlas, tool)!r}]"]
        if rest:
            tests = " and ".join(as_code(condition) for condition in rest)
            lines.append(f"{name} = [row for row in {name} if {tests}]")
        return lines

    def conditions_phrase(self, table: str, conditions: Sequence[Condition], *owned: str) -> str:
        """Return conditions, each once, after phrases that tie rows to a parent, as one phrase."""
        parts = [*owned, *(self.speaker.condition(table, condition) for condition in dict.fromkeys(conditions))]
        return " and ".join(dict.fromkeys(parts))

    def measures(self, tool: Tool, rows: Sequence[Row]) -> list[Column]:
        """Return the numeric columns that a tool shows and that all rows have, in random order."""
        shown = row_columns(tool)
        columns = [
            column
            for column in self.atlas.tables[tool.table].columns
            if column.role == "measure"
            and column.type in ("integer", "number")
            and column.name in shown
            and all(row.get(column.name) is not None for row in rows)
        ]
        return self.rng.sample(columns, len(columns))

    def all_allowed(self, change: Change, rows: Sequence[Row], given: Row | None = None) -> bool:
        """Say whether a change of each of some rows would be carried out, whatever the order.

        Changes whose effects meet in one row count as not allowed: the first may break a rule for the second.
        """
        if not all(allowed(self.atlas, change.action, row, given) for row in rows):
            return False
        reached = [place for row in rows for place in rows_changed(self.atlas, change.action, {**row, **(given or {})})]
        return len(reached) == len(set(reached)) or not change.action.rules

    def field(self, name: str, kind: str, meaning: str) -> AnswerField:
        """Return an answer field; sums get a tolerance of a cent."""
        slack = 0.011 if kind == "number" else 0.0
        return AnswerField(name=field_name(name), type=kind, description=undoubled(meaning), tolerance=slack)  # type: ignore[arg-type]

    def total(self, column: Column, rows: Sequence[Row]) -> int | float:
        """Return the sum of a column, rounded like the script's."""
        value = sum(row[column.name] for row in rows)
        return value if column.type == "integer" else round(value, 2)

    def total_code(self, column: Column, rows: str) -> str:
        """Return the Python expression of `total`."""
        code = f"sum(row[{column.name!r}] for row in {rows})"
        return code if column.type == "integer" else f"round({code}, 2)"


def find_links(atlas: Atlas) -> list[Link]:
    """Return all links of an environment: child rows listed by a parent that is found by its label."""
    links = []
    for table in atlas.database.tables:
        for finder in atlas.finders[table.name]:
            if row_prefix(atlas, finder, 0) is None:
                continue
            for field in finder.inputs:
                column = atlas.column(field.entity)
                if (
                    field.meaning != "equals"
                    or column is None
                    or not column.references
                    or set(required(finder)) - {field.path}
                ):
                    continue
                parent = column.references.partition(".")[0]
                found = label_finder(atlas, parent)
                if found is not None and parent != table.name and field.entity.startswith(f"{table.name}."):
                    links.append(Link(atlas.tables[parent], *found, table, finder, field, column))
    return links


def label_finder(atlas: Atlas, table: str) -> tuple[Tool, ToolField] | None:
    """Return a tool and its parameter that finds a table's rows by label, or None."""
    label = atlas.tables[table].label
    for tool in atlas.finders[table]:
        field = field_for(tool, "equals", f"{table}.{label}") or field_for(tool, "contains", f"{table}.{label}")
        usable = field is not None and not set(required(tool)) - {field.path} and row_prefix(atlas, tool, 0) is not None
        if label and usable and field is not None and label in row_columns(tool):
            return tool, field
    return None


def changes(atlas: Atlas) -> list[Change]:
    """Return the transitions and updates of an environment with the parameter that names the row."""
    found = []
    for action, tool in atlas.action_tools:
        entity = f"{action.table}.{atlas.tables[action.table].key}"
        key = next((f.path for f in tool.inputs if f.entity == entity and f.path in required(tool)), None)
        if action.kind in ("transition", "update") and key is not None:
            found.append(Change(action, tool, key))
    return found


def list_name(atlas: Atlas, tool: Tool) -> str:
    """Return the name of the list of rows in a search's observation."""
    prefix = row_prefix(atlas, tool, 0)
    assert prefix is not None
    return prefix.removesuffix("[0]")


def as_code(condition: Condition, row: str = "row") -> str:
    """Return a condition as a Python expression over a row."""
    operator = {"equals": "==", "at_least": ">=", "at_most": "<="}[condition.operator]
    return f"{row}[{condition.column!r}] {operator} {condition.value!r}"


def dividing(rng: random.Random, column: str, values: Sequence[int | float]) -> Condition | None:
    """Return a condition on a measure that some of the values meet and some do not, None if all are equal.

    The limit is a round number where one fits between the values.
    """
    ordered = sorted(set(values))
    if len(ordered) < 2:
        return None
    place = rng.randrange(1, len(ordered))
    low, high = ordered[place - 1], ordered[place]
    if rng.random() < 0.5:
        whole = math.floor(high)
        return Condition(column, "at_least", whole if whole > low else high)
    whole = math.ceil(low)
    return Condition(column, "at_most", whole if whole < high else low)


def few(rows: Sequence[Row]) -> bool:
    """Say whether a program may walk over the rows one by one."""
    return len(rows) <= MOST_ROWS


def shown(rows: Sequence[Row]) -> bool:
    """Say whether a search shows all the rows at once."""
    return len(rows) <= SHOWN
