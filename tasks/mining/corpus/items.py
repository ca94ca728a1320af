"""What a corpus is made of: data sets as they are declared, items as they are found, tables as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.environment import Rejection
from schemas.theme import Source

Record = tuple[str, dict[str, Any]]
"""A locator (where in the source the record stands) and the record's values by column."""

Loader = Callable[[Mapping[str, bytes]], Iterator[Record]]
"""Turns a source's files (path -> bytes) into records. Raises ValueError for content that it cannot read."""


@dataclass(frozen=True)
class Paper:
    """A text that a source holds as a whole, such as an article; `locator` says where."""

    name: str
    media_type: str
    title: str
    content: str
    locator: str


@dataclass(frozen=True)
class Package:
    """A distribution whose data is used. `licence` is the package's, `data_licence` that of the data inside (SPDX)."""

    name: str
    licence: str
    data_licence: str
    holds: str
    attribution: str = ""


@dataclass(frozen=True)
class Dataset:
    """One table that a package carries, and how to read it.

    `columns` maps our column name to (the source's name, description); only these are kept, in this order, so this is
    the documented renaming of cryptic columns. Empty keeps every column under a snake case form of its own name.
    `key` and `label` are our names; '' lets the extractor look for them. `path` may be a glob inside the
    package; `keep` then says which of the paths are wanted. `papers` finds whole texts in the same files.
    `linked` are columns that refer to other tables: none of them is taken as key where none is named.
    """

    name: str
    package: str
    path: str
    load: Loader
    title: str
    description: str
    topics: tuple[str, ...]
    noun: str
    nouns: str
    key: str = ""
    label: str = ""
    columns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset({""})
    linked: frozenset[str] = frozenset()
    transform: str = "extract"
    keep: Callable[[str], bool] | None = None
    papers: Callable[[Mapping[str, bytes]], Iterator[Paper]] | None = None

    @property
    def table_name(self) -> str:
        """The table's name: the plural noun in snake case."""
        return self.nouns.replace(" ", "_").replace("-", "_")


@dataclass(frozen=True)
class CorpusItem:
    """A data set that is really there, with its provenance. `path` is relative to the package or the user's folder."""

    item_id: str
    title: str
    description: str
    package: str
    version: str
    licence: str
    path: str
    format: str
    topics: tuple[str, ...]
    source: Source
    dataset: Dataset


@dataclass(frozen=True)
class RawTable:
    """Records of one item under our column names, values still as the source has them (text or JSON scalars)."""

    item_id: str
    columns: tuple[str, ...]
    records: list[Record]
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True)
class ColumnProfile:
    """What opening an item tells about one column."""

    name: str
    type: str
    distinct: int
    missing: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Profile:
    """What opening an item tells before anything is taken from it."""

    item_id: str
    rows: int
    columns: tuple[ColumnProfile, ...]
