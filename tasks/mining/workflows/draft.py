"""A world under construction: tables, rows and actions, before they are frozen into a snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from schemas.base import Scalar
from schemas.database import Action, Column, Table
from tasks.mining.findings import MinedTable, Row
from tasks.mining.generators import code, few, skewed_index
from tasks.mining.workflows.plan import Invariant, Moment, Sampler, Seed


@dataclass
class Draft:
    """Tables and rows by name, in the order in which they were added; parents stand before their children."""

    start: datetime
    tables: dict[str, Table] = field(default_factory=dict)
    rows: dict[str, dict[Scalar, Row]] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    invariants: list[Invariant] = field(default_factory=list)
    headings: dict[str, str] = field(default_factory=dict)
    """Action name -> the heading under which the policy document states its rules."""
    made_by: dict[str, str] = field(default_factory=dict)
    """Generated table -> the transform of its rows' provenance, e.g. 'generated:booking seed 7'."""
    _order: dict[str, list[Scalar]] = field(default_factory=dict)
    _prefixes: dict[str, str] = field(default_factory=dict)

    def add_mined(self, mined: MinedTable) -> None:
        """Take over a mined table as it is."""
        self.tables[mined.table.name] = mined.table
        self.rows[mined.table.name] = {row[mined.table.key]: row for row in mined.rows}

    def target(self, table: Table, row: Row, column: str) -> Row:
        """Return the row that a reference points to.

        Raises:
            KeyError: if the reference is empty or broken.
        """
        return self.rows[table.column(column).references.partition(".")[0]][row[column]]

    def plant(self, seed: Seed, rng: Random, made_by: str) -> None:
        """Add a generated table with its first rows."""
        self.tables[seed.table.name] = seed.table
        self.rows[seed.table.name] = {}
        self.made_by[seed.table.name] = made_by
        for index in range(seed.count):
            moment = Moment(self, rng, seed.table, {}, index, self.start)
            self.insert(seed.table, self.fill(moment, seed.table.columns, seed.values))

    def fill(self, moment: Moment, columns: Iterable[Column], samplers: dict[str, Sampler]) -> Row:
        """Return a row: its key minted, each column sampled; references come first, then the rest in order.

        A sampler sees the values before its own.

        Raises:
            ValueError: if a required column has no sampler and no default, or a unique one finds no free value.
        """
        row = moment.row
        for column in sorted(columns, key=lambda c: c.role != "reference"):
            if column.name == moment.table.key:
                row[column.name] = self.mint(moment.table, moment.rng)
                continue
            sampler = samplers.get(column.name) or self._default(moment.table, column)
            value = sampler(moment)
            if column.unique:
                taken = {other[column.name] for other in self.rows[moment.table.name].values()}
                for _ in range(200):
                    if value not in taken:
                        break
                    value = sampler(moment)
                else:
                    raise ValueError(f"{moment.table.name}.{column.name}: no further unique value like {value!r}")
            row[column.name] = value
        return row

    def insert(self, table: Table, row: Row) -> None:
        """Add a row; its columns take the table's order."""
        self.rows[table.name][row[table.key]] = {column.name: row[column.name] for column in table.columns}

    def mint(self, table: Table, rng: Random) -> str:
        """Return a new key of a generated table: a prefix that tells the table, a hyphen, six characters."""
        while True:
            key = f"{self.prefix(table)}-{code(rng)}"
            if key not in self.rows[table.name]:
                return key

    def prefix(self, table: Table) -> str:
        """Return the key prefix of a generated table: letters of its noun, different from those of earlier tables."""
        if table.name not in self._prefixes:
            taken = set(self._prefixes.values())
            self._prefixes[table.name] = next(made for made in _prefixes(table.noun) if made not in taken)
        return self._prefixes[table.name]

    def some_key(self, table: str, rng: Random, power: float = 1.6) -> Scalar:
        """Return the key of a random row; some rows come more often, always the same ones."""
        order = self._order.get(table)
        if order is None or len(order) != len(self.rows[table]):
            order = sorted(self.rows[table], key=str)
            Random(f"{table}:{len(order)}:{order[0]}").shuffle(order)
            self._order[table] = order
        return order[skewed_index(rng, len(order), power)]

    def extend(self, name: str, columns: Iterable[Column], values: dict[str, Sampler], rng: Random) -> None:
        """Add columns to a generated table that has rows, unless it has them already."""
        table = self.tables[name]
        new = tuple(column for column in columns if column.name not in {c.name for c in table.columns})
        self.tables[name] = table = table.model_copy(update={"columns": (*table.columns, *new)})
        for index, row in enumerate(self.rows[name].values()):
            self.fill(Moment(self, rng, table, row, index, self.start), new, values)

    def _default(self, table: Table, column: Column) -> Sampler:
        if column.nullable:
            return lambda m: None
        if column.references:
            target = column.references.partition(".")[0]
            return lambda m: self.some_key(target, m.rng)
        if column.choices:
            return lambda m: m.rng.choice(column.choices)
        if column.minimum is not None and column.maximum is not None and column.type == "integer":
            return few(int(column.minimum), int(column.maximum))
        raise ValueError(f"{table.name}.{column.name}: nothing says how to make its values")


def with_counts(draft: Draft) -> list[Table]:
    """Return the draft's tables with their numbers of rows."""
    return [table.model_copy(update={"rows": len(draft.rows[name])}) for name, table in draft.tables.items()]


def linked(seed: Seed, *columns: Column) -> Seed:
    """Return a seed whose table has further reference columns."""
    table = seed.table.model_copy(update={"columns": (*seed.table.columns, *columns)})
    return replace(seed, table=table)


def _prefixes(noun: str) -> list[str]:
    letters = "".join(c for c in noun.lower() if c.isalpha())
    last = "".join(c for c in noun.lower().split()[-1] if c.isalpha())
    initials = "".join(word[0] for word in noun.lower().split() if word[0].isalpha())
    made = [last[:3], initials[:1] + last[:2], letters[:4], last[:4], letters[:5], last[:5], letters, letters + "x"]
    return [candidate for candidate in made if len(candidate) >= 2]
