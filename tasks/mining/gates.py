"""Checks of what a researcher brought home; what fails is left out with a reason."""

from __future__ import annotations

from dataclasses import replace

from schemas.environment import Rejection
from tasks.mining.findings import Findings, MinedTable
from tasks.mining.world import rejection

MOST_BROKEN = 0.5
"""A table that loses a larger share of its rows to broken references is left out as a whole."""


def sound(findings: Findings) -> tuple[list[MinedTable], list[Rejection]]:
    """Return the tables that can stand in a world, and why others, or rows of them, cannot.

    An empty table, one without a known source and one with double keys are left out; then rows whose references
    lead nowhere, until all references hold. A reference to a table that is not there becomes an attribute.
    """
    rejections: list[Rejection] = []
    known = {source.source_id for source in findings.sources}
    kept: list[MinedTable] = []
    for mined in findings.tables:
        reason = _unusable(mined, known)
        if reason:
            rejections.append(rejection(f"{findings.theme_id}/{mined.table.name}", reason[0], reason[1]))
        else:
            kept.append(mined)
    while True:
        changed = False
        for place, mined in enumerate(kept):
            whole, broken = _whole_rows(_without_lost_references(mined, kept), kept)
            if not broken:
                kept[place] = whole
                continue
            changed = True
            total = len(mined.rows)
            reason_text = f"{broken} of {total} rows refer to rows that are not there; the source needs its parents too"
            rejections.append(rejection(f"{findings.theme_id}/{mined.table.name}", "broken_reference", reason_text))
            if broken > MOST_BROKEN * total:
                kept.remove(mined)
            else:
                kept[place] = whole
            break
        if not changed:
            return kept, rejections


def _unusable(mined: MinedTable, known: set[str]) -> tuple[str, str] | None:
    table = mined.table
    if not mined.rows:
        return "empty_table", f"table {table.name} has no rows"
    if mined.source_id not in known:
        return "no_source", f"table {table.name} names the source {mined.source_id!r}, which the findings do not list"
    names = {column.name for column in table.columns}
    if table.key not in names:
        return "no_key", f"table {table.name} has no column {table.key!r}, which should be its key"
    if len({row.get(table.key) for row in mined.rows} - {None}) < len(mined.rows):
        return "duplicate_key", f"table {table.name} has rows without a {table.key} of their own"
    return None


def _without_lost_references(mined: MinedTable, kept: list[MinedTable]) -> MinedTable:
    present = {f"{other.table.name}.{other.table.key}" for other in kept}
    columns = tuple(
        column
        if not column.references or column.references in present
        else column.model_copy(update={"references": "", "role": "attribute"})
        for column in mined.table.columns
    )
    return replace(mined, table=mined.table.model_copy(update={"columns": columns}))


def _whole_rows(mined: MinedTable, kept: list[MinedTable]) -> tuple[MinedTable, int]:
    keys = {
        column.name: {row[column.references.partition(".")[2]] for row in other.rows}
        for column in mined.table.columns
        for other in kept
        if other.table.name == column.references.partition(".")[0]
    }
    whole = [
        (row, locator)
        for row, locator in zip(mined.rows, mined.locators, strict=True)
        if all(row.get(name) is None or row[name] in there for name, there in keys.items())
    ]
    return with_rows(mined, whole), len(mined.rows) - len(whole)


def with_rows(mined: MinedTable, rows: list[tuple[dict, str]], transform: str = "") -> MinedTable:
    """Return a mined table with other rows, given with their locators."""
    return MinedTable(
        mined.table.model_copy(update={"rows": len(rows)}),
        [row for row, _ in rows],
        mined.source_id,
        [locator for _, locator in rows],
        "; ".join(part for part in (mined.transform, transform) if part),
    )
