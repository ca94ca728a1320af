"""What a connector is: generated tables that join tables which a world already has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schemas.database import Column, Table
from tasks.mining.workflows.compose import Cast, fresh
from tasks.mining.workflows.draft import Draft
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Workflow


@dataclass(frozen=True)
class Setting:
    """The world that a connector grows in and the process that it continues."""

    draft: Draft
    cast: Cast

    @property
    def party(self) -> Table:
        """The table of people of the process."""
        return self.draft.tables[self.cast.party.table]

    @property
    def record(self) -> Table:
        """The table of its main records."""
        return self.draft.tables[self.cast.record]

    @property
    def unit(self) -> Table:
        """The table of what its records are about: its own units, or else the mined resource."""
        return self.draft.tables[self.cast.unit or self.cast.resource]

    @property
    def resource(self) -> Table:
        """The mined table that the process is about."""
        return self.draft.tables[self.cast.resource]

    def fresh(self, noun: str) -> Noun:
        """Return a noun whose table does not exist yet."""
        return fresh(self.draft, Noun(noun), word="further")

    def link(self, table: Table, target: Table) -> Column | None:
        """Return the first required reference of a table to another."""
        return next(
            (c for c in table.columns if c.references == f"{target.name}.{target.key}" and not c.nullable), None
        )

    def measure(self, table: Table, *names: str) -> Column | None:
        """Return the first of the named columns that is a measure of the table."""
        return next((c for name in names for c in table.columns if c.name == name and c.role == "measure"), None)

    def ended(self, table: Table) -> tuple[str, ...]:
        """Return the states of a table's status in which a row has come to nothing."""
        states = {"cancelled", "rejected", "withdrawn", "refused", "reversed", "failed", "lost", "missed", "hidden"}
        return tuple(state for state in table.column("status").choices if state in states)


@dataclass(frozen=True)
class Connector:
    """A way to connect tables. `skills` are the tool kinds and program constructs that it gives more to do with.

    `build` returns None where the setting lacks what it needs; the tables of its workflow refer to at least two
    tables of the world, directly or through one another.
    """

    name: str
    skills: frozenset[str]
    build: Callable[[Setting], Workflow | None]
