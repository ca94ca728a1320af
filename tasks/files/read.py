"""Read a file of any known kind into tables and text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tasks.files.archive import members, ungzip
from tasks.files.delimited import read_delimited
from tasks.files.errors import FileError
from tasks.files.html import parse_html, texts
from tasks.files.html_tables import html_tables
from tasks.files.json_file import read_json, read_lines
from tasks.files.kinds import Kind, kind_of
from tasks.files.parquet import read_parquet
from tasks.files.pdf import read_pdf
from tasks.files.sql_dump import read_sql
from tasks.files.sqlite_file import read_sqlite
from tasks.files.table import FileLimits, FileTable
from tasks.files.text import decode, plain
from tasks.files.xlsx import read_xlsx
from tasks.files.xml_file import read_xml


@dataclass(frozen=True)
class FileContent:
    """What a file holds. `text` is set for texts, web pages and PDFs; `notes` say what was not read, and why."""

    kind: Kind
    tables: tuple[FileTable, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = field(default=())


def read_file(
    data: bytes, name: str, *, media_type: str = "", charset: str = "", limits: FileLimits | None = None
) -> FileContent:
    """Read a file: csv, tsv, json, ndjson, xlsx, xml, html, sqlite, SQL dump, parquet, pdf, text; zip or gzip of these.

    `media_type` and `charset` are what a server said of it; a table in a zip is named `member#table`.

    Raises:
        FileError: if it is not what its name says, is damaged, or passes a limit. Of a zip, members that cannot be read
            are noted, and only if none can is that an error.
    """
    limits = limits or FileLimits()
    if len(data) > limits.bytes:
        raise FileError(name, f"has {len(data)} bytes, more than {limits.bytes}: cut it down first")
    kind = kind_of(data, name, media_type)
    if kind == "gzip":
        inner = name.removesuffix(".gz") if name.endswith(".gz") else name
        content = ungzip(data, name, limits)
        if kind_of(content, inner) in ("gzip", "zip"):
            raise FileError(name, "is an archive in an archive, which is not unpacked")
        return read_file(content, inner, limits=limits)
    if kind == "zip":
        return _archive(data, name, limits)
    if kind == "pdf":
        tables, text = read_pdf(data, name, limits)
        return FileContent(kind, tuple(tables), text)
    if kind in _OF_BYTES:
        return FileContent(kind, tuple(_OF_BYTES[kind](data, name, limits)))
    text, _ = decode(data, charset, markup=kind == "html")
    if kind == "html":
        root = parse_html(text)
        return FileContent(kind, tuple(html_tables(root, limits, name)), texts(root)[0][: limits.text_chars])
    if kind == "text":
        return FileContent(kind, (), plain(text)[: limits.text_chars])
    if kind == "tsv":
        return FileContent(kind, tuple(read_delimited(text, name, limits, "\t")))
    return FileContent(kind, tuple(_OF_TEXT[kind](text, name, limits)))


_OF_BYTES = {"xlsx": read_xlsx, "sqlite": read_sqlite, "parquet": read_parquet, "xml": read_xml}
_OF_TEXT = {"csv": read_delimited, "json": read_json, "ndjson": read_lines, "sql": read_sql}


def _archive(data: bytes, name: str, limits: FileLimits) -> FileContent:
    tables: list[FileTable] = []
    texts_found: list[str] = []
    notes: list[str] = []
    for member, content in members(data, name, limits):
        try:
            if kind_of(content, member) in ("zip", "gzip"):
                raise FileError(member, "is an archive in an archive, which is not unpacked")
            found = read_file(content, member, limits=limits)
        except FileError as error:
            notes.append(str(error))
            continue
        tables += [replace(table, name=f"{member}#{table.name}") for table in found.tables]
        texts_found += [found.text] if found.text else []
        notes += found.notes
        if len(tables) > limits.tables:
            raise FileError(name, f"holds more than {limits.tables} tables")
    if not tables and not texts_found:
        raise FileError(name, f"holds nothing that can be read: {'; '.join(notes)[:500] or 'it is empty'}")
    return FileContent("zip", tuple(tables), "\n\n".join(texts_found)[: limits.text_chars], tuple(notes))
