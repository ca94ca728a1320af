"""How much can be done in a world: the number of distinct executable tool subgraphs, estimated from its tables.

Each table has a tool that searches it, one that gets a row by its key, and for each reference one that lists the rows
which refer to a key. A chain of such tools walks from table to table along references: from a row to the one that it
refers to (get), or to those that refer to it (list). Distinct subgraphs are distinct walks of two to `LONGEST` tables,
no table twice, each step over one reference. A walk counts if it is executable: at least one row of the first table
leads along it to at least one row of the last one. So neither more rows nor a table that nothing joins add anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.base import Scalar
from tasks.mining.findings import MinedTable

LONGEST = 4
"""Tables that a walk may visit."""

Pairs = dict[Scalar, set[Scalar]]


def executable_subgraphs(tables: Sequence[MinedTable]) -> int:
    """Return the number of distinct executable walks over the tables."""
    steps = _steps(tables)
    keys = {mined.table.name: {row[mined.table.key] for row in mined.rows} for mined in tables}
    return sum(_walks(name, keys[name], {name}, steps) for name in keys)


def joins(tables: Sequence[MinedTable]) -> list[str]:
    """Return the references between the tables, as 'child.column -> parent.key'."""
    return [
        f"{mined.table.name}.{column.name} -> {column.references}"
        for mined in tables
        for column in mined.table.columns
        if column.references
    ]


def _steps(tables: Sequence[MinedTable]) -> dict[str, list[tuple[str, Pairs]]]:
    """Return for each table where one reference leads, with the keys that it leads to by key, in both directions."""
    steps: dict[str, list[tuple[str, Pairs]]] = {mined.table.name: [] for mined in tables}
    for mined in tables:
        child = mined.table
        for column in child.columns:
            parent = column.references.partition(".")[0]
            if not parent or parent == child.name or parent not in steps:
                continue
            up: Pairs = {}
            down: Pairs = {}
            for row in mined.rows:
                if row[column.name] is not None:
                    up.setdefault(row[child.key], set()).add(row[column.name])
                    down.setdefault(row[column.name], set()).add(row[child.key])
            steps[child.name].append((parent, up))
            steps[parent].append((child.name, down))
    return steps


def _walks(name: str, rows: set[Scalar], visited: set[str], steps: dict[str, list[tuple[str, Pairs]]]) -> int:
    if len(visited) == LONGEST:
        return 0
    count = 0
    for target, pairs in steps[name]:
        if target in visited:
            continue
        reached = set().union(*(pairs[row] for row in rows & pairs.keys()))
        if reached:
            count += 1 + _walks(target, reached, visited | {target}, steps)
    return count
