"""Describe a source's table: types, roles, units, ranges, closed sets of values, its key and its label."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.base import Scalar
from schemas.database import Column, ColumnRole, ColumnType, Table
from schemas.environment import Rejection
from tasks.files.values import type_of
from tasks.mining.corpus.items import CorpusItem, RawTable, Record

MOST_CHOICES = 20
"""A text column with more distinct values than this is no category."""

_UNITS = {
    "minutes": "min", "hours": "h", "years": "years", "miles": "mi", "feet": "ft", "inches": "in", "percent": "%",
    "usd": "USD", "mph": "mph", "mps": "m/s", "fahrenheit": "°F", "celsius": "°C", "millibars": "mbar", "mm": "mm",
    "g": "g", "km": "km", "degrees": "°", "daltons": "Da", "tokens": "tokens", "pixels": "px", "euro": "per EUR",
    "thousands": "thousands", "cm3": "g/cm³", "million": "USD/million", "kg": "USD/kg", "person": "USD/person",
    "kb": "kB", "mb": "MB", "seconds": "s",
}  # fmt: skip
_NATURAL = {"latitude": (-90.0, 90.0), "longitude": (-180.0, 180.0), "percent": (0.0, 100.0)}
_IDENTIFIERS = {"id", "code", "key", "number", "fips", "zip", "identifier", "version", "year"}
_NAMES = {"name", "title", "label", "phrase", "identifier"}


@dataclass(frozen=True)
class Described:
    """An item's table as a schema, with the rows that fit it. `notes` are transforms made on the way."""

    item: CorpusItem
    table: Table
    records: tuple[Record, ...]
    rejections: tuple[Rejection, ...]
    notes: tuple[str, ...] = ()

    def values(self, column: str) -> list[Scalar]:
        """Return the values of a column, in row order, None included."""
        return [record[column] for _, record in self.records]


def describe(item: CorpusItem, raw: RawTable) -> Described:
    """Infer the schema of an item's table. Rows without a key of their own and empty columns are rejected, counted.

    Raises:
        ValueError: if no row is left.
    """
    records, rejections, notes = list(raw.records), [], []
    columns, dropped = _informative(raw, item.dataset.key)
    for name, why in dropped:
        rejections.append(_rejection(item, "uninformative_column", f"column {name} {why}"))
    key = item.dataset.key or _find_key([name for name in columns if name not in item.dataset.linked], records)
    if not key:
        key = f"{item.dataset.noun.replace(' ', '_')}_id"
        columns = [key, *columns]
        records = [(at, {key: f"{item.dataset.noun[:3]}-{n:05d}", **row}) for n, (at, row) in enumerate(records, 1)]
        notes.append(f"derive:{key} from the row's position")
    seen: set[Scalar] = set()
    kept = []
    for at, row in records:
        if row[key] is not None and row[key] not in seen:
            seen.add(row[key])
            kept.append((at, {name: row[name] for name in columns}))
    if len(kept) < len(records):
        without = sum(row[key] is None for _, row in records)
        counts = Counter(row[key] for _, row in records if row[key] is not None)
        repeated = [str(value) for value, count in counts.items() if count > 1]
        reason = f"{len(records) - len(kept)} of {len(records)} rows have no {key} of their own: {without} have none, "
        reason += f"{len(records) - len(kept) - without} repeat that of an earlier row"
        reason += f"; {some_of(repeated)}" if repeated else ""
        rejections.append(_rejection(item, "duplicate_key", reason))
    if not kept:
        raise ValueError(f"{item.item_id} has no row with a key")
    label = item.dataset.label or _find_label(columns, key, kept)
    described = [_column(item, name, [row[name] for _, row in kept], key, label) for name in columns]
    table = Table(
        name=item.dataset.table_name,
        noun=item.dataset.noun,
        nouns=item.dataset.nouns,
        description=item.dataset.description,
        key=key,
        label=label,
        columns=tuple(described),
        origin="mined",
        rows=len(kept),
    )
    return Described(item, table, tuple(kept), tuple(rejections), tuple(notes))


