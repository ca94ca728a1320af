"""What prompts say of an environment: its tables, some of its rows and its documents, cut to a size."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schemas.database import Column, Database, Table
from schemas.theme import Operation, Theme
from schemas.tool import Tool
from tasks.coding.samples import sample_rows
from tasks.coding.snapshot import Reader, State

LONGEST_CELL = 160
DOCUMENT_LETTERS, ALL_DOCUMENTS_LETTERS = 8_000, 24_000
PLAN_TABLES_LETTERS, PLAN_DOCUMENTS_LETTERS = 6_000, 5_000
"""How much of the tables and their rows, and of the documents, stands whole in the prompt that asks for plans."""
PLAN_ROWS = 2
CUT = "[cut]"
"""Stands where the rest of a document is not shown."""
MOST_OPERATIONS = 30
LONGEST_OPERATION = 100

_RULES_FIRST = ("text/markdown", "text/plain", "application/yaml", "text/html", "text/csv", "application/json")
"""Media types in the order in which their documents are shown: those that state rules before those that hold data.
Documents that the environment's own actions cite come before all others."""


@dataclass(frozen=True)
class Briefing:
    """One environment as prompts show it; all of its texts came from outside and are shown as data.

    Attributes:
        tables, rows: table -> its columns, and some of its rows, in words.
        others: names of tables that are not shown, or in outline only.
        outlines: of each of these one line: its size, key and columns; empty where they do not matter.
        links: table -> the tables that it refers to.
        documents: name -> whole content, for checking citations.
        excerpts: name -> content, cut; what is left out altogether has none.
        statutes: documents that state rules rather than hold data -> the tables that they speak of.
    """

    name: str
    description: str
    now: str
    tables: dict[str, str]
    rows: dict[str, str]
    links: dict[str, set[str]]
    documents: dict[str, str]
    excerpts: dict[str, str]
    statutes: dict[str, frozenset[str]]
    operations: str
    database: Database
    state: State
    others: tuple[str, ...] = ()
    outlines: tuple[str, ...] = ()

    @property
    def logs(self) -> bool:
        """Whether a table that is shown is a log."""
        return any(table.log for table in self.database.tables if table.name in self.tables)

    def sketched(self) -> Briefing:
        """Return what a plan needs: the tables that most refer to, or that refer to most, as long as they fit, the
        others in outline, and the documents that state rules."""
        referred = Counter(there for links in self.links.values() for there in links)
        order = sorted(self.tables, key=lambda name: (-referred[name] - len(self.links[name]), name))
        shown, left = set(), PLAN_TABLES_LETTERS
        for name in order:
            size = len(self.tables[name]) + len(self.rows.get(name, ""))
            if size <= left:
                shown.add(name)
                left -= size
        others = tuple(name for name in self.tables if name not in shown)
        documents = {name: text for name, text in self.documents.items() if name in self.statutes}
        return replace(
            self,
            tables={name: text for name, text in self.tables.items() if name in shown},
            rows={
                name: "\n".join(text.splitlines()[: 1 + PLAN_ROWS]) for name, text in self.rows.items() if name in shown
            },
            others=others,
            outlines=tuple(_outline(self.tables[name]) for name in others),
            excerpts=_excerpts(documents, PLAN_DOCUMENTS_LETTERS),
        )

    def narrowed(self, tables: Collection[str], documents: Collection[str]) -> Briefing:
        """Return what concerns one tool: its tables and those that they refer to, and of the documents those that it
        cites and those that state rules of its tables; all of them for a tool that reads documents."""
        wanted = {*tables, *(there for here in tables for there in self.links.get(here, ()))}
        cited = {*documents, *(name for name, about in self.statutes.items() if about & set(tables))}
        if "documents" in tables:
            cited = set(self.excerpts)
        return replace(
            self,
            tables={name: text for name, text in self.tables.items() if name in wanted},
            rows=_rows(self.database, self.state, wanted),
            excerpts={name: text for name, text in self.excerpts.items() if name in cited},
            others=tuple(name for name in self.tables if name not in wanted),
        )


