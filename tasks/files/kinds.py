"""What a file is: by its content first, then by its name, then by what a server said. Contradictions are errors."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Literal

from tasks.files.errors import FileError
from tasks.files.text import decode, looks_binary

Kind = Literal["csv", "tsv", "json", "ndjson", "xlsx", "xml", "html", "sqlite", "sql", "parquet", "pdf", "zip", "gzip",
               "text"]  # fmt: skip

_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"%PDF-", "pdf"), (b"SQLite format 3\x00", "sqlite"), (b"PAR1", "parquet"), (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"),
)  # fmt: skip
_ENDINGS: dict[str, Kind] = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "json": "json", "geojson": "json", "ndjson": "ndjson", "jsonl": "ndjson",
    "xlsx": "xlsx", "xlsm": "xlsx", "xml": "xml", "rdf": "xml", "html": "html", "htm": "html", "xhtml": "html",
    "sqlite": "sqlite", "sqlite3": "sqlite", "db": "sqlite", "sql": "sql", "parquet": "parquet", "pdf": "pdf",
    "zip": "zip", "gz": "gzip", "txt": "text", "md": "text", "rst": "text", "markdown": "text",
}  # fmt: skip
_TYPES: dict[str, Kind] = {
    "text/csv": "csv", "text/tab-separated-values": "tsv", "application/json": "json", "application/geo+json": "json",
    "application/x-ndjson": "ndjson", "application/jsonl": "ndjson", "application/xml": "xml", "text/xml": "xml",
    "application/sql": "sql", "application/x-sql": "sql",
}  # fmt: skip
_BINARY = frozenset(("xlsx", "sqlite", "parquet", "pdf", "zip", "gzip"))
_ARTICLE = {"sqlite": "a SQLite database", "xlsx": "an Excel workbook", "pdf": "a PDF", "parquet": "a Parquet file",
            "zip": "a zip archive", "gzip": "a gzip file", "html": "an HTML page"}  # fmt: skip

DATA_ENDINGS = frozenset(_ENDINGS) - {"html", "htm", "xhtml"}
"""Endings of names, without the dot, that `read_file` knows and that are no web pages."""


def kind_of(data: bytes, name: str, media_type: str = "") -> Kind:
    """Return what a file is.

    Raises:
        FileError: if it is empty, if its content is not what its name says, or if nothing here reads it.
    """
    if not data.strip():
        raise FileError(name, "is empty")
    ending = _ENDINGS.get(name.lower().rpartition(".")[2]) if "." in name else None
    content = _by_content(data)
    if content in _BINARY:
        if ending not in (None, content) and not (content == "zip" and ending == "xlsx"):
            raise FileError(name, f"is not what its name says: it holds {_ARTICLE[content]}")
        if content == "zip" and ending == "xlsx":
            raise FileError(name, "is not what its name says: it is a zip archive without an Excel workbook")
        return content
    if ending in _BINARY:
        held = _ARTICLE.get(content or "", "something else")
        raise FileError(name, f"is not what its name says: it is no {_ARTICLE[ending].split(' ', 1)[1]} but {held}")
    if looks_binary(data):
        raise FileError(name, "is of an unknown binary kind, which is not read")
    if content == "html" and ending not in (None, "html", "xml", "text"):
        raise FileError(name, "is not what its name says: it holds an HTML page, perhaps an error page of its server")
    return ending or content or _TYPES.get(media_type) or _by_text(data)


def _by_content(data: bytes) -> Kind | None:
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return "xlsx" if kind == "zip" and _is_workbook(data) else kind
    if b"%PDF-" in data[:1024]:
        return "pdf"
    head = decode(data[:4096])[0].lstrip().lower()
    if re.match(r"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype html|<html|<head|<body|<table)", head, re.DOTALL):
        return "html"
    return "xml" if head.startswith("<?xml") else None


def _is_workbook(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _by_text(data: bytes) -> Kind:
    text = decode(data[: 64 * 1024])[0].lstrip()
    if re.match(r"[\[{]", text):
        lines = [line for line in text.splitlines()[:3] if line.strip()]
        whole = all(line.rstrip().startswith("{") and line.rstrip().endswith("}") for line in lines)
        return "ndjson" if len(lines) > 1 and whole else "json"
    if re.search(r"(?im)^\s*(create table|insert into)\b", text):
        return "sql"
    return "text"
