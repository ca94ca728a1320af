"""Small loader combinators: derive records from another loader's records, never adding a value the source lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from schemas.base import content_hash
from tasks.mining.corpus.items import Loader, Record

Values = dict[str, Any]


def remembered(loader: Loader) -> Loader:
    """Return a loader that keeps its last records, for data sets that several tables are derived from."""
    kept: dict[str, list[Record]] = {}

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        key = content_hash({name: content_hash(raw) for name, raw in files.items()})
        if key not in kept:
            kept.clear()
            kept[key] = list(loader(files))
        yield from kept[key]

    return load


def mapped(loader: Loader, change: Callable[[Values], Values | None]) -> Loader:
    """Return a loader that passes each record through `change`; None leaves the record out (a filter)."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        for locator, values in loader(files):
            changed = change(values)
            if changed is not None:
                yield locator, changed

    return load


def numbered(loader: Loader, name: str, of: Callable[[Values], str]) -> Loader:
    """Return a loader that adds a key column `name` = `of(record)`, with -2, -3 ... where it repeats."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        seen: dict[str, int] = {}
        for locator, values in loader(files):
            key = of(values)
            seen[key] = seen.get(key, 0) + 1
            yield locator, {name: key if seen[key] == 1 else f"{key}-{seen[key]}", **values}

    return load


def grouped(loader: Loader, by: Callable[[Values], Any], summarise: Callable[[Any, list[Values]], Values]) -> Loader:
    """Return a loader of one record a group; the locator names the group's first record and size."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        groups: dict[Any, list[Record]] = {}
        for record in loader(files):
            group = by(record[1])
            if group not in (None, ""):
                groups.setdefault(group, []).append(record)
        for group in sorted(groups):
            members = groups[group]
            yield f"{members[0][0]} and {len(members) - 1} more", summarise(group, [values for _, values in members])

    return load


def exploded(loader: Loader, expand: Callable[[Values], Iterator[Values] | list[Values]]) -> Loader:
    """Return a loader of the records that `expand` makes of each record (a list inside it, for example)."""

    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        for locator, values in loader(files):
            for index, part in enumerate(expand(values)):
                yield f"{locator}[{index}]", part

    return load
