"""Give mined records their final shape: references that hold, labels that tell rows apart, a schema that fits them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from schemas.base import Scalar
from schemas.database import Column, Table
from schemas.environment import Rejection
from tasks.mining.corpus.items import Record
from tasks.mining.extract import Described, some_of
from tasks.mining.findings import Findings
from tasks.mining.relations import hold
from tasks.mining.selection import References


def whole(
    described: Described, references: Mapping[str, str], tables: Mapping[str, Described], found: Findings
) -> Described:
    """Return a table whose references all hold, over its whole source; what breaks is counted."""
    found.rejections.extend(described.rejections)
    links = []
    for column, parent in references.items():
        keys = set(tables[parent].values(tables[parent].table.key))
        links.append((column, described.table.column(column).nullable, keys))
    targets = [(column, keys) for column, _, keys in links]
    records, broken = hold(described.records, links)
    for column, count in broken.items():
        done = "set to nothing" if described.table.column(column).nullable else "left out"
        lost = dict.fromkeys(
            str(v) for v in described.values(column) if v is not None and v not in dict(targets)[column]
        )
        reason = f"{count} rows refer by {column} to no {references[column]} that is known: {done}; {some_of(lost)}"
        key = described.item.item_id
        found.rejections.append(Rejection(stage="mining", key=key, gate="broken_reference", reason=reason))
    return Described(described.item, described.table, tuple(records), (), described.notes)


def labelled(described: Described, records: list[Record], is_parent: bool, found: Findings) -> tuple[list[Record], str]:
    """Make labels unique: rows that others refer to get their key behind the label, others are left out."""
    label, key = described.table.label, described.table.key
    if not label or label == key:
        return records, ""
    counts = Counter(row[label] for _, row in records)
    repeated = {value for value, count in counts.items() if count > 1 and value is not None}
    if not repeated:
        return records, ""
    item, changed = described.item.item_id, sum(counts[value] for value in repeated)
    if is_parent:
        records = [
            (at, {**row, label: f"{row[label]} ({row[key]})"} if row[label] in repeated else row) for at, row in records
        ]
        return records, f"key added to {label} of {changed} rows that shared one"
    seen: set[Scalar] = set()
    kept = []
    for at, row in records:
        if row[label] not in seen:
            seen.add(row[label])
            kept.append((at, row))
    reason = f"{len(records) - len(kept)} rows share their {label} with an earlier row; {some_of(repeated)}"
    found.rejections.append(Rejection(stage="mining", key=item, gate="duplicate_label", reason=reason))
    return kept, f"{len(records) - len(kept)} rows with a repeated {label} left out"


def schema_of(
    described: Described, records: list[Record], references: References | dict[str, str], tables: dict[str, Described]
) -> Table:
    """Return the table's schema for the kept rows: references named, nullability and choices as they now are."""
    columns: list[Column] = []
    for column in described.table.columns:
        update: dict[str, Any] = {}
        parent = references.get(column.name)
        if isinstance(parent, str):
            other = tables[parent].table
            update = {
                "role": "reference", "references": f"{other.name}.{other.key}", "choices": (), "minimum": None,
                "maximum": None, "unit": "", "unique": False,
            }  # fmt: skip
        if column.name == described.table.label:
            update["unique"] = True
        if any(row[column.name] is None for _, row in records):
            update["nullable"] = True
        columns.append(column.model_copy(update=update))
    return described.table.model_copy(update={"columns": tuple(columns), "rows": len(records)})
