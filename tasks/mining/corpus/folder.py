"""Items out of a user's folder of csv, tsv, json, ndjson, xml and sqlite files."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from schemas.base import content_hash
from schemas.environment import Rejection
from tasks.mining.corpus.formats import only, sqlite_table, text_of
from tasks.mining.corpus.items import CorpusItem, Dataset, Loader, Record
from tasks.mining.corpus.locate import make_source
from tasks.retrieval.bm25 import words

FOLDER = "folder"
"""What stands for the package of an item that is a file of the user's own."""

LARGEST_BYTES = 64 * 2**20
"""Larger files are refused: a world is small, so such a file is better cut down first."""

_UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, RuntimeError, sqlite3.Error,
    zipfile.BadZipFile, zlib.error, ElementTree.ParseError, csv.Error,
)  # fmt: skip

SUFFIXES = (".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".xml", ".sqlite", ".db", ".zip")


def folder_items(root: Path) -> tuple[list[CorpusItem], list[Rejection]]:
    """Return the items that the files below `root` (or itself, if it is a file) hold, and one rejection for each file
    that holds none."""
    if not root.exists():
        return [], [_rejected(root, "no_folder", f"{root} is no file and no folder that can be read: check the path")]
    items: list[CorpusItem] = []
    rejections: list[Rejection] = []
    for path in [root] if root.is_file() else _files_below(root):
        try:
            items += _file_items(base_of(root), path)
        except _UNREADABLE as error:
            rejections.append(_rejected(path, "unreadable_file", f"{path} {_why(error)}"))
    if not items and not rejections:
        reason = f"{root} holds no files: known endings are {', '.join(SUFFIXES)}"
        rejections.append(_rejected(root, "no_files", reason))
    return items, rejections


def base_of(root: Path) -> Path:
    """Return the folder that the paths of a root's items start from: itself, or the folder that a file is in."""
    return root.parent if root.is_file() else root


def _files_below(root: Path) -> list[Path]:
    """Return the files below a folder and the links that lead nowhere, without the hidden ones."""
    found = (path for path in root.rglob("*") if not path.name.startswith("."))
    return sorted(path for path in found if path.is_file() or (path.is_symlink() and not path.exists()))


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON ({error.msg} at line {error.lineno}): correct or remove it"
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror}): check it and its permissions"
    if isinstance(error, RecursionError):
        return "is nested too deeply: flatten it"
    if isinstance(error, sqlite3.Error | zipfile.BadZipFile | ElementTree.ParseError):
        return f"is not what its name says ({error}): correct or remove it"
    return f"{error}" if ": " in str(error) else f"{error}: correct or remove it"


def _rejected(path: Path, gate: str, reason: str) -> Rejection:
    return Rejection(stage="mining", key=str(path), gate=gate, reason=reason)


def _file_items(root: Path, path: Path) -> list[CorpusItem]:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"has no known ending: known are {', '.join(SUFFIXES)}")
    size = path.stat().st_size
    if size == 0:
        raise ValueError("is empty: remove it or fill it")
    if size > LARGEST_BYTES:
        raise ValueError(f"has {size >> 20} MiB, more than {LARGEST_BYTES >> 20}: cut it down first")
    raw = path.read_bytes()
    loaders = _loaders(path.name, suffix, raw)
    items = []
    for part, loader in loaders.items():
        if sum(1 for _ in loader({path.name: raw})) == 0:  # reads all of it: a late line may be broken
            raise ValueError("holds a header but no rows" if suffix in (".csv", ".tsv") else "holds no records")
        items.append(_item(root, path, part, loader, raw))
    return items


def _loaders(name: str, suffix: str, raw: bytes) -> dict[str, Loader]:
    if suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(info.file_size for info in archive.infolist()) > LARGEST_BYTES:
                raise ValueError(f"unpacks to more than {LARGEST_BYTES >> 20} MiB: cut it down first")
            inner = [info.filename for info in archive.infolist() if not info.is_dir()]
        suffix = Path(inner[0]).suffix.lower() if inner else ""
    if suffix in (".sqlite", ".db"):
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(raw)
            names = [
                row[0]
                for row in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
                )
            ]
        finally:
            connection.close()
        if not names:
            raise ValueError("is a database without tables")
        return {table: sqlite_table(table) for table in names}
    if suffix in (".csv", ".tsv"):
        return {"": _strict_delimited("\t" if suffix == ".tsv" else ",")}
    if suffix == ".xml":
        return {"": _xml_records}
    return {"": _lines if suffix in (".ndjson", ".jsonl") else _json_any}


