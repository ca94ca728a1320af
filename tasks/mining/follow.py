"""Follows references of mined tables to tables of the corpus that a world does not have yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from schemas.database import Column, Table
from schemas.theme import Source
from tasks.mining.corpus import Corpus
from tasks.mining.extract import Described
from tasks.mining.findings import MinedTable
from tasks.mining.relations import Link, Study, study
from tasks.mining.workflows.nouns import stems

FEWEST, MOST = 12, 150
"""How many rows a followed table may have."""


@dataclass(frozen=True)
class Followed:
    """A further mined table. `columns` are columns of tables that are there, now references to it, by table."""

    mined: MinedTable
    source: Source
    columns: dict[str, tuple[Column, ...]]


def follow(corpus: Corpus, tables: Sequence[MinedTable], words: dict[str, float], seed: int) -> Followed | None:
    """Return the table of the corpus that fits a theme's words best among those that a link joins to the given ones.

    Rows that are there stay as they are: of a child come only rows whose references hold, of a parent all rows that
    are referred to, or else it does not come. None if no link leads on.
    """
    learnt = study(corpus)
    items = _items(learnt, tables)
    found: list[tuple[float, str, Link]] = []
    for link in learnt.links:
        new = link.child if link.parent in items else link.parent
        if (link.child in items) == (link.parent in items) or any(
            mined.table.name == learnt.tables[new].table.name for mined in tables
        ):
            continue
        item = learnt.tables[new].item
        about = set(stems(f"{' '.join(item.topics)} {learnt.tables[new].table.noun}"))
        found.append((sum(words.get(root, 0.0) for root in about), f"{new} {link.column}", link))
    for _, _, link in sorted(found, key=lambda entry: (-entry[0], entry[1])):
        followed = _child(learnt, link, items, seed) if link.parent in items else _parent(learnt, link, items, seed)
        if followed is not None:
            return followed
    return None


def _items(learnt: Study, tables: Sequence[MinedTable]) -> dict[str, MinedTable]:
    return {
        item_id: mined
        for item_id, described in learnt.tables.items()
        for mined in tables
        if described.item.source.source_id == mined.source_id and described.table.name == mined.table.name
    }


def _refer(column: Column, table: Table) -> Column:
    return column.model_copy(
        update={"role": "reference", "references": f"{table.name}.{table.key}", "choices": (), "minimum": None}
        | {"maximum": None}
    )


def _child(learnt: Study, link: Link, items: dict[str, MinedTable], seed: int) -> Followed | None:
    described = learnt.tables[link.child]
    targets = {
        other.column: items[other.parent].table
        for other in learnt.parents(link.child)
        if other.parent in items and _same_type(described, other.column, items[other.parent].table)
    }
    if link.column not in targets:
        return None
    keys = {
        other.column: {row[items[other.parent].table.key] for row in items[other.parent].rows}
        for other in learnt.parents(link.child)
        if other.column in targets
    }
    whole = [(at, row) for at, row in described.records if all(row[c] is None or row[c] in k for c, k in keys.items())]
    if len(whole) < FEWEST or all(row[link.column] is None for _, row in whole):
        return None
    columns = tuple(
        _refer(column, targets[column.name]) if column.name in targets else column for column in described.table.columns
    )
    return _followed(described, columns, _sampled(whole, MOST, seed), seed, {})


def _parent(learnt: Study, link: Link, items: dict[str, MinedTable], seed: int) -> Followed | None:
    described, child = learnt.tables[link.parent], items[link.child]
    key = described.table.key
    if all(column.name != link.column for column in child.table.columns):
        return None
    column = child.table.column(link.column)
    needed = {row[link.column] for row in child.rows} - {None}
    needed_rows = [record for record in described.records if record[1][key] in needed]
    if column.references or len(needed_rows) < len(needed) or not _same_type(described, key, child.table, link.column):
        return None
    others = [record for record in described.records if record[1][key] not in needed]
    rows = needed_rows + _sampled(others, max(0, FEWEST * 4 - len(needed_rows)), seed)
    if len(rows) < FEWEST or len(rows) > 2 * MOST:
        return None
    return _followed(
        described, described.table.columns, rows, seed, {child.table.name: (_refer(column, described.table),)}
    )


def _followed(described: Described, columns: tuple, rows: list, seed: int, changed: dict) -> Followed:
    table = described.table.model_copy(update={"columns": columns, "rows": len(rows)})
    notes = ("extract", *described.notes, "follow a reference", f"sample seed {seed}")
    mined = MinedTable(
        table, [row for _, row in rows], described.item.source.source_id, [at for at, _ in rows], "; ".join(notes)
    )
    return Followed(mined, described.item.source, changed)


def _sampled(rows: list, limit: int, seed: int) -> list:
    if len(rows) <= limit:
        return list(rows)
    chosen = sorted(Random(f"{seed}:follow").sample(range(len(rows)), limit))
    return [rows[index] for index in chosen]


def _same_type(described: Described, column: str, table: Table, other: str = "") -> bool:
    return described.table.column(column).type == table.column(other or table.key).type
