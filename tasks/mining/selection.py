"""Choose few rows that belong together: parents first, then children of the chosen parents."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from schemas.base import Scalar
from tasks.mining.corpus.items import Record
from tasks.mining.extract import Described
from tasks.retrieval.bm25 import words

PARENT_ROWS = 120
QUIET_ROWS = 60
"""Rows of a parent of which children speak of few rows only."""

CHILD_ROWS = 280
FEWEST_CHILDREN = 60

References = dict[str, dict[str, str]]
"""For each table (item id) the columns that refer to another, and to which."""


def ordered(chosen: Sequence[str], references: References) -> list[str]:
    """Return tables parents first. A reference that would close a circle is left out by the caller."""
    done: list[str] = []

    def visit(item: str, path: tuple[str, ...]) -> None:
        if item in done or item in path:
            return
        for parent in references.get(item, {}).values():
            visit(parent, (*path, item))
        done.append(item)

    for item in chosen:
        visit(item, ())
    return done


def select(
    tables: dict[str, Described], references: References, terms: Sequence[str], seed: int
) -> dict[str, list[Record]]:
    """Choose rows of every table so that every reference holds, with varied categories.

    A parent keeps the rows that its children speak of most; a child keeps rows whose parents were kept. If that
    leaves too few, the child goes first and its parents are added.
    """
    order = ordered(list(tables), references)
    degree = _degrees(tables, references)
    wanted = set(terms)
    rng = random.Random(seed)
    kept: dict[str, list[Record]] = {}
    keys: dict[str, set[Scalar]] = {}
    for item in order:
        described, parents = tables[item], references.get(item, {})
        rows = [record for record in described.records if _holds(record, parents, keys)]
        is_parent = any(item in refs.values() for refs in references.values())
        limit = PARENT_ROWS if is_parent else CHILD_ROWS
        if len(rows) < min(FEWEST_CHILDREN, len(described.records)) and parents:
            known = {record[1][described.table.key] for record in rows}
            more = [record for record in described.records if record[1][described.table.key] not in known]
            rows += _sample(described, more, degree[item], wanted, rng, FEWEST_CHILDREN - len(rows))
            _add_parents(rows, item, references, tables, kept, keys)
        else:
            rows = _sample(described, rows, degree[item], wanted, rng, limit)
        kept[item] = rows
        keys[item] = {row[described.table.key] for _, row in rows}
    return {item: _in_source_order(tables[item], kept[item]) for item in order}


def _degrees(tables: dict[str, Described], references: References) -> dict[str, Counter[Scalar]]:
    degrees: dict[str, Counter[Scalar]] = {item: Counter() for item in tables}
    for child, columns in references.items():
        for column, parent in columns.items():
            degrees[parent].update(value for value in tables[child].values(column) if value is not None)
    return degrees


def _holds(record: Record, parents: dict[str, str], keys: dict[str, set[Scalar]]) -> bool:
    return all(record[1][column] is None or record[1][column] in keys[parent] for column, parent in parents.items())


def _add_parents(
    rows: Sequence[Record],
    item: str,
    references: References,
    tables: dict[str, Described],
    kept: dict[str, list[Record]],
    keys: dict[str, set[Scalar]],
) -> None:
    for column, parent in references.get(item, {}).items():
        needed = {row[column] for _, row in rows if row[column] is not None} - keys[parent]
        key = tables[parent].table.key
        added = [record for record in tables[parent].records if record[1][key] in needed]
        kept[parent] += added
        keys[parent] |= {row[key] for _, row in added}
        if added:
            _add_parents(added, parent, references, tables, kept, keys)


def _sample(
    described: Described,
    rows: Sequence[Record],
    degree: Counter[Scalar],
    wanted: set[str],
    rng: random.Random,
    limit: int,
) -> list[Record]:
    """Take up to `limit` rows: half by what children speak of most, a quarter by relevance, the others at random."""
    key = described.table.key
    if degree and sum(degree[row[key]] > 0 for _, row in rows) >= 20:
        rows = [record for record in rows if degree[record[1][key]] > 0]
    elif degree:
        limit = min(limit, QUIET_ROWS)
    if len(rows) <= limit:
        return list(rows)
    texts = [c.name for c in described.table.columns if c.role in ("label", "key", "text", "category", "reference")]
    scored = [
        (len(wanted.intersection(words(" ".join(str(row[name]) for name in texts)))), degree[row[key]], position)
        for position, (_, row) in enumerate(rows)
    ]
    spoken = sorted((entry for entry in scored if entry[1]), key=lambda entry: (-entry[1], entry[2]))
    relevant = sorted((entry for entry in scored if entry[0]), key=lambda entry: (-entry[0], entry[2]))
    taken = {position for _, _, position in [*spoken[: limit // 2], *relevant[: limit // 4]]}
    for column in described.table.columns:
        for choice in column.choices:
            if not any(rows[position][1][column.name] == choice for position in taken):
                candidates = [n for n, (_, row) in enumerate(rows) if row[column.name] == choice]
                if candidates and len(taken) < limit:
                    taken.add(rng.choice(candidates))
    others = [position for position in range(len(rows)) if position not in taken]
    taken.update(rng.sample(others, limit - len(taken)))
    return [rows[position] for position in sorted(taken)]


def _in_source_order(described: Described, rows: Sequence[Record]) -> list[Record]:
    key = described.table.key
    position = {row[key]: number for number, (_, row) in enumerate(described.records)}
    return sorted(rows, key=lambda record: position[record[1][key]])
