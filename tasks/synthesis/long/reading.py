"""Script lines that read what a playbook needs, in as few calls as the tools allow."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schemas.database import Table
from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Atlas, Row, field_for, required
from tasks.synthesis.families.kit import Kit, Link, label_finder, list_name
from tasks.synthesis.filters import SHOWN, argument_value, row_columns, row_prefix
from tasks.synthesis.long.playbook import Named, Test

OPERATORS = {"equals": "==", "differs": "!=", "at_least": ">=", "at_most": "<=", "in": "in", "above": ">", "below": "<"}
_ORDERED = {"at_least": operator.ge, "at_most": operator.le, "above": operator.gt, "below": operator.lt}


@dataclass(frozen=True)
class Reading:
    """Lines of a script, how many calls they make, and the tools that they use."""

    lines: tuple[str, ...]
    calls: int
    tools: frozenset[str]


def page(tool: Tool) -> tuple[ToolField, int] | None:
    """Return the parameter of a list that says how many rows it shows, and the most that it takes; None if none."""
    field = field_for(tool, "limit")
    if field is None:
        return None
    return field, int(tool.parameters["properties"][field.path].get("maximum", SHOWN))


def party_link(kit: Kit, table: str, reference: str) -> Link | None:
    """Return the link whose tool lists a table's rows of one party, and only so; None if there is none."""
    for link in kit.links:
        if link.child.name == table and link.column.name == reference and required(link.find_children):
            return link
    return None


def free_finders(atlas: Atlas, table: str) -> list[Tool]:
    """Return the tools that list a table's rows without being told whose."""
    return [t for t in atlas.finders[table] if not required(t) and row_prefix(atlas, t, 0) is not None]


def shows_all(atlas: Atlas, tool: Tool, rows: Sequence[Row]) -> str | None:
    """Return the argument that makes a list show so many rows: "" if none is needed, None if they are too many."""
    if len(rows) <= SHOWN:
        return ""
    found = page(tool)
    return f"{found[0].path}={found[1]}" if found is not None and len(rows) <= found[1] else None


def literal_code(value: Any) -> str:
    """Return a stated value as Python source."""
    return repr(value)


