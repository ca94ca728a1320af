"""Which rows prompts show: few that differ in what rules turn on, and that belong together. No chance is in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from schemas.database import Column, Database, Table
from tasks.coding.snapshot import State

OWN_ROWS, MOST_ROWS = 5, 9
"""Rows of a table that are chosen for what they hold, and with those that other shown rows refer to."""
MOST_VALUES = 8
"""Of a longer closed list not every value is worth a row."""

Row = dict[str, Any]


def sample_rows(database: Database, state: State, tables: Collection[str]) -> dict[str, list[Row]]:
    """Return table -> rows of it, by key, for the tables that have rows.

    Tables that refer to others come first: a row is taken for each value of a closed list, its own or of a row that it
    refers to, and for each reference and nullable column a row with a value and one without; one row may stand for
    many. Then the rows that these refer to are taken, and the same goes on from there.
    """
    shown = [table for table in database.tables if table.name in tables and state[table.name]]
    chosen: dict[str, dict[Any, Row]] = {table.name: {} for table in shown}
    for table in _referring_first(shown):
        _choose(database, state, table, chosen[table.name])
        for row in list(chosen[table.name].values()):
            for column, other in _behind(database, state, table, row):
                there = chosen.get(column.references.partition(".")[0])
                key = other[database.table(column.references.partition(".")[0]).key]
                if there is not None and len(there) < MOST_ROWS:
                    there[key] = other
    return {name: [state[name][key] for key in state[name] if key in rows] for name, rows in chosen.items()}


def _referring_first(tables: list[Table]) -> list[Table]:
    """Return each table behind those that refer to it; a circle is broken at the table that comes first."""
    left, order = list(tables), []
    while left:
        referred = {
            c.references.partition(".")[0] for t in left for c in t.columns if c.references.partition(".")[0] != t.name
        }
        table = next((t for t in left if t.name not in referred), left[0])
        order.append(table)
        left.remove(table)
    return order


def _choose(database: Database, state: State, table: Table, rows: dict[Any, Row]) -> None:
    """Add rows until all that occurs is shown, or enough rows are; each time the first with most that is new."""
    kinds: dict[frozenset[tuple[str, Any]], Row] = {}
    for row in state[table.name].values():
        kinds.setdefault(frozenset(_traits(database, state, table, row)), row)
    seen = {trait for row in rows.values() for trait in _traits(database, state, table, row)}
    while len(rows) < MOST_ROWS:
        traits, row = max(kinds.items(), key=lambda item: len(item[0] - seen))
        if len(rows) >= OWN_ROWS and not any(name in _closed(table) for name, _ in traits - seen):
            break
        if not traits - seen:
            break
        seen |= traits
        rows[row[table.key]] = row
    for row in state[table.name].values():
        if len(rows) >= min(OWN_ROWS, 3):
            break
        rows.setdefault(row[table.key], row)


def _traits(database: Database, state: State, table: Table, row: Row) -> Iterator[tuple[str, Any]]:
    closed = _closed(table)
    for column in table.columns:
        if column.nullable:
            yield f"{column.name}?", row[column.name] is None
        if column.name in closed:
            yield column.name, row[column.name]
    for column, other in _behind(database, state, table, row):
        for name in _closed(database.table(column.references.partition(".")[0])):
            yield f"{column.name}.{name}", other[name]


def _behind(database: Database, state: State, table: Table, row: Row) -> Iterator[tuple[Column, Row]]:
    """Yield the references of a row that are set, with the rows behind them."""
    for column in table.columns:
        if column.references and row[column.name] is not None:
            name, _, key = column.references.partition(".")
            other = state[name].get(row[column.name]) if key == database.table(name).key else None
            if other is not None:
                yield column, other


def _closed(table: Table) -> frozenset[str]:
    return frozenset(
        column.name for column in table.columns
        if column.type == "boolean" or column.role == "status" or 0 < len(column.choices) <= MOST_VALUES
    )  # fmt: skip
