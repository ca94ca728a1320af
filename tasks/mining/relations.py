"""Find foreign keys: columns whose values are another table's keys and whose name says so."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.environment import Rejection
from tasks.mining.corpus.corpus import Corpus
from tasks.mining.corpus.items import Record
from tasks.mining.extract import Described, describe
from tasks.retrieval.bm25 import stem

LEAST_COVERAGE = 0.85
"""Share of a column's known values that must be keys of the parent; rows with the others are handled one by one."""

_QUALIFIERS = {"code", "id", "key", "number", "name", "alias", "identifier", "symbol", "fips"}


@dataclass(frozen=True)
class Link:
    """`child.column` refers to the key of `parent` (item ids); `coverage` is the share of known values it holds for."""

    child: str
    column: str
    parent: str
    coverage: float


@dataclass(frozen=True)
class Study:
    """All tables of a corpus, described; the best link of each column, and every link that fits (`all_links`)."""

    tables: dict[str, Described]
    links: tuple[Link, ...]
    all_links: tuple[Link, ...]
    rejections: tuple[Rejection, ...]

    def options(self, item_id: str) -> list[Link]:
        """Return every link that fits a column of an item, the best first."""
        return [link for link in self.all_links if link.child == item_id]

    def parents(self, item_id: str) -> list[Link]:
        """Return the links from an item to others."""
        return [link for link in self.links if link.child == item_id]

    def children(self, item_id: str) -> list[Link]:
        """Return the links from others to an item."""
        return [link for link in self.links if link.parent == item_id]


_STUDIES: weakref.WeakKeyDictionary[Corpus, Study] = weakref.WeakKeyDictionary()


def study(corpus: Corpus) -> Study:
    """Describe every table of a corpus and find the links between them, once a corpus."""
    if corpus not in _STUDIES:
        tables, rejections = {}, []
        for item in corpus.items:
            try:
                tables[item.item_id] = describe(item, corpus.extract(item.item_id))
            except ValueError as error:
                rejections.append(Rejection(stage="mining", key=item.item_id, gate="no_table", reason=str(error)))
        fitting = find_links(tables)
        best: dict[tuple[str, str], Link] = {}
        for link in fitting:
            best.setdefault((link.child, link.column), link)
        _STUDIES[corpus] = Study(tables, tuple(best.values()), fitting, tuple(rejections))
    return _STUDIES[corpus]


def meaning(name: str) -> list[str]:
    """Return the stemmed words of a column's or table's name without trailing id, code, name and the like."""
    parts = [stem(part) for part in name.replace(" ", "_").split("_") if part]
    while len(parts) > 1 and parts[-1] in _QUALIFIERS:
        parts.pop()
    return parts


def find_links(tables: dict[str, Described]) -> tuple[Link, ...]:
    """Return the links between tables, by inclusion of values and likeness of names; a column's best one first."""
    keys = {item_id: set(described.values(described.table.key)) for item_id, described in tables.items()}
    links = []
    for child, described in sorted(tables.items()):
        for column in described.table.columns:
            if column.name == described.table.key or column.type not in ("string", "integer"):
                continue
            found = [
                (_rank(link, column.name, tables), link)
                for parent in sorted(tables)
                if parent != child and named_alike(column.name, tables[parent])
                for link in [_fit(child, column.name, parent, described, keys[parent])]
                if link is not None
            ]
            links += [link for _, link in sorted(found, key=lambda pair: pair[0], reverse=True)]
    return tuple(links)


def named_alike(column: str, parent: Described) -> bool:
    """Whether a column's name speaks of the parent's noun or key."""
    words = meaning(column)
    return words[-1] in (meaning(parent.table.noun)[-1], meaning(parent.table.key)[-1])


def _fit(child: str, column: str, parent: str, described: Described, keys: set[object]) -> Link | None:
    known = [value for value in described.values(column) if value is not None]
    if not known or len(set(known)) < 2:
        return None
    coverage = sum(value in keys for value in known) / len(known)
    return Link(child, column, parent, round(coverage, 4)) if coverage >= LEAST_COVERAGE else None


def _rank(link: Link, column: str, tables: dict[str, Described]) -> tuple[bool, bool, float, str]:
    parent, child = tables[link.parent], tables[link.child]
    same_package = parent.item.package == child.item.package
    return same_package, parent.table.key == column, link.coverage, link.parent


def hold(
    records: Sequence[Record], links: Sequence[tuple[str, bool, set[object]]]
) -> tuple[list[Record], dict[str, int]]:
    """Make references hold: set to None where nullable, else leave the row out. Count both by column.

    Each link is (column, nullable, the keys that may stand there).
    """
    kept, broken = [], dict.fromkeys((column for column, _, _ in links), 0)
    for at, row in records:
        values, whole = dict(row), True
        for column, nullable, keys in links:
            if values[column] is None or values[column] in keys:
                continue
            broken[column] += 1
            if nullable:
                values[column] = None
            else:
                whole = False
        if whole:
            kept.append((at, values))
    return kept, {column: count for column, count in broken.items() if count}
