"""What the task writer knows of an environment: rows of the initial state, tools by what they can do, words."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from functools import cached_property
from typing import Any

from schemas.database import Action, Column, Database, Table
from schemas.snapshot import SnapshotRefused, check_snapshot
from schemas.tool import Tool, ToolField
from tasks.synthesis.senses import complete

Row = dict[str, Any]
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Atlas:
    """The planner's own view of one environment; it never runs tool code.

    Rows are read from the snapshot with SQL, so that what a plan expects is computed apart from the tools.

    Raises:
        ValueError: if the snapshot is no SQLite database, of a later release, or lacks a table of the schema.
    """

    def __init__(self, database: Database, snapshot: bytes, tools: list[Tool] | tuple[Tool, ...]) -> None:
        self.database = database
        ordered = sorted(tools, key=lambda tool: tool.name)
        self.tools: dict[str, Tool] = {tool.name: complete(tool, database) for tool in ordered}
        self.tables: dict[str, Table] = {table.name: table for table in database.tables}
        self.actions: dict[str, Action] = {
            action.name: action.model_copy(update={"verb": words(action.verb)}) for action in database.actions
        }
        self._values: dict[tuple[str, str], list[Any]] = {}
        self.connection = sqlite3.connect(":memory:")
        self.connection.row_factory = sqlite3.Row
        try:
            check_snapshot(snapshot)
            self.connection.deserialize(snapshot)
            self.rows: dict[str, list[Row]] = {
                table.name: [dict(row) for row in self.connection.execute(_select_all(table, database.files))]
                for table in database.tables
            }
            self._documents: list[tuple[str, str, str, str]] = _read_documents(self.connection)
        except (sqlite3.Error, SnapshotRefused) as error:
            raise ValueError(f"environment {database.env_id}: the snapshot cannot be read: {error}") from error

    @cached_property
    def by_key(self) -> dict[str, dict[Any, Row]]:
        """Return the rows of each table by key."""
        return {name: {row[self.tables[name].key]: row for row in rows} for name, rows in self.rows.items()}

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {f"{table.name}.{c.name}": c for table in self.database.tables for c in table.columns}

    @cached_property
    def _canonical(self) -> dict[str, str]:
        return {entity: column.references for entity, column in self._columns.items() if column.references}

    @cached_property
    def finders(self) -> dict[str, list[Tool]]:
        """Return the search and list tools of each table."""
        return self._by_table("search", "list")

    @cached_property
    def getters(self) -> dict[str, list[Tool]]:
        """Return the get tools of each table."""
        return self._by_table("get")

    @cached_property
    def aggregates(self) -> dict[str, list[Tool]]:
        """Return the aggregate tools of each table."""
        return self._by_table("aggregate")

    @cached_property
    def action_tools(self) -> list[tuple[Action, Tool]]:
        """Return the actions that a tool performs, with that tool."""
        return [(self.actions[tool.action], tool) for tool in self.tools.values() if tool.action in self.actions]

    @cached_property
    def children(self) -> dict[str, list[tuple[str, Column]]]:
        """Return for each table the (table, column) pairs that reference its key."""
        found: dict[str, list[tuple[str, Column]]] = defaultdict(list)
        for table in self.database.tables:
            for column in table.columns:
                if column.references:
                    found[column.references.partition(".")[0]].append((table.name, column))
        return found

    def documents(self, media_type: str = "") -> list[tuple[str, str, str]]:
        """Return (name, title, content) of the snapshot's documents, of one media type if given."""
        return [
            (name, title, text) for name, title, kind, text in self._documents if kind == media_type or not media_type
        ]

    def _by_table(self, *kinds: str) -> dict[str, list[Tool]]:
        found: dict[str, list[Tool]] = {name: [] for name in self.tables}
        for tool in self.tools.values():
            if tool.kind in kinds and tool.table in found:
                found[tool.table].append(tool)
        return found

    def canonical(self, entity: str) -> str:
        """Return the entity that a reference column stands for: `orders.customer_id` -> `customers.customer_id`."""
        known = self._canonical.get(entity)
        return entity if known is None else known

    def column(self, entity: str) -> Column | None:
        """Return the column that an entity "table.column" names, or None."""
        return self._columns.get(entity)

    @cached_property
    def key_columns(self) -> dict[str, dict[str, str]]:
        """Return for each table its key and reference columns -> the key entity that stands in them."""
        return {
            table.name: {
                column.name: self.canonical(f"{table.name}.{column.name}")
                for column in table.columns
                if column.references or column.name == table.key
            }
            for table in self.database.tables
        }

    def values(self, table: str, column: str) -> list[Any]:
        """Return the distinct values of a column, sorted; text by text if they are of several types."""
        if (table, column) not in self._values:
            present = {row[column] for row in self.rows[table] if row.get(column) not in (None, "")}
            try:
                self._values[table, column] = sorted(present)
            except TypeError:
                self._values[table, column] = sorted(present, key=str)
        return self._values[table, column]

    def is_key(self, entity: str) -> bool:
        """Say whether an entity is a table's key (after following a reference)."""
        table, _, name = self.canonical(entity).partition(".")
        return table in self.tables and self.tables[table].key == name

    def label_of(self, table: str, row: Row) -> Any:
        """Return a row's label if it names this row alone, else None."""
        label = self.tables[table].label
        value = row.get(label) if label else None
        return value if value not in (None, "") and self._counts(table, label)[value] == 1 else None

    def _counts(self, table: str, column: str) -> dict[Any, int]:
        cache = self.__dict__.setdefault("_count_cache", {})
        if (table, column) not in cache:
            counts: dict[Any, int] = defaultdict(int)
            for row in self.rows[table]:
                counts[row[column]] += 1
            cache[table, column] = counts
        return cache[table, column]

    def target(self, table: str, column: Column, row: Row) -> tuple[str, Row] | None:
        """Return the table and row that a reference column of a row points to, or None."""
        name = column.references.partition(".")[0]
        found = self.by_key.get(name, {}).get(row.get(column.name)) if column.references else None
        return (name, found) if found is not None else None


