"""What a workflow is made of: seeded tables, actions, how they were used so far, and what always holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING

from schemas.base import Scalar
from schemas.database import Action, Table
from tasks.mining.findings import Row
from tasks.mining.workflows.nouns import Noun

if TYPE_CHECKING:
    from tasks.mining.workflows.draft import Draft


@dataclass
class Moment:
    """What a sampler may look at: the draft, the row being made, how many came before it, and the time."""

    draft: Draft
    rng: Random
    table: Table
    row: Row
    index: int
    now: datetime

    def target(self, column: str) -> Row:
        """Return the row that a reference of the row being made points to."""
        return self.draft.target(self.table, self.row, column)

    def label(self, column: str) -> str:
        """Return the label (or key) of the row that a reference points to."""
        table = self.draft.tables[self.table.column(column).references.partition(".")[0]]
        return str(self.target(column)[table.label or table.key])


Sampler = Callable[[Moment], Scalar]
"""Makes one value of a row; all chance comes from the moment's `rng`."""


@dataclass(frozen=True)
class Seed:
    """A generated table and how its first rows are made; `count` 0 leaves it to the history.

    Columns without a sampler: a nullable one is empty, a reference points to a random row (some rows more often),
    and one with choices takes one of them.
    """

    table: Table
    count: int = 0
    values: dict[str, Sampler] = field(default_factory=dict)


Paths = tuple[tuple[float, tuple["Step", ...]], ...]
"""Lives to choose from: (weight, steps)."""


@dataclass(frozen=True)
class Step:
    """One action in the life of a row, some hours after the step before (or after the time at path `anchor`).

    With `link`, the action creates `repeat` rows of another table whose column `link` points to this row; each of
    them goes one of the paths in `then`.
    """

    action: str
    hours: tuple[float, float] = (1, 40)
    anchor: str = ""
    link: str = ""
    repeat: tuple[int, int] = (1, 1)
    then: Paths = ()


@dataclass(frozen=True)
class Flow:
    """Lives of rows: `count` rows that `create` makes, or the rows that `table` already has, each on one of `paths`.

    A path is (weight, steps); what would happen after the world's start has not happened yet.
    """

    paths: Paths
    create: str = ""
    table: str = ""
    count: int = 0
    days: int = 45


@dataclass(frozen=True)
class Invariant:
    """A truth of the state before and after every action; `violations` is SQL that returns no row while it holds."""

    meaning: str
    violations: str


@dataclass(frozen=True)
class Workflow:
    """One business process of a world. `party` is the table of people, which others may share; None adds none."""

    name: str
    heading: str
    party: Seed | None
    seeds: tuple[Seed, ...]
    actions: tuple[Action, ...]
    flows: tuple[Flow, ...]
    samples: dict[str, dict[str, Sampler]] = field(default_factory=dict)
    invariants: tuple[Invariant, ...] = ()
    record: str = ""
    """The name of the table of main records."""
    unit: str = ""
    """The name of the table of what records are about: departures, catalogue items, accounts ..."""


@dataclass(frozen=True)
class Wording:
    """The nouns of an archetype for themes that speak of `cues` (stems are compared).

    '{resource}' stands for the noun of the mined table that the workflow is about.
    """

    cues: str
    party: str
    unit: str
    record: str


@dataclass(frozen=True)
class Names:
    """The nouns of one workflow in one world; `resource` is the mined table that it is about."""

    resource: Table
    party: Noun
    unit: Noun
    record: Noun
    money: str = "EUR"

    @property
    def thing(self) -> Noun:
        """The noun of the mined table's rows."""
        return Noun(self.resource.noun)


@dataclass(frozen=True)
class Archetype:
    """A kind of business process. `cues` are words of a theme that speak for it, with weights ("book:3 seat:2");
    `resources` are words of mined tables.

    `side` says who its party is ('client' or 'staff'): workflows of one side share their people. `entity` says that
    it needs named things (to sell, lend, visit ...), so that people and unnamed events do not serve.
    """

    name: str
    cues: str
    resources: str
    side: str
    wordings: tuple[Wording, ...]
    build: Callable[[Names], Workflow]
    entity: bool = True
