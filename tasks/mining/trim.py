"""Keeps a world small: samples the rows of large mined tables so that all references still hold."""

from __future__ import annotations

from random import Random

from schemas.base import Scalar
from tasks.mining.findings import MinedTable
from tasks.mining.gates import with_rows


def trim(tables: list[MinedTable], limit: int, seed: int) -> list[MinedTable]:
    """Return the tables with at most about `limit` rows in all; small tables keep theirs.

    Children are sampled first and their parents kept, so the limit can be passed by rows that others need.
    """
    if sum(len(mined.rows) for mined in tables) <= limit:
        return tables
    cap = _cap([len(mined.rows) for mined in tables], limit)
    needed: dict[str, set[Scalar]] = {mined.table.name: set() for mined in tables}
    trimmed: dict[str, MinedTable] = {}
    for mined in reversed(tables):
        name, key = mined.table.name, mined.table.key
        others = [row[key] for row in mined.rows if row[key] not in needed[name]]
        free = max(0, cap - len(needed[name]))
        chosen = needed[name] | set(Random(f"{seed}:{name}").sample(others, min(free, len(others))))
        links = [c for c in mined.table.columns if c.references]
        rows = {row[key]: row for row in mined.rows}
        own = [c.name for c in links if c.references == f"{name}.{key}"]
        queue = list(chosen)
        while queue:
            row = rows[queue.pop()]
            for column in own:
                if row[column] is not None and row[column] not in chosen:
                    chosen.add(row[column])
                    queue.append(row[column])
        kept = [(row, at) for row, at in zip(mined.rows, mined.locators, strict=True) if row[key] in chosen]
        for column in links:
            needed.setdefault(column.references.partition(".")[0], set()).update(
                row[column.name] for row, _ in kept if row[column.name] is not None
            )
        trimmed[name] = with_rows(mined, kept, f"sample seed {seed}" if len(kept) < len(mined.rows) else "")
    return [trimmed[mined.table.name] for mined in tables]


def _cap(sizes: list[int], limit: int) -> int:
    """Return the largest number of rows a table that keeps the sum within the limit."""
    cap = max(sizes)
    while cap > 1 and sum(min(size, cap) for size in sizes) > limit:
        cap = cap * 9 // 10
    return cap
