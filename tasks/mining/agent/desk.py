"""The desk of a researcher: all that it has opened in one theme, under short ids, and what it was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schemas.base import Scalar
from schemas.environment import Rejection
from schemas.theme import Source, Theme
from tasks.mining.world import rejection

MOST_TOLD = 50
"""Rejections of one theme that are written out one by one; all are counted."""


@dataclass(frozen=True)
class HeldTable:
    """A table on the desk. `rows[i]` stands at `places[i]` of the source.

    A table that run_python made has `origins` instead of places: for each row the places that it says it is from, as
    (id of a held table, number of the row there, from 1).
    """

    table_id: str
    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Scalar]]
    places: Sequence[str] = ()
    origins: Sequence[tuple[tuple[str, int], ...]] = ()
    descriptions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Opened:
    """A page, file or item of the corpus, as it was opened. `address` is its URL or the item's id."""

    page_id: str
    kind: str
    address: str
    title: str
    source: Source
    text: str = ""
    tables: tuple[HeldTable, ...] = ()


class Refused(ValueError):
    """What the desk does not do or believe; `gate` is counted, the message is told to the model."""

    def __init__(self, gate: str, key: str, reason: str) -> None:
        super().__init__(reason)
        self.gate, self.key, self.reason = gate, key, reason


@dataclass
class Desk:
    """What lies on the desk. Ids: p1, p2 ... are pages and files, d1 ... items of the corpus, o1 ... results of code;
    the tables of p1 are p1.t1, p1.t2 ..."""

    theme: Theme
    opened: dict[str, Opened] = field(default_factory=dict)
    tables: dict[str, HeldTable] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    rejections: list[Rejection] = field(default_factory=list)

    def put(
        self, kind: str, address: str, title: str, source: Source, text: str, tables: Sequence[HeldTable]
    ) -> Opened:
        """Lay something on the desk, or return what lies there under that address already."""
        for known in self.opened.values():
            if known.kind == kind and known.address == address:
                return known
        page_id = f"{kind}{1 + sum(known.kind == kind for known in self.opened.values())}"
        named = tuple(replace(table, table_id=f"{page_id}.t{n}") for n, table in enumerate(tables, 1))
        opened = Opened(page_id, kind, address, title, source, text, named)
        self.opened[page_id] = opened
        self.tables |= {table.table_id: table for table in named}
        return opened

    def put_output(self, columns: tuple[str, ...], rows: list[list[Scalar]], origins: list[Any]) -> HeldTable:
        """Lay a table on the desk that run_python has made."""
        number = 1 + sum(table_id.startswith("o") for table_id in self.tables)
        table = HeldTable(f"o{number}", f"output {number}", columns, rows, origins=origins)
        self.tables[table.table_id] = table
        return table

    def page(self, page_id: str) -> Opened:
        """Return what lies under an id.

        Raises:
            ValueError: if nothing does.
        """
        if page_id not in self.opened:
            raise ValueError(f"nothing lies under the id {page_id!r:.80}; there are: {_some(self.opened)}")
        return self.opened[page_id]

    def table(self, table_id: str) -> HeldTable:
        """Return the table of that id.

        Raises:
            ValueError: if there is none.
        """
        if table_id not in self.tables:
            raise ValueError(f"there is no table {table_id!r:.80}; there are: {_some(self.tables)}")
        return self.tables[table_id]

    def owner(self, table_id: str) -> Opened:
        """Return what a table is part of; of a result of code, what its first row is from."""
        table = self.table(table_id)
        while table.origins:
            table = self.table(table.origins[0][0][0])
        return self.page(table.table_id.partition(".")[0])

    def refuse(self, refusal: Refused) -> None:
        """Count a refusal and write it down."""
        self.refused[refusal.gate] += 1
        if len(self.rejections) < MOST_TOLD:
            self.rejections.append(rejection(refusal.key[:300], refusal.gate, refusal.reason[:500]))


def _some(names: Any) -> str:
    listed = list(names)
    return ", ".join(listed[:40]) + (" ..." if len(listed) > 40 else "") if listed else "none yet"