def some_of(values: Iterable[object]) -> str:
    """Return the first five values, for a message."""
    listed = [str(value)[:60] for value in values]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def _rejection(item: CorpusItem, gate: str, reason: str) -> Rejection:
    return Rejection(stage="mining", key=item.item_id, gate=gate, reason=reason)


def _informative(raw: RawTable, key: str) -> tuple[list[str], list[tuple[str, str]]]:
    kept, dropped = [], []
    for name in raw.columns:
        values = {row[name] for _, row in raw.records}
        if values == {None}:
            dropped.append((name, "is empty"))
        elif len(values) == 1 and len(raw.records) > 2 and name != key:
            dropped.append((name, f"has the one value {next(iter(values))!r} in every row"))
        else:
            kept.append(name)
    return kept, dropped


def _find_key(columns: Sequence[str], records: Sequence[Record]) -> str:
    unique = []
    for name in columns:
        values = [row[name] for _, row in records]
        whole = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if whole and len(set(values)) == len(values) and all(len(str(value)) <= 60 for value in values):
            unique.append(name)
    for name in unique:
        if set(name.split("_")) & (_IDENTIFIERS | _NAMES):
            return name
    return next((name for name in unique if type_of([row[name] for _, row in records]) == "string"), "")


def _find_label(columns: Sequence[str], key: str, records: Sequence[Record]) -> str:
    for name in columns:
        if set(name.split("_")) & _NAMES and name != key:
            values = [row[name] for _, row in records]
            known = [value for value in values if isinstance(value, str)]
            if len(known) == len(values) and len(set(known)) >= 0.9 * len(known):
                return name
    return key if set(key.split("_")) & {"name", "title"} else ""


def _column(item: CorpusItem, name: str, values: Sequence[Scalar], key: str, label: str) -> Column:
    known = [value for value in values if value is not None]
    kind = type_of(known)
    texts = sorted({str(value) for value in known})
    role = _role(name, kind, known, texts, key, label)
    numeric = kind in ("integer", "number") and role != "key"
    low, high = _range(name, known) if numeric else (None, None)
    described = item.dataset.columns.get(name, ("", ""))[1]
    return Column(
        name=name,
        type=kind,
        role=role,
        description=described or name.replace("_", " "),
        unit=item.dataset.units.get(name, _unit(name)) if numeric else "",
        nullable=len(known) < len(values) and name != key,
        unique=name == key or (role in ("label", "attribute") and len(set(known)) == len(values)),
        choices=tuple(texts) if role == "category" else (),
        minimum=low,
        maximum=high,
    )


def _role(
    name: str, kind: ColumnType, known: Sequence[Scalar], texts: Sequence[str], key: str, label: str
) -> ColumnRole:
    if name == key:
        return "key"
    if name == label:
        return "label"
    if kind in ("date", "datetime"):
        return "date"
    if kind == "boolean":
        return "flag"
    if kind in ("integer", "number"):
        return "attribute" if name.split("_")[-1] in _IDENTIFIERS else "measure"
    if len(texts) <= MOST_CHOICES and len(known) >= 3 * len(texts) and max(map(len, texts)) <= 40:
        return "category"
    return "text" if sum(map(len, texts)) > 50 * len(texts) else "attribute"


def _unit(name: str) -> str:
    if name.endswith("square_km"):
        return "km²"
    return _UNITS.get(name.split("_")[-1], "") if "_" in name else ""


def _range(name: str, known: Sequence[Scalar]) -> tuple[float, float]:
    """Return the bounds that every source value keeps: natural ones, else 0 or the least, and the greatest."""
    numbers = [float(value) for value in known if isinstance(value, int | float)]
    low, high = min(numbers), max(numbers)
    for part in name.split("_"):
        if part in _NATURAL and _NATURAL[part][0] <= low and high <= _NATURAL[part][1]:
            return _NATURAL[part]
    return (0.0 if low >= 0 and name.split("_")[-1] != "year" else float(math.floor(low)), high)
