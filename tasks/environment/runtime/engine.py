"""Runs tool calls on an episode's private state: arguments checked, each call in a savepoint, results as JSON text."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.accept import compile_accept
from tasks.environment.runtime.context import Context
from tasks.environment.runtime.database import connect
from tasks.environment.runtime.journal import Journal
from tasks.environment.runtime.modules import compile_tools, keeps_nothing
from tasks.environment.runtime.references import UnresolvedReference, resolve_references
from tasks.environment.runtime.schema import Check, compile_schema
from tasks.environment.runtime.tables import quote
from tasks.environment.runtime.text import dumps, loads

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_MAX_LOOKS = 20
"""A call's queries are stopped after this many million instructions of SQLite's machine: about a second, and always at
the same place."""
_SURELY_REUSED = 3
"""From the next episode on it pays to find out which tool modules need not be made anew."""


class OutputTooLong(Exception):
    """A tool's result is longer than the limit; the call was undone."""


class StateLost(Exception):
    """A tool ended the episode's transaction (by ON CONFLICT ROLLBACK), so that its state is no longer told apart."""


def _never(arguments: Any) -> bool:
    return False


def _error(code: str, message: str) -> str:
    return dumps({"error": {"code": code, "message": message[:500]}})


def _where() -> str:
    """Return the line of the tool's source at which the present exception arose, "" if it did so elsewhere."""
    line, trace = 0, sys.exc_info()[2]
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<tool "):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line} of the tool)" if line else ""


