"""Runs foreign tools over a private disk, and keeps the tables of the state in step with its files."""

from __future__ import annotations

import contextlib
import importlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.engine import Engine
from tasks.environment.runtime.files import patch
from tasks.environment.runtime.files.disk import Disk
from tasks.environment.runtime.files.entry import Entry, bind, find_entry, invoke, observation
from tasks.environment.runtime.files.modules import Carried
from tasks.environment.runtime.files.rows import MORE, Rows, rows_of
from tasks.environment.runtime.tables import quote

FILES, CODE, LAYOUT = "foreign_files", "foreign_code", "foreign_layout"
"""Tables of a snapshot that hold the initial files, the modules that tools import, and how files become rows."""

_TEXT = {"tables": []}


def holds_files(connection: sqlite3.Connection) -> bool:
    """Say whether a snapshot's state is files."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (FILES,)).fetchone() is not None


class FileEngine(Engine):
    """An engine whose tools open files. The state's tables follow the files after each call, in the call's savepoint:
    so differences, hashes and verdicts are by content, and a refused call leaves neither file nor row changed.

    Each process runs one episode: what foreign code leaves in modules or globals never meets another one.
    """

    def __init__(self, header: Mapping[str, Any], snapshot: bytes, *, output_bytes: int, frozen: bool = True) -> None:
        super().__init__(header, snapshot, output_bytes=output_bytes, frozen=frozen)
        connection = self._connection
        (layout,) = connection.execute(f"SELECT layout FROM {LAYOUT}").fetchone()
        self._layout = json.loads(layout)
        self._files = {spec["path"]: spec for spec in self._layout["files"]}
        self._logs = set(self._layout["logs"])
        self._fixed: Mapping[str, Mapping[str, Any]] = self._layout.get("fixed", {})
        content = connection.execute(f"SELECT path, content FROM {FILES} ORDER BY path")
        self._disk = Disk({path: bytes(raw) for path, raw in content}, self._layout["folder"])
        code = dict(connection.execute(f"SELECT name, source FROM {CODE} ORDER BY name").fetchall())
        self._import_own({name: code[name] for name in header.get("own_modules", ()) if name in code})
        self._carried = Carried(code)
        self._carried.install()
        self._entries: dict[str, Entry | str] = {}
        for name, source in header["tools"].items():
            try:
                self._entries[name] = find_entry(source, self._layout["names"].get(name, name))
            except (SyntaxError, LookupError, ValueError, RecursionError) as error:
                self._entries[name] = f"{type(error).__name__}: {error}"
        self._synced = self._disk.data()
        self._rows: dict[str, tuple[Rows, str | None]] = {}
        self._columns: dict[str, list[str]] = {}
        self._foreigns: dict[str, Any] = {}
        self._mark: Any = None
        self._installed = False

    def _import_own(self, sources: Mapping[str, str]) -> None:
        """Import the modules that the factory vouches for before the forks: each episode then has them at once.

        No other module can be found meanwhile, since foreign code must not run here, where later episodes come from.
        """
        finder = Carried(sources)
        finder.install()
        for name in sources:
            if "." not in name:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
        finder.remove()

    def start(self, seed: int) -> None:
        """Begin the episode: initial files, clock and chance from the seed."""
        super().start(seed)
        if not self._installed:
            self._installed = True
            patch.install(self._disk, freeze.now)
        self._disk.reset()
        self._synced = self._disk.data()
        self._rows.clear()
        self._foreigns.clear()

    def _function(self, name: str) -> Any:
        """Return what the engine calls with its context: the foreign function, and the tables brought in step."""

        def run(context: Any, /, **arguments: Any) -> Any:
            self._mark = (self._disk.mark(), self._synced, dict(self._rows))
            result = observation(invoke(self._foreign(name), {**arguments, **self._fixed.get(name, {})}))
            if not isinstance(result.get("error"), dict):
                self._sync()
            return result

        return run

    def _foreign(self, name: str) -> Any:
        found = self._foreigns.get(name)
        if found is not None:
            return found
        code, entry = self._code[name], self._entries[name]
        if isinstance(code, str) or isinstance(entry, str):
            raise ImportError(code if isinstance(code, str) else entry)
        module: dict[str, Any] = {
            "__name__": f"tool_{name}",
            "__file__": f"/app/tools/{name}.py",
            "__builtins__": __builtins__,
        }
        before = self._disk.reads
        exec(code, module)
        found = bind(module, entry, self._disk.root)
        if self._disk.reads == before:  # a module that loads data while it is read would keep what is old
            self._foreigns[name] = found
        return found

    def _end(self, before: int, *, keep: bool) -> None:
        if not keep and self._mark is not None:
            mark, self._synced, self._rows = self._mark
            if self._disk.files != mark[0]:
                self._foreigns.clear()
            self._disk.restore(mark)
            self._mark = None
        super()._end(before, keep=keep)

    def _sync(self) -> None:
        """Write what changed on the disk into the tables."""
        now, before = self._disk.data(), self._synced
        if now == before:
            return
        for path in sorted({*now, *before} - self._logs):
            if now.get(path) is before.get(path) or now.get(path) == before.get(path):
                continue
            spec = self._files.get(path, _TEXT)
            old = self._rows.get(path) or rows_of(spec, before.get(path))
            new = rows_of(spec, now.get(path))
            for table, rows in new[0].items():
                self._write_rows(table, old[0][table], rows)
            self._write_document(path, old[1], new[1])
            self._rows[path] = new
        self._synced = now

    def _write_rows(self, table: str, old: dict[Any, Any], new: dict[Any, Any]) -> None:
        execute = self._connection.execute
        name, columns = quote(table), self._columns_of(table)
        key = quote(columns[0])
        for gone in [k for k in old if k not in new]:
            execute(f"DELETE FROM {name} WHERE {key} = ?", (gone,))
        assigned = ", ".join(f"{quote(column)} = ?" for column in columns[1:])
        for k, cells in new.items():
            if k not in old:
                execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(cells))})", cells)
            elif cells != old[k]:
                execute(f"UPDATE {name} SET {assigned} WHERE {key} = ?", (*cells[1:], k))

    def _columns_of(self, table: str) -> list[str]:
        if table not in self._columns:
            found = self._connection.execute(f"PRAGMA table_info({quote(table)})").fetchall()
            self._columns[table] = [row[1] for row in found]
            assert self._columns[table][-1] == MORE
        return self._columns[table]

    def _write_document(self, path: str, old: str | None, new: str | None) -> None:
        execute = self._connection.execute
        if new == old:
            return
        if new is None:
            execute("DELETE FROM documents WHERE name = ?", (path,))
        elif old is None:
            execute("INSERT INTO documents VALUES (?, 'text/plain', ?, ?)", (path, path, new.replace("\0", "\ufffd")))
        else:
            execute("UPDATE documents SET content = ? WHERE name = ?", (new.replace("\0", "\ufffd"), path))


def open_engine(header: Mapping[str, Any], snapshot: bytes, *, output_bytes: int, frozen: bool = True) -> Engine:
    """Return the engine that a snapshot needs: the one for files if it carries files.

    Raises:
        sqlite3.Error: if the bytes are no SQLite file.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(snapshot)
        kind = FileEngine if holds_files(connection) else Engine
    finally:
        connection.close()
    return kind(header, snapshot, output_bytes=output_bytes, frozen=frozen)