class Reader:
    """Writes the reading part of one script; `told` gives the variables that hold what the user told."""

    def __init__(self, kit: Kit, told: Mapping[str, str]) -> None:
        self.kit, self.atlas, self.told = kit, kit.atlas, told

    def value(self, value: Any, topic: str) -> str:
        """Return the expression of a stated or told value."""
        return self.told[topic] if topic else literal_code(value)

    def rows(self, table: Table, tests: Sequence[Test]) -> Reading | None:
        """Return the lines that leave in `rows` the records that meet the tests on their own columns; None if no
        tool shows them all with the columns that the tests read."""
        own = [test for test in tests if all("." not in path for path in test.paths)]
        columns = {path for test in own for path in test.paths}
        best: Reading | None = None
        for tool in free_finders(self.atlas, table.name):
            if columns <= row_columns(tool):
                for found in self._ways(table, tool, own):
                    if best is None or found.calls < best.calls:
                        best = found
        return best

    def by_party(self, table: Table, reference: str, tests: Sequence[Test], parties: str = "") -> Reading | None:
        """Return the lines that list records party by party, and leave in `rows` those that meet the tests on their
        own columns and on the party; None if no tool does.

        `parties` is an expression of the parties' keys; "" reads all parties, of whom the tests on the party choose.
        """
        own = [test for test in tests if all("." not in path for path in test.paths)]
        link = party_link(self.kit, table.name, reference)
        columns = {path for test in own for path in test.paths} | {reference}
        if link is None or not columns <= row_columns(link.find_children):
            return None
        groups: dict[Any, list[Row]] = {}
        for row in self.atlas.rows[table.name]:
            groups.setdefault(row.get(reference), []).append(row)
        sizes = [shows_all(self.atlas, link.find_children, group) for group in groups.values()]
        if None in sizes:
            return None
        lines: list[str] = []
        calls, tools = len(parties.split("], named_")) if parties else 0, {link.find_children.name}
        if not parties:
            found = self._chosen_parties(link, [test for test in tests if test.path.startswith(f"{reference}.")])
            if found is None:
                return None
            lines, calls, tools = list(found.lines), found.calls, tools | found.tools
            parties = f"[party[{link.parent.key!r}] for party in parties]"
        size = max((size for size in sizes if size), key=len, default="")
        given = f"{link.child_field.path}=party" + (f", {size}" if size else "")
        listed = f"call({link.find_children.name!r}, {given})[{list_name(self.atlas, link.find_children)!r}]"
        lines.append(f"rows = [row for party in {parties} for row in {listed}]")
        return Reading((*lines, *self._narrowed(own)), calls, frozenset(tools))

    def _chosen_parties(self, link: Link, tests: Sequence[Test]) -> Reading | None:
        """Return the lines that leave in `parties` the parties that meet tests, seen from a record."""
        columns = {test.path.partition(".")[2] for test in tests}
        for tool in free_finders(self.atlas, link.parent.name):
            size = shows_all(self.atlas, tool, self.atlas.rows[link.parent.name])
            if size is not None and columns | {link.parent.key} <= row_columns(tool):
                given = f", {size}" if size else ""
                bare = [replace(test, path=test.path.partition(".")[2]) for test in tests]
                shown = f"call({tool.name!r}{given})[{list_name(self.atlas, tool)!r}]"
                lines = [f"parties = [row for row in {shown} if {self.tests(bare)}]"]
                held = [
                    row
                    for row in self.atlas.rows[link.parent.name]
                    if all(meets(test.operator, row.get(test.path), test.value) for test in bare)
                ]
                return Reading(tuple(lines), 1 + len(held), frozenset({tool.name}))
        return None

    def _ways(self, table: Table, tool: Tool, tests: Sequence[Test]) -> list[Reading]:
        """Return the ways to list with one tool: in one call, or one for each of several states."""
        arguments, held, rest = [], list(self.atlas.rows[table.name]), []
        states: Test | None = None
        for test in tests:
            field = None if test.against else field_for(tool, test.operator, f"{table.name}.{test.path}")
            column = table.column(test.path)
            if field is not None and not (column.type == "datetime" and test.operator == "at_most"):
                arguments.append(f"{field.path}={self.value(argument_value(field, test.value), test.topic)}")
                held = [row for row in held if meets(test.operator, row.get(test.path), test.value)]
            elif test.operator == "in" and states is None:
                states, rest = test, [*rest, test]
            else:
                rest.append(test)
        found = []
        size = shows_all(self.atlas, tool, held)
        if size is not None:
            found.append(self._listed(tool, [*arguments, size], rest))
        equals = field_for(tool, "equals", f"{table.name}.{states.path}") if states is not None else None
        if states is not None and equals is not None:
            parts = [[row for row in held if row.get(states.path) == state] for state in states.value]
            sizes = [shows_all(self.atlas, tool, part) for part in parts]
            if None not in sizes:
                others = [test for test in rest if test is not states]
                size = max((s for s in sizes if s is not None), key=len)
                given = ", ".join(a for a in (*arguments, f"{equals.path}=state", size) if a)
                name = list_name(self.atlas, tool)
                lines = [
                    f"rows = [row for state in {states.value!r} for row in call({tool.name!r}, {given})[{name!r}]]",
                    *self._narrowed(others),
                ]
                found.append(Reading(tuple(lines), len(states.value), frozenset({tool.name})))
        return found

    def _listed(self, tool: Tool, arguments: Sequence[str], rest: Sequence[Test]) -> Reading:
        given = "".join(f", {argument}" for argument in arguments if argument)
        lines = [f"rows = call({tool.name!r}{given})[{list_name(self.atlas, tool)!r}]", *self._narrowed(rest)]
        return Reading(tuple(lines), 1, frozenset({tool.name}))

    def _narrowed(self, tests: Sequence[Test]) -> list[str]:
        return [f"rows = [row for row in rows if {self.tests(tests)}]"] if tests else []

    def related(
        self, table: Table, reference: str, columns: set[str], rows: Sequence[Row], one_by_one: bool = False
    ) -> Reading | None:
        """Return the lines that leave in `by_REFERENCE` the rows that `rows` refer to, by key; None if they cannot be
        read with those columns. `one_by_one` forbids to list them."""
        target, _, key = table.column(reference).references.partition(".")
        other = self.atlas.tables[target]
        if other.key != key or any(row.get(reference) is None for row in rows):
            return None
        name, distinct = f"by_{reference}", {row[reference] for row in rows}
        for tool in free_finders(self.atlas, target) if not one_by_one else ():
            size = shows_all(self.atlas, tool, self.atlas.rows[target])
            if size is not None and {*columns, key} <= row_columns(tool) and len(distinct) > 1:
                given = f", {size}" if size else ""
                listed = f"call({tool.name!r}{given})[{list_name(self.atlas, tool)!r}]"
                line = f"{name} = {{other[{key!r}]: other for other in {listed}}}"
                return Reading((line,), 1, frozenset({tool.name}))
        for tool in self.atlas.getters[target]:
            if len(required(tool)) == 1 and {*columns, key} <= row_columns(tool):
                lines = (
                    f"{name} = {{}}",
                    "for row in rows:",
                    f"    if row[{reference!r}] not in {name}:",
                    f"        {name}[row[{reference!r}]] = call({tool.name!r}, {required(tool)[0]}=row[{reference!r}])",
                )
                return Reading(lines, len(distinct), frozenset({tool.name}))
        return None

    def named(self, parties: Sequence[Named], name: str) -> Reading | None:
        """Return the lines that leave in `NAME` a dict of label -> row for rows of one table; None if unreadable."""
        table = parties[0].table
        found = label_finder(self.atlas, table.name)
        if found is None:
            return None
        tool, field = found
        listed = list_name(self.atlas, tool)
        size = shows_all(self.atlas, tool, self.atlas.rows[table.name])
        if len(parties) > 1 and size is not None and not required(tool):
            given = f", {size}" if size else ""
            line = f"{name} = {{row[{table.label!r}]: row for row in call({tool.name!r}{given})[{listed!r}]}}"
            return Reading((line,), 1, frozenset({tool.name}))
        lines = [f"{name} = {{}}"]
        for party in parties:
            label = self.value(party.label, party.topic)
            shown = f"call({tool.name!r}, {field.path}={label})[{listed!r}]"
            lines.append(f"{name}[{label}] = next(row for row in {shown} if row[{table.label!r}] == {label})")
        return Reading(tuple(lines), len(parties), frozenset({tool.name}))

    def cell(self, path: str) -> str:
        """Return the expression of a record's cell."""
        first, _, rest = path.partition(".")
        return f"by_{first}[row[{first!r}]][{rest!r}]" if rest else f"row[{first!r}]"

    def tests(self, tests: Sequence[Test]) -> str:
        """Return the expression that says whether a record meets all tests."""
        return " and ".join(self.test(test) for test in tests) or "True"

    def test(self, test: Test) -> str:
        """Return the expression of one test."""
        right = self.cell(test.against) if test.against else self.value(test.value, test.topic)
        right = mean_name(test.path) if test.average else right
        return f"{self.cell(test.path)} {OPERATORS[test.operator]} {right}"


def mean_name(path: str) -> str:
    """Return the variable that holds the average of a column over all records meant."""
    return f"mean_{path}"


def meets(compare: str, left: Any, right: Any) -> bool:
    """Say whether two cells compare so; an empty cell compares with nothing."""
    if left is None or right is None:
        return False
    if compare == "equals":
        return bool(left == right)
    if compare == "differs":
        return bool(left != right)
    if compare == "in":
        return left in right
    return bool(_ORDERED[compare](left, right))