class _Observations(Sequence[Any]):
    """The observations so far, read from their JSON text only if a reference points to them."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._read: list[bool] = []

    def append(self, text: str) -> None:
        self._items.append(text)
        self._read.append(False)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if not self._read[index]:
            self._items[index], self._read[index] = loads(self._items[index]), True
        return self._items[index]


class Engine:
    """One environment's tools over one private state.

    Making one runs no tool code, so that it may happen before a fork; `start` begins an episode. The whole episode is a
    savepoint: going back to it takes some 50 µs whatever the state's size, and expires no prepared statement. Within it
    another savepoint always stands at the state before the call, so that a call that writes nothing costs none.

    Args:
        header: tools (name -> source), schemas (name -> JSON Schema), start_time; writes (names of the tools that may
            write; None or missing: all), journal (keep one) and log_tables (which it leaves out).
        snapshot: the initial state, the bytes of a SQLite file.
        output_bytes: the most characters of one observation.
        frozen: freeze the standard clocks and seed chance.

    Raises:
        sqlite3.Error, ValueError: if the snapshot or the start time is none.
    """

    def __init__(self, header: Mapping[str, Any], snapshot: bytes, *, output_bytes: int, frozen: bool = True) -> None:
        self._start_time: str = header["start_time"]
        self._output_bytes = output_bytes
        self._frozen = frozen
        self._code = compile_tools(header["tools"])
        self._checks: dict[str, Check] = {}
        self._accepts: dict[str, Callable[[Any], bool]] = {}
        for name, schema in header["schemas"].items():
            try:
                self._checks[name] = compile_schema(schema)
                self._accepts[name] = compile_accept(schema) or _never
            except (KeyError, TypeError, AttributeError, re.error) as error:
                self._code[name] = f"bad schema: {type(error).__name__}: {error}"
        writes = header.get("writes")
        self._readers = frozenset() if writes is None else frozenset(self._code) - set(writes)
        call, episode = (f"{name}_{os.urandom(8).hex()}" for name in ("call", "episode"))
        self._begin, self._release, self._undo = f"SAVEPOINT {call}", f"RELEASE {call}", f"ROLLBACK TO {call}"
        self._reset = (f"ROLLBACK TO {episode}", f"RELEASE {episode}", f"SAVEPOINT {episode}", self._begin)
        self._looks = 0
        if frozen:
            freeze.freeze(self._start_time)
        self._connection = connect(
            snapshot,
            start_time=self._start_time,
            savepoints=(call, episode),
            watch=self._watch,
            chance=(lambda size: os.urandom(size)) if frozen else None,
            prepare=(lambda connection: self._keep_journal(connection, header.get("log_tables", ())))
            if header.get("journal")
            else None,
        )
        self._warm_up()
        self._connection.execute(f"SAVEPOINT {episode}")
        self._connection.execute(self._begin)
        self._clean = self._connection.total_changes
        self._names: dict[str, tuple[str, ...]] = {}
        self._sources: Mapping[str, str] = header["tools"]
        self._episodes = 0
        self._judged: set[str] = set()
        self._kept: dict[str, Any] = {}
        self._functions: dict[str, Any] = {}
        self._context: Context | None = None

    _journal: Journal | None = None

    def _keep_journal(self, connection: sqlite3.Connection, log_tables: Sequence[str]) -> None:
        with contextlib.suppress(sqlite3.Error):  # a table that takes no trigger: the whole state tells the difference
            self._journal = Journal(connection, log_tables)

    def _watch(self) -> int:
        self._looks += 1
        return int(self._looks > _MAX_LOOKS)

    def _warm_up(self) -> None:
        """Do before the forks what each episode would do again: read the schema, prepare the engine's statements."""
        tables = self._connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            self._connection.execute(f"SELECT * FROM {quote(table)} LIMIT 1").fetchall()
        for statement in (self._begin, self._undo, self._release):
            self._connection.execute(statement)
        for check in self._checks.values():
            check({}, "arguments")

    @property
    def written(self) -> bool:
        """Whether any statement has changed a row since the start (even if it was undone)."""
        return self._connection.total_changes != self._clean

    def start(self, seed: int) -> None:
        """Begin an episode: initial state, clock and chance from the seed, and tool modules as if they were fresh.

        Raises:
            StateLost: if a tool has thrown the initial state's savepoint away.
        """
        connection = self._connection
        if not connection.in_transaction:
            raise StateLost("the initial state's savepoint is gone")
        if connection.total_changes != self._clean:
            for statement in self._reset:  # released, too: else SQLite restores all pages that any episode ever changed
                connection.execute(statement)
            self._clean = connection.total_changes
            if self._journal is not None:
                self._journal.clear()
        if self._frozen:
            freeze.seed(seed)
        self._episodes += 1
        if self._episodes > _SURELY_REUSED:
            self._judge_modules()
        self._functions = self._kept.copy()
        self._context = Context(connection, self._start_time, seed, self._names)

    def _judge_modules(self) -> None:
        """Keep what the last episode used and the next ones may use too: where there are many, looking pays."""
        for name, function in self._functions.items():
            if name not in self._judged:
                self._judged.add(name)
                if keeps_nothing(self._sources[name]):
                    self._kept[name] = function

    def _function(self, name: str) -> Any:
        code = self._code[name]
        if isinstance(code, str):
            raise ImportError(code)
        module: dict[str, Any] = {"__name__": f"tool_{name}", "__builtins__": __builtins__}
        exec(code, module)
        found = self._functions[name] = module[name]
        return found

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run one call and return the observation as JSON text.

        A refusal, a crash or a violated constraint is an observation {"error": {"code", "message"}} and leaves the
        state as it was.

        Raises:
            OutputTooLong: if the result is longer than the limit; the call was undone.
            StateLost: if the tool threw the episode's savepoints away; the engine is of no more use.
            MemoryError: if there is no memory left.
        """
        check = self._checks.get(name)
        if check is None or name not in self._code:
            return _error("UNKNOWN_TOOL", f"there is no tool {name!r}")
        if not self._accepts[name](arguments):
            problem = check(arguments, "arguments")
            if problem:
                return _error("INVALID_ARGUMENTS", problem)
        connection = self._connection
        before = connection.total_changes
        self._looks = 0
        try:
            function = self._functions.get(name) or self._function(name)
            result = function(self._context, **arguments)
            if not isinstance(result, dict):
                raise TypeError(f"the tool returned {type(result).__name__}, not a dict")
            text = dumps(result)
            if not text.isascii():
                text.encode()  # lone surrogates are no text
            if "error" in result and isinstance(result["error"], dict):
                self._end(before, keep=False)
            elif connection.total_changes == before and connection.in_transaction:
                if len(text) > self._output_bytes:
                    raise OutputTooLong(f"the result of {name} has {len(text)} characters")
            elif name in self._readers:
                text = _error("READ_ONLY", "the tool declares no writes but changed rows")
                self._end(before, keep=False)
            elif len(text) > self._output_bytes:
                raise OutputTooLong(f"the result of {name} has {len(text)} characters")
            else:
                self._end(before, keep=True)
            return text
        except StateLost:
            raise
        except (MemoryError, OutputTooLong):
            self._end(before, keep=False)
            raise
        except sqlite3.IntegrityError as error:
            text = _error("CONSTRAINT", str(error))
        except BaseException as error:
            text = _error("TOOL_CRASHED", _ADDRESS.sub("0x", f"{type(error).__name__}: {error}") + _where())
        self._end(before, keep=False)
        return text

    def _end(self, before: int, *, keep: bool) -> None:
        """End a call that changed rows: move the savepoint to the present state, or go back to it."""
        connection = self._connection
        if not connection.in_transaction:
            raise StateLost("the tool rolled the episode's transaction back")
        if connection.total_changes != before:
            if not keep:
                connection.execute(self._undo)
            else:
                connection.execute(self._release)
                connection.execute(self._begin)

    def run(self, calls: Sequence[tuple[str, dict[str, Any], bool]]) -> list[str]:
        """Run calls in turn and return for each the JSON text of [resolved arguments or null, observation].

        Each call is (tool, arguments, whether they hold references). A reference that points to nothing becomes the
        observation UNRESOLVED_REFERENCE, and the tool is not called.

        Raises:
            OutputTooLong, StateLost, MemoryError: as `call` does.
        """
        steps: list[str] = []
        observations = _Observations()
        for name, arguments, refers in calls:
            resolved = "null"
            if refers:
                try:
                    arguments = resolve_references(arguments, observations)
                except UnresolvedReference as error:
                    text = _error("UNRESOLVED_REFERENCE", str(error))
                    observations.append(text)
                    steps.append(f"[null,{text}]")
                    continue
                resolved = dumps(arguments)
            text = self.call(name, arguments)
            observations.append(text)
            steps.append(f"[{resolved},{text}]")
        return steps

    def changed(self) -> str:
        """Return the JSON text of `Journal.rows`; "null" if there is no journal or JSON cannot hold a cell."""
        if not self.written:
            return "[]"
        if self._journal is None:
            return "null"
        try:
            text = dumps(self._journal.rows())
            text.encode()
            return text
        except (ValueError, TypeError, sqlite3.Error):
            return "null"

    def state(self) -> bytes:
        """Return the present state, the bytes of a SQLite file."""
        return self._connection.serialize()
