"""Which rows a program walks over: a named party's records, or rows that stated properties narrow down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.database import Table
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, field_for, required
from tasks.synthesis.draft import Condition, Draft
from tasks.synthesis.families.kit import Kit, Link, few
from tasks.synthesis.filters import SHOWN, matching, row_prefix, stated

MOST_OWNERS = 10
MOST_FILTERED = 12


@dataclass(frozen=True)
class Scope:
    """Rows of one table that a tool can list: those of `owner` behind `link`, or those that meet `base`."""

    table: Table
    finder: Tool
    rows: tuple[Row, ...]
    base: tuple[Condition, ...] = ()
    link: Link | None = None
    owner: Row | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that reading it takes."""
        return (self.link.find_parent.name, self.finder.name) if self.link is not None else (self.finder.name,)


def scopes(kit: Kit, table: str, status: str = "") -> Iterator[Scope]:
    """Yield scopes over a table in random order: parties' records first, then rows by other filters than `status`."""
    links = [link for link in kit.links if link.child.name == table]
    kit.rng.shuffle(links)
    for link in links[:3]:
        for owner in kit.owners(link)[:MOST_OWNERS]:
            rows = kit.children(link, owner)
            yield Scope(link.child, link.find_children, tuple(rows), (), link, owner)
    finders = [f for f in kit.atlas.finders[table] if not required(f) and row_prefix(kit.atlas, f, 0) is not None]
    rows = kit.atlas.rows[table]
    if not finders or not rows:
        return
    for _ in range(MOST_FILTERED):
        finder = kit.rng.choice(finders)
        row = kit.rng.choice(rows)
        filters = [c for _, c in stated(Draft(kit.atlas, kit.rng), finder, row) if c.column != status]
        kit.rng.shuffle(filters)
        base: list[Condition] = []
        for condition in filters[: kit.rng.choice((1, 2))]:
            if condition.column not in {c.column for c in base}:
                base.append(condition)
        if base:
            yield Scope(kit.atlas.tables[table], finder, tuple(matching(rows, base)), tuple(base))


def fetch(kit: Kit, scope: Scope, conditions: Sequence[Condition] = (), name: str = "rows") -> list[str]:
    """Return the script lines that list a scope's rows that meet further conditions."""
    both = [*scope.base, *conditions]
    if scope.link is None or scope.owner is None:
        return kit.list_rows(scope.finder, both, name)
    return [kit.find_owner(scope.link, scope.owner), *kit.list_children(scope.link, both, name)]


def where(kit: Kit, scope: Scope, conditions: Sequence[Condition] = ()) -> str:
    """Return the phrase that says which rows a scope and further conditions mean."""
    owned = []
    if scope.link is not None and scope.owner is not None:
        phrase = kit.owner_phrase(scope.link, scope.owner)
        owned = [kit.speaker.owned(scope.table.name, scope.link.column.name, phrase)]
    return kit.conditions_phrase(scope.table.name, [*scope.base, *conditions], *owned)


def is_walkable(scope: Scope, conditions: Sequence[Condition], least: int = 2) -> bool:
    """Say whether the rows under conditions are at least so many, few enough to walk over, and shown all at once."""
    held = [c for c in conditions if field_for(scope.finder, c.operator, f"{scope.table.name}.{c.column}")]
    chosen = matching(scope.rows, conditions)
    return least <= len(chosen) and few(chosen) and len(matching(scope.rows, held)) <= SHOWN