def make_briefing(database: Database, snapshot: bytes, theme: Theme | None) -> Briefing:
    """Return what prompts say of an environment and its theme.

    Raises:
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    with Reader(snapshot) as reader:
        state = reader.state(database)
        found = reader.rows("SELECT name, media_type, content FROM documents ORDER BY name")
    cited = {rule.cites.partition("#")[0] for action in database.actions for rule in action.rules}
    cited &= {str(row["name"]) for row in found}

    def rank(row: dict[str, Any]) -> tuple[bool, int]:
        kind = row["media_type"]
        return row["name"] not in cited, _RULES_FIRST.index(kind) if kind in _RULES_FIRST else len(_RULES_FIRST)

    found.sort(key=rank)
    documents = {str(row["name"]): str(row["content"]) for row in found}
    operations = theme.operations[:MOST_OPERATIONS] if theme is not None else ()
    return Briefing(
        name=database.name,
        description=database.description,
        now=database.start_time,
        tables={table.name: _table(table, len(state[table.name])) for table in database.tables},
        rows=_rows(database, state, [table.name for table in database.tables]),
        links={
            table.name: {c.references.partition(".")[0] for c in table.columns if c.references}
            for table in database.tables
        },
        documents=documents,
        excerpts=_excerpts({name: text for name, text in documents.items() if not _renders(name, database)}),
        statutes={
            str(row["name"]): _about(database, str(row["name"]), str(row["content"]))
            for row in found
            if (row["name"] in cited if cited else row["media_type"] == "text/markdown")
        },
        operations="\n".join(map(_operation, operations)),
        database=database,
        state=state,
    )


def _table(table: Table, rows: int) -> str:
    log = ", a log" if table.log else ""
    told = f": {table.description}" if table.description else ""
    lines = [f"TABLE {table.name} ({rows} rows, key {table.key}{log}){told}"]
    lines += [f"  {column.name}  {_column(table, column)}" for column in table.columns]
    return "\n".join(lines)


def _column(table: Table, column: Column) -> str:
    words: list[str] = [{"boolean": "boolean (stored as 0 or 1)"}.get(column.type, column.type)]
    words.append("may be null" if column.nullable else "never null")
    if column.unique or column.name == table.key:
        words.append("unique")
    if column.references:
        words.append(f"refers to {column.references}")
    if column.choices:
        words.append("one of " + ", ".join(map(repr, column.choices)))
    for word, bound in (("at least", column.minimum), ("at most", column.maximum)):
        if bound is not None:
            words.append(f"{word} {int(bound) if float(bound).is_integer() else bound}")
    text = ", ".join(words) + (f" [{column.unit}]" if column.unit else "")
    return f"{text}: {column.description}" if column.description else text


def _renders(document: str, database: Database) -> bool:
    """Say whether a document only shows tables or columns that prompts show anyway."""
    stem = document.rpartition(".")[0].lower().removesuffix("_record")
    return stem == "data_dictionary" or stem in {table.name.lower() for table in database.tables}


def _about(database: Database, document: str, content: str) -> frozenset[str]:
    """Return the tables that a document speaks of: those of actions that cite it, and those whose things it names."""
    text = " ".join(content.lower().replace("_", " ").split())
    found = {t.name for t in database.tables if t.noun and re.search(rf"\b{re.escape(t.noun.lower())}", text)}
    cited = {action.table for action in database.actions for rule in action.rules
             if rule.cites.partition("#")[0] == document}  # fmt: skip
    return frozenset(found | cited)


def _rows(database: Database, state: State, tables: Collection[str]) -> dict[str, str]:
    found = {}
    for name, rows in sample_rows(database, state, tables).items():
        cells = [{column: _cell(cell) for column, cell in row.items()} for row in rows]
        shown = [json.dumps(row, ensure_ascii=False) for row in cells]
        found[name] = "\n".join([f"{name}: some of {len(state[name])} rows", *shown])
    return found


def _cell(cell: Any) -> Any:
    return f"{cell[:LONGEST_CELL]}... (cut)" if isinstance(cell, str) and len(cell) > LONGEST_CELL else cell


def _outline(text: str) -> str:
    head, *columns = text.splitlines()
    return f"{head.partition('): ')[0].rstrip(')')}): {', '.join(line.split()[0] for line in columns)}"


def _excerpts(documents: dict[str, str], most: int = ALL_DOCUMENTS_LETTERS) -> dict[str, str]:
    left, found = most, {}
    for name, content in documents.items():
        size = min(DOCUMENT_LETTERS, left)
        if size:
            found[name] = content if len(content) <= size else _whole_lines(content[:size])
        left = max(0, left - min(size, len(content)))
    return found


def _whole_lines(text: str) -> str:
    """Return a text that was cut, up to its last whole line, or sentence if it is one line, and the sign of the cut."""
    end = max(text.rfind("\n"), text.rfind(". ") + 1)
    return f"{text[: end if end > 0 else None].rstrip()}\n{CUT}"


def _operation(operation: Operation) -> str:
    takes = f" (takes {', '.join(operation.parameters)})" if operation.parameters else ""
    return f"{operation.name}{takes}: {' '.join(operation.description.split())[:LONGEST_OPERATION]}"


def tool_lines(tools: Sequence[Tool], short: bool = False) -> list[str]:
    """Return one line a tool for prompts: its parameters, optional ones with "?", what its answer holds and what it
    writes, then what it does; `short` leaves out the types, the answer and all but the first sentence."""
    lines = []
    for tool in tools:
        names = tool.parameters["properties"]
        told = " ".join(tool.description.split())
        if short:
            taken = ", ".join(_parameter(tool, name).partition(":")[0] for name in names)
            told = told.partition(". ")[0].rstrip(".")
        else:
            taken = ", ".join(_parameter(tool, name) for name in names)
            told += f" It answers {', '.join(field.path for field in tool.outputs) or 'nothing that is declared'}."
        writes = f" (writes {', '.join(tool.writes)})" if tool.writes else ""
        lines.append(f"{tool.name}({taken}){writes}: {told}")
    return lines


def _parameter(tool: Tool, name: str) -> str:
    kind = tool.parameters["properties"][name]["type"]
    return f"{name}{'' if name in tool.parameters.get('required', ()) else '?'}: {kind}"
