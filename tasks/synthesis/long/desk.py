"""What families draw from: an environment's means, and random conditions, scopes and parties of a wanted size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas.database import Column, Table
from tasks.synthesis.atlas import Row
from tasks.synthesis.families.kit import Change, Kit, dividing, label_finder
from tasks.synthesis.filters import is_sayable, row_columns
from tasks.synthesis.long.outcome import all_hold
from tasks.synthesis.long.playbook import Named, Test
from tasks.synthesis.long.reading import free_finders
from tasks.synthesis.shadow import Shadow, Unclear

MOST_VALUES = 14
"""A column behind a reference narrows records down if it has at most so many values."""
_QUANTITIES = frozenset(
    ["quantity", "stock", "left", "over", "quota", "amount", "balance", "places", "limit", "price", "total"]
)


@dataclass(frozen=True)
class Scope:
    """Which records: conditions, and the parties that they belong to (() for any)."""

    table: Table
    tests: tuple[Test, ...]
    rows: tuple[Row, ...]
    owners: tuple[Named, ...] = ()
    owned_by: str = ""


class Desk:
    """The means of one environment for one task of a wanted length (`band`: fewest and most calls)."""

    def __init__(self, kit: Kit, band: tuple[int, int]) -> None:
        self.kit, self.atlas, self.rng, self.band = kit, kit.atlas, kit.rng, band

    @cached_property
    def before(self) -> Shadow:
        """The initial state."""
        return Shadow(self.atlas)

    def shown(self, table: Table) -> frozenset[str]:
        """Return the columns that some list of a table shows."""
        found: frozenset[str] = frozenset()
        for tool in free_finders(self.atlas, table.name):
            found |= row_columns(tool)
        return found

    def transitions_from(self, table: str, state: str) -> list[Change]:
        """Return the transitions that may start from a state, in random order."""
        found = [c for c in self.kit.transitions if c.action.table == table and state in c.action.from_states]
        return self.rng.sample(found, len(found))

    def states(self, table: Table) -> str:
        """Return the status column that a table's transitions move, "" if there are none."""
        return next((c.action.status_column for c in self.kit.transitions if c.action.table == table.name), "")

    def tables(self) -> list[Table]:
        """Return the tables with transitions that a list shows, in random order."""
        names = sorted({c.action.table for c in self.kit.transitions})
        found = [self.atlas.tables[name] for name in names if self.shown(self.atlas.tables[name])]
        return self.rng.sample(found, len(found))

    def where(self, table: Table, rows: Sequence[Row], tests: Sequence[Test]) -> list[Row]:
        """Return the rows that meet tests in the initial state."""
        try:
            return [row for row in rows if all_hold(self.before, table.name, row, tests)]
        except Unclear:
            return []

    def scopes(self, table: Table, base: Sequence[Test], per_record: float, tries: int = 10) -> Iterator[Scope]:
        """Yield scopes over the records that meet `base`, of such a size that the task gets its length."""
        low, high = max(2, int(self.band[0] / per_record) - 2), int(self.band[1] / per_record)
        rows = self.where(table, self.atlas.rows[table.name], base)
        if len(rows) < max(2, min(low, 3)):
            return
        if low <= len(rows) <= high:
            yield Scope(table, tuple(base), tuple(rows))
        for _ in range(tries):
            found = self._narrowed(table, base, rows)
            if found is not None and max(2, low) <= len(found.rows) <= high:
                yield found

    def _narrowed(self, table: Table, base: Sequence[Test], rows: Sequence[Row]) -> Scope | None:
        way = self.rng.random()
        if way < 0.3:
            return self._owned(table, base, rows)
        used = {test.path for test in base}
        extra = self.behind(table, rows) if way < 0.65 else self.own(table, rows, used)
        if extra is None:
            return None
        tests = (*base, extra)
        left = self.where(table, rows, tests)
        if self.rng.random() < 0.35 and len(left) > 3:
            second = self.own(table, left, {*used, extra.path})
            if second is not None:
                tests = (*tests, second)
                left = self.where(table, left, tests)
        return Scope(table, tests, tuple(left))

    def _owned(self, table: Table, base: Sequence[Test], rows: Sequence[Row]) -> Scope | None:
        """Return a scope of the records of several named parties."""
        references = [c for c in table.columns if c.references and c.name in self.shown(table)]
        if not references:
            return None
        column = self.rng.choice(references)
        parties = [p for p in self.parties(column) if any(row.get(column.name) == p.key for row in rows)]
        count = self.rng.choice((2, 3, 3, 4, 5, 6, 8))
        if len(parties) < count:
            return None
        chosen = tuple(self.similar_first(parties)[:count])
        keys = {party.key for party in chosen}
        return Scope(table, tuple(base), tuple(r for r in rows if r.get(column.name) in keys), chosen, column.name)

    def parties(self, column: Column) -> list[Named]:
        """Return the rows that a reference may point to and that a prompt can name, in random order."""
        target, _, key = column.references.partition(".")
        table = self.atlas.tables[target]
        if not table.label or label_finder(self.atlas, target) is None or table.key != key:
            return []
        found = [
            Named(table, row)
            for row in self.atlas.rows[table.name]
            if isinstance(row[table.label], str)
            and is_sayable(row[table.label])
            and self.atlas.label_of(table.name, row) is not None
        ]
        return self.rng.sample(found, len(found))

    def similar_first(self, parties: Sequence[Named]) -> list[Named]:
        """Return parties so that those whose name shares a word with another one's come first, half of the time."""
        if self.rng.random() < 0.5:
            return list(parties)
        return sorted(parties, key=lambda party: not self.namesakes(party))

    def namesakes(self, party: Named) -> list[str]:
        """Return the labels of other rows that share a word with a party's: what it must not be confused with."""
        table, words = party.table, set(party.label.lower().split())
        others = [row[table.label] for row in self.atlas.rows[table.name] if row[table.label] != party.label]
        return [str(o) for o in others if isinstance(o, str) and words & set(o.lower().split()) and is_sayable(o)]

    def own(self, table: Table, rows: Sequence[Row], used: set[str]) -> Test | None:
        """Return a condition on a column of the records that some meet and some do not; None if there is none."""
        shown = self.shown(table)
        columns = [c for c in table.columns if c.name in shown - used and not c.references and c.type != "boolean"]
        columns = [c for c in columns if c.role in ("category", "status", "measure", "date", "attribute")]
        for column in self.rng.sample(columns, len(columns)):
            test = self.about(column, column.name, [row.get(column.name) for row in rows])
            if test is not None:
                return test
        return None

    def behind(self, table: Table, rows: Sequence[Row]) -> Test | None:
        """Return a condition on what the records refer to ("the client's city is ..."); None if there is none."""
        options = []
        for column in table.columns:
            target, _, key = column.references.partition(".")
            if not column.references or column.name not in self.shown(table) or self.atlas.tables[target].key != key:
                continue
            other = self.atlas.tables[target]
            shown = self.shown(other) or frozenset().union(*(row_columns(t) for t in self.atlas.getters[target]))
            options += [
                (column, c)
                for c in other.columns
                if c.name in shown and not c.references and c.role in ("category", "status", "attribute", "measure")
                and c.type in ("string", "integer", "number")
            ]  # fmt: skip
        for reference, column in self.rng.sample(options, min(6, len(options))):
            path = f"{reference.name}.{column.name}"
            cells = [self.before.cell(table.name, row, path) for row in rows]
            if column.role != "measure" and len({c for c in cells if c is not None}) > MOST_VALUES:
                continue
            test = self.about(column, path, cells)
            if test is not None:
                return test
        return None

    def about(self, column: Column, path: str, cells: Sequence[object]) -> Test | None:
        """Return a condition on cells of one column that some of them meet and some do not."""
        if any(cell is None for cell in cells) or len(set(cells)) < 2:
            return None
        if column.role == "measure" and column.type in ("integer", "number"):
            found = dividing(self.rng, path, cells)  # type: ignore[arg-type]
            return None if found is None else Test(path, found.operator, found.value)  # type: ignore[arg-type]
        if column.type in ("date", "datetime"):
            days = sorted({str(cell)[:10] for cell in cells})
            if len(days) < 3 or any(len(day) != 10 for day in days):
                return None
            day = self.rng.choice(days[1:-1])
            return Test(path, "at_least" if column.type == "datetime" or self.rng.random() < 0.5 else "at_most", day)
        if column.role in ("category", "status", "attribute") and column.type == "string":
            values = sorted({str(cell) for cell in cells})
            if len(values) > MOST_VALUES or not all(is_sayable(value) for value in values):
                return None
            return Test(path, "differs" if self.rng.random() < 0.15 else "equals", self.rng.choice(values))
        return None

    def against(self, table: Table, rows: Sequence[Row]) -> Test | None:
        """Return a comparison of a record's measure with one behind a reference, or of two measures of it."""
        shown, options = self.shown(table), []
        own = [c for c in table.columns if c.role == "measure" and c.name in shown]
        for column in own:
            options += [(column.name, other.name) for other in own if other is not column and other.unit == column.unit]
            for reference in table.columns:
                if not reference.references or reference.name not in shown:
                    continue
                target = self.atlas.tables[reference.references.partition(".")[0]]
                options += [
                    (column.name, f"{reference.name}.{other.name}")
                    for other in target.columns
                    if other.role == "measure" and other.unit == column.unit and _alike(column, other)
                ]
        for path, other in self.rng.sample(options, len(options)):
            operator = self.rng.choice(("at_least", "at_most"))
            test = Test(path, operator, against=other)
            met = self.where(table, rows, [test])
            if 0 < len(met) < len(rows):
                return test
        return None

    def average(self, table: Table, rows: Sequence[Row]) -> Test | None:
        """Return the condition that a measure is at least, or at most, its average over the rows."""
        column = self.measure(table, rows)
        if column is None:
            return None
        cells = [row[column.name] for row in rows]
        mean = sum(cells) / len(cells)
        if min(abs(cell - mean) for cell in cells) < 0.01:
            return None  # rounding must not decide
        return Test(column.name, self.rng.choice(("at_least", "at_most")), mean, average=True)

    def measure(self, table: Table, rows: Sequence[Row]) -> Column | None:
        """Return a measure that lists show and that all rows have, None if there is none."""
        columns = [
            c
            for c in table.columns
            if c.role == "measure" and c.type in ("integer", "number") and c.name in self.shown(table)
            and all(row.get(c.name) is not None for row in rows)
        ]  # fmt: skip
        return self.rng.choice(columns) if columns else None

    def order(self, table: Table, rows: Sequence[Row]) -> tuple[str, bool] | None:
        """Return a column by which the rows can be put in order without ties, and a direction."""
        columns = [
            c.name
            for c in table.columns
            if c.role in ("measure", "date") and c.name in self.shown(table)
            and len({row.get(c.name) for row in rows}) == len(rows) and all(row.get(c.name) is not None for row in rows)
        ]  # fmt: skip
        return (self.rng.choice(columns), self.rng.random() < 0.4) if columns else None


def _alike(one: Column, other: Column) -> bool:
    """Say whether two measures of different tables may be compared: they share a word or both are quantities."""
    words = ({*one.name.split("_")}, {*other.name.split("_")})
    return bool(words[0] & words[1]) or bool(words[0] & _QUANTITIES and words[1] & _QUANTITIES)


def status_in(column: str, states: Sequence[str]) -> Test:
    """Return the condition that a status is one of some."""
    return Test(column, "equals", states[0]) if len(states) == 1 else Test(column, "in", tuple(states))