def _strict_delimited(delimiter: str) -> Loader:
    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        reader = csv.reader(text_of(only(files)).splitlines(), delimiter=delimiter)
        header = [column.strip() for column in next(reader, [])]
        if not any(header):
            raise ValueError("is empty: a header line and rows are expected")
        repeated = [column for column, count in Counter(header).items() if count > 1]
        if repeated:
            raise ValueError(f"names the column {repeated[0]!r} twice: give each its own name")
        for number, row in enumerate(reader, start=2):
            if not row:
                continue
            if len(row) != len(header):
                raise ValueError(f"has {len(row)} values in line {number} under {len(header)} columns: mend that line")
            yield f"line {number}", dict(zip(header, row, strict=True))

    return load


def _json_any(files: Mapping[str, bytes]) -> Iterator[Record]:
    value = json.loads(text_of(only(files)))
    where = "$"
    if isinstance(value, dict) and not all(isinstance(entry, dict) for entry in value.values()):
        lists = {key: entry for key, entry in value.items() if isinstance(entry, list)}
        if len(lists) != 1:
            raise ValueError("holds neither a list of objects nor an object with one such list")
        key, value = next(iter(lists.items()))
        where = f"$.{key}"
    pairs = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value if isinstance(value, list) else []))
    )
    if not pairs or not all(isinstance(entry, dict) for _, entry in pairs):
        raise ValueError("holds neither a list of objects nor an object with one such list")
    for index, entry in pairs:
        yield f"{where}[{index}]", _scalars(entry)


def _lines(files: Mapping[str, bytes]) -> Iterator[Record]:
    for number, line in enumerate(text_of(only(files)).splitlines(), start=1):
        if line.strip():
            entry = json.loads(line)
            if not isinstance(entry, dict):
                raise ValueError(f"holds no object in line {number}: one JSON object a line is expected")
            yield f"line {number}", _scalars(entry)


def _xml_records(files: Mapping[str, bytes]) -> Iterator[Record]:
    text = text_of(only(files))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("declares a document type, which is not read: remove the declaration")
    root = ElementTree.fromstring(text)
    for index, child in enumerate(root):
        values = {**child.attrib, **{inner.tag: (inner.text or "").strip() for inner in child if not len(inner)}}
        if values:
            yield f"/{root.tag}/{child.tag}[{index + 1}]", dict(values)


def _scalars(entry: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in entry.items() if value is None or isinstance(value, str | int | float | bool)}


def _item(root: Path, path: Path, part: str, loader: Loader, raw: bytes) -> CorpusItem:
    relative = path.relative_to(root).as_posix()
    stem = re.sub(r"\W+", "_", part or path.stem).strip("_").lower() or "records"
    title = stem.replace("_", " ")
    source = make_source(
        f"{path.resolve().as_uri()}#{part}" if part else path.resolve().as_uri(),
        "",
        content_hash(raw),
        path.stat().st_mtime,
        "LicenseRef-user-supplied",
        title,
    )
    dataset = Dataset(
        name=stem,
        package=FOLDER,
        path=relative,
        load=loader,
        title=title,
        description=f"Records of the file {relative}.",
        topics=tuple(words(f"{title} {root.name}")),
        noun=words(title)[-1] if words(title) else title,
        nouns=title,
        missing=frozenset({"", "NA", "N/A", "null", "NULL"}),
    )
    return CorpusItem(
        item_id=f"folder/{root.name}/{relative}{'#' + part if part else ''}",
        title=title,
        description=dataset.description,
        package=FOLDER,
        version="",
        licence=source.licence,
        path=relative,
        format=path.suffix.lower().lstrip("."),
        topics=dataset.topics,
        source=source,
        dataset=dataset,
    )
