"""Build the snapshot of an environment whose state is files: the files, what reads them, and their rows as tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from schemas.database import Database, Document
from tasks.environment.runtime.files.engine import CODE, FILES, LAYOUT
from tasks.environment.runtime.files.rows import MORE, dumps, rows_of
from tasks.environment.snapshot import DOCUMENTS_SQL, SnapshotError, quote

_MEDIA = {
    ".html": "text/html", ".htm": "text/html", ".csv": "text/csv", ".tsv": "text/csv", ".json": "application/json",
    ".yaml": "application/yaml", ".yml": "application/yaml", ".md": "text/markdown",
}  # fmt: skip


def document_of(path: str) -> Document:
    """Return the record of a file that is, or is in part, a document."""
    suffix = "." + path.rpartition(".")[2].lower()
    return Document(name=path, media_type=_MEDIA.get(suffix, "text/plain"), title=path)


def file_documents(files: Mapping[str, bytes], layout: Mapping[str, Any]) -> list[tuple[Document, str]]:
    """Return the documents of an environment's files: what no table holds of them."""
    specs = {spec["path"]: spec for spec in layout["files"]}
    found = []
    for path in sorted(set(files) - set(layout["logs"])):
        text = rows_of(specs.get(path, {"tables": []}), files[path])[1]
        if text is not None:
            found.append((document_of(path), text.replace("\0", "\ufffd")))
    return found


def file_rows(files: Mapping[str, bytes], layout: Mapping[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, cells in the order of its columns and `MORE` last."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for spec in layout["files"]:
        for table, found in rows_of(spec, files.get(spec["path"]))[0].items():
            rows[table] = list(found.values())
    return rows


def tops(names: Iterable[str]) -> set[str]:
    """Return the top-level packages of module names."""
    return {name.partition(".")[0] for name in names}


def build_file_snapshot(
    database: Database,
    files: Mapping[str, bytes],
    code: Mapping[str, str],
    layout: Mapping[str, Any],
    packages: Mapping[str, str] | None = None,
) -> bytes:
    """Return the bytes of a SQLite file; the same input gives the same bytes.

    Its tables accept any value and check nothing, since foreign tools write what they like; the keys alone are unique.

    Args:
        database: the schema; each table's first column is its key.
        files: path relative to the environment's folder -> content.
        code: module name -> source, foreign modules that the tools import.
        packages: module name -> source, packages of the factory's own that they import; foreign ones come first.
        layout: see `tasks.environment.runtime.files.rows`.

    Raises:
        SnapshotError: if a table's rows cannot be stored.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    rows = file_rows(files, layout)
    own = {name: source for name, source in (packages or {}).items() if name.partition(".")[0] not in tops(code)}
    try:
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE {FILES} (path TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL) STRICT")
        connection.execute(
            f"CREATE TABLE {CODE} (name TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, trusted INT) STRICT"
        )
        connection.execute(f"CREATE TABLE {LAYOUT} (id INTEGER PRIMARY KEY, layout TEXT NOT NULL) STRICT")
        connection.executemany(f"INSERT INTO {FILES} VALUES (?, ?)", sorted(files.items()))
        connection.executemany(f"INSERT INTO {CODE} VALUES (?, ?, 0)", sorted(code.items()))
        connection.executemany(f"INSERT INTO {CODE} VALUES (?, ?, 1)", sorted(own.items()))
        connection.execute(f"INSERT INTO {LAYOUT} VALUES (1, ?)", (dumps(layout),))
        connection.execute(DOCUMENTS_SQL)
        for document, text in file_documents(files, layout):
            row = (document.name, document.media_type, document.title, text)
            connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", row)
        for table in database.tables:
            names = [*(column.name for column in table.columns), MORE]
            columns = ", ".join(f"{quote(name)} ANY{' NOT NULL PRIMARY KEY' * (not i)}" for i, name in enumerate(names))
            connection.execute(f"CREATE TABLE {quote(table.name)} ({columns}) STRICT")
            marks = ", ".join("?" * len(names))
            connection.executemany(f"INSERT INTO {quote(table.name)} VALUES ({marks})", rows[table.name])
        connection.execute("COMMIT")
        return connection.serialize()
    except (sqlite3.Error, UnicodeError, KeyError) as error:
        raise SnapshotError(f"environment {database.env_id}: {type(error).__name__}: {error}") from error
    finally:
        connection.close()