def _select_all(table: Table, files: bool) -> str:
    """Return the query for a table's rows in the order in which tools show them: native ones by key, others by file."""
    order = "rowid" if files else f'"{table.key}"'
    return f'SELECT * FROM "{table.name}" ORDER BY {order}'


def _read_documents(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'documents'").fetchone():
        return []
    rows = connection.execute("SELECT name, title, media_type, content FROM documents ORDER BY name")
    return [(str(name), str(title), str(kind), str(text)) for name, title, kind, text in rows]


def words(name: str) -> str:
    """Return an identifier as words: `unit_price` -> `unit price`, `roomName` -> `room name`."""
    if not name.islower():
        name = _HUMP.sub(" ", name).lower()
    return name.replace("_", " ").strip()


def field_for(tool: Tool, meaning: str, entity: str = "") -> ToolField | None:
    """Return a tool's parameter of that meaning (and entity, if given), or None."""
    for field in tool.inputs:
        if field.meaning == meaning and (not entity or field.entity == entity):
            return field
    return None


def cells(tool: Tool) -> dict[str, str]:
    """Return entity -> path of the row cells that a tool returns."""
    return {field.entity: field.path for field in tool.outputs if field.entity and field.meaning in ("", "cell")}


def required(tool: Tool) -> tuple[str, ...]:
    """Return the names of a tool's required parameters."""
    return tuple(tool.parameters.get("required", ()))


def options(tool: Tool, parameter: str) -> tuple[Any, ...]:
    """Return the fixed options (enum) of a parameter, () if it has none."""
    schema = tool.parameters.get("properties", {}).get(parameter, {})
    values = list(schema.get("enum", ()))
    for branch in schema.get("anyOf", ()):
        values += [value for value in branch.get("enum", ()) if value is not None]
    return tuple(values)
