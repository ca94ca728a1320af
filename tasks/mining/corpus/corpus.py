"""The corpus: search, open and extract over the data of installed packages and of the user's own folders."""

from __future__ import annotations

import csv
import functools
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.base import content_hash
from schemas.environment import Rejection
from tasks.files.values import type_of, typed_column
from tasks.mining.corpus.catalogue import DATASETS
from tasks.mining.corpus.folder import FOLDER, base_of, folder_items
from tasks.mining.corpus.items import ColumnProfile, CorpusItem, Dataset, Profile, RawTable, Record
from tasks.mining.corpus.locate import MissingFiles, locate, source_of
from tasks.mining.corpus.packages import PACKAGES
from tasks.retrieval.bm25 import Index, words

_UNREADABLE = (
    ValueError, LookupError, TypeError, AttributeError, SyntaxError, ArithmeticError, RuntimeError, OSError, EOFError,
    ImportError, csv.Error, sqlite3.Error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
_SAMPLE = 40


class Corpus:
    """Items with their tables, an index over them, and one rejection for each item that cannot be had."""

    def __init__(self, items: Sequence[tuple[CorpusItem, dict[str, Path]]]) -> None:
        self.items: list[CorpusItem] = []
        self.rejections: list[Rejection] = []
        self._tables: dict[str, RawTable] = {}
        self._index = Index()
        for item, files in items:
            self._add(item, files)

    def item(self, item_id: str) -> CorpusItem:
        """Return the item of that id.

        Raises:
            KeyError: if the corpus has none.
        """
        for item in self.items:
            if item.item_id == item_id:
                return item
        raise KeyError(f"the corpus has no item {item_id!r}")

    def search(self, query: Sequence[str] | str, k: int = 10) -> list[tuple[CorpusItem, float]]:
        """Return the k best items for a query with their BM25 scores, the best first."""
        text = query if isinstance(query, str) else " ".join(query)
        return [(self.item(name), score) for name, score in self._index.search(words(text), k)]

    def match(self, query: str, score: float) -> float:
        """Return which share, 0 to 1, of a perfect match for the query a score is."""
        ideal = self._index.ideal(words(query))
        return score / ideal if ideal else 0.0

    def open(self, item_id: str) -> Profile:
        """Return what columns and how many rows an item has.

        Raises:
            KeyError: if the corpus has no such item.
        """
        table = self.extract(item_id)
        columns = []
        for name in table.columns:
            values = [record[name] for _, record in table.records]
            known = [value for value in values if value is not None]
            distinct = sorted({str(value) for value in known})
            columns.append(
                ColumnProfile(name, type_of(known), len(distinct), len(values) - len(known), tuple(distinct[:3]))
            )
        return Profile(item_id, len(table.records), tuple(columns))

    def extract(self, item_id: str) -> RawTable:
        """Return all records of an item, typed, under our column names.

        Raises:
            KeyError: if the corpus has no such item.
        """
        if item_id not in self._tables:
            raise KeyError(f"the corpus has no item {item_id!r}")
        return self._tables[item_id]

    def _extend(self, extra_paths: Sequence[str | Path]) -> None:
        for extra in extra_paths:
            items, rejections = folder_items(Path(extra))
            self.rejections += rejections
            for item in items:
                path = base_of(Path(extra)) / item.dataset.path
                self._add(item, {path.name: path})

    def _add(self, item: CorpusItem, files: dict[str, Path]) -> None:
        try:
            table = read_table(item, {name: path.read_bytes() for name, path in files.items()})
        except _UNREADABLE as error:
            key, reason = item.item_id, f"{item.source.uri} {error}: it is not read; reinstall {item.package}"
            if item.package == FOLDER:
                key = str(next(iter(files.values())))
                reason = f"{key} {error}: it is not read; correct or remove it"
            self.rejections.append(Rejection(stage="mining", key=key, gate="unreadable_item", reason=reason))
            return
        self.items.append(item)
        self._tables[item.item_id] = table
        values = [str(record[name]) for _, record in table.records[:_SAMPLE] for name in table.columns]
        self._index.add(
            item.item_id,
            (
                (4.0, words(f"{item.title} {item.dataset.nouns}")),
                (3.0, [word for topic in item.topics for word in words(topic)]),
                (1.5, words(item.description)),
                (1.0, words(" ".join(table.columns))),
                (0.1, words(" ".join(values))),
            ),
        )


def read_table(item: CorpusItem, files: dict[str, bytes]) -> RawTable:
    """Read an item's records, rename its columns, and type each column.

    Raises:
        ValueError: if the content is not what the data set expects.
    """
    dataset = item.dataset
    records = list(dataset.load(files))
    if not records:
        raise ValueError("holds no records")
    renaming = _renaming(dataset, records)
    for source in renaming.values():
        if not any(source in values for _, values in records[:50]):
            raise ValueError(f"has no column {source!r} any more")
    columns: dict[str, list[Any]] = {}
    for ours, source in renaming.items():
        columns[ours] = typed_column(ours, [values.get(source) for _, values in records], dataset.missing)
    rows = [
        (locator, dict(zip(columns, row, strict=True)))
        for (locator, _), row in zip(records, zip(*columns.values(), strict=True), strict=True)
    ]
    return RawTable(item.item_id, tuple(columns), rows)


def _renaming(dataset: Dataset, records: list[Record]) -> dict[str, str]:
    if dataset.columns:
        return {ours: source for ours, (source, _) in dataset.columns.items()}
    seen: dict[str, str] = {}
    known: set[str] = set()
    for _, values in records:
        for source in values:
            if source not in known and not source.startswith("_"):
                known.add(source)
                name = re.sub(r"\W+", "_", re.sub(r"([a-z])([A-Z])", r"\1_\2", source)).strip("_").lower()
                name = f"n_{name}" if name[:1].isdigit() else name or "column"
                same = sum(other == name or other.startswith(f"{name}_again") for other in seen)
                seen[f"{name}_again{same}" if same else name] = source
    return seen


def open_corpus(extra_paths: Sequence[str | Path] = ()) -> Corpus:
    """Open everything that installed packages carry, and the user's folders.

    Nothing here raises for a bad file or a missing package: see `Corpus.rejections`. The part from packages is read
    once a process.
    """
    corpus = Corpus.__new__(Corpus)
    packaged = _packaged()
    corpus.items = list(packaged.items)
    corpus.rejections = list(packaged.rejections)
    corpus._tables = dict(packaged._tables)
    corpus._index = packaged._index.copy()
    corpus._extend(extra_paths)
    return corpus


def refused_files(extra_paths: Sequence[str | Path]) -> list[Rejection]:
    """Return one rejection for each of the user's files and folders that `open_corpus` cannot use, in path order."""
    corpus = Corpus(())
    corpus._extend(extra_paths)
    found = {(rejection.key, rejection.reason): rejection for rejection in corpus.rejections}
    return [found[key] for key in sorted(found)]


def corpus_fingerprint(extra_paths: Sequence[str | Path] = ()) -> str:
    """Return the hash of all data that `open_corpus` would find, without parsing it."""
    parts: list[list[str]] = []
    for dataset in DATASETS:
        try:
            parts.append([dataset.package, dataset.name, _resolve(dataset)[0].source.sha256])
        except (MissingFiles, OSError):
            parts.append([dataset.package, dataset.name, ""])
    for extra in extra_paths:
        items, rejections = folder_items(Path(extra))
        parts += [[item.item_id, item.source.sha256] for item in items]
        parts += [[rejection.key, rejection.gate] for rejection in rejections]
    return content_hash(parts)


@functools.lru_cache(maxsize=1)
def _packaged() -> Corpus:
    found: list[tuple[CorpusItem, dict[str, Path]]] = []
    missing: list[Rejection] = []
    for dataset in DATASETS:
        try:
            found.append(_resolve(dataset))
        except (MissingFiles, OSError) as error:
            key = f"{dataset.package}/{dataset.name}"
            missing.append(Rejection(stage="mining", key=key, gate="missing_package", reason=str(error)))
    corpus = Corpus(found)
    corpus.rejections = missing + corpus.rejections
    return corpus


def _resolve(dataset: Dataset) -> tuple[CorpusItem, dict[str, Path]]:
    package = PACKAGES[dataset.package]
    version, files = locate(dataset.package, dataset.path, dataset.keep)
    source = source_of(dataset.package, version, dataset.path, files, package.data_licence, dataset.title)
    item = CorpusItem(
        item_id=f"{dataset.package}/{dataset.name}",
        title=dataset.title,
        description=dataset.description,
        package=dataset.package,
        version=version,
        licence=package.data_licence,
        path=dataset.path,
        format=dataset.path.rsplit(".", 1)[-1] if "." in dataset.path else "files",
        topics=dataset.topics,
        source=source,
        dataset=dataset,
    )
    return item, files
