"""Read a table out of a document, then follow its extreme row into the database."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from schemas.database import Table
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.families.kit import Kit, Program
from tasks.synthesis.filters import is_sayable, row_columns


def document(kit: Kit) -> Program | None:
    """Return a program that finds a row in a CSV document by a superlative and gets its record."""
    atlas = kit.atlas
    tools = document_tools(kit)
    if tools is None:
        return None
    for name, title, content in kit.rng.sample(atlas.documents("text/csv"), len(atlas.documents("text/csv"))):
        rows = list(csv.DictReader(io.StringIO(content)))
        titles = [other for _, other, _ in atlas.documents()]
        if len(rows) < 3 or not is_sayable(title) or titles.count(title) != 1:
            continue
        for table in atlas.database.tables:
            found = _program(kit, tools, table, name, title, rows)
            if found is not None:
                return found
    return None


def document_tools(kit: Kit) -> tuple[Tool, Tool] | None:
    """Return the tools that list documents and that read one, or None."""
    listing = reading = None
    for tool in kit.atlas.tools.values():
        if tool.kind != "document":
            continue
        outputs = {field.path for field in tool.outputs}
        if not required(tool) and {"documents[].name", "documents[].title"} <= outputs and not tool.inputs:
            listing = tool
        if len(required(tool)) == 1 and "content" in outputs:
            reading = tool
    return (listing, reading) if listing is not None and reading is not None else None


def _program(
    kit: Kit, tools: tuple[Tool, Tool], table: Table, name: str, title: str, rows: Sequence[dict[str, str]]
) -> Program | None:
    header = set(rows[0])
    getters = [g for g in kit.atlas.getters[table.name] if len(required(g)) == 1]
    by_text = {str(key): row for key, row in kit.atlas.by_key[table.name].items()}
    if table.key not in header or not getters or not all(row[table.key] in by_text for row in rows):
        return None
    getter = kit.rng.choice(getters)
    measures = [
        column
        for column in table.columns
        if column.role == "measure" and column.name in header and all(_number(row[column.name]) for row in rows)
    ]
    for column in kit.rng.sample(measures, len(measures)):
        for descending in kit.rng.sample((True, False), 2):
            values = [float(row[column.name]) for row in rows]
            best = max(values) if descending else min(values)
            if values.count(best) != 1:
                continue
            record = by_text[rows[values.index(best)][table.key]]
            wanted = _wanted(kit, table, getter, record, column.name)
            if wanted is None:
                continue
            return _write(kit, tools, getter, table, title, column.name, descending, record, wanted, len(rows))
    return None


def _wanted(kit: Kit, table: Table, getter: Tool, record: Row, measure: str) -> str | None:
    """Return the column of the record that the answer asks for: its label if it has one."""
    if table.label and table.label in row_columns(getter) and isinstance(record.get(table.label), str):
        return table.label
    columns = [c.name for c in table.columns if c.name in row_columns(getter) and c.name not in (measure, table.key)]
    columns = [name for name in columns if isinstance(record.get(name), str) and is_sayable(record[name])]
    return kit.rng.choice(columns) if columns else None


def _write(
    kit: Kit, tools: tuple[Tool, Tool], getter: Tool, table: Table, title: str, column: str, descending: bool,
    record: Row, wanted: str, count: int,
) -> Program:  # fmt: skip
    listing, reading = tools
    key = f"int(best[{table.key!r}])" if isinstance(record[table.key], int) else f"best[{table.key!r}]"
    words = column.replace("_", " ")
    body = (
        "import csv, io",
        f"listed = call({listing.name!r})['documents']",
        f"name = next(entry['name'] for entry in listed if entry['title'] == {title!r})",
        f"text = call({reading.name!r}, {required(reading)[0]}=name)['content']",
        "rows = list(csv.DictReader(io.StringIO(text)))",
        f"best = {'max' if descending else 'min'}(rows, key=lambda row: float(row[{column!r}]))",
        f"record = call({getter.name!r}, {required(getter)[0]}={key})",
        f"return {{'found': record[{wanted!r}], 'value': record[{column!r}], 'listed': len(rows)}}",
    )
    sentence = kit.speaker.say(
        "program_document", title=f'"{title}"', noun=table.noun, nouns=table.nouns, column=words,
        extreme=kit.speaker.extreme(table.name, column, descending),
    )  # fmt: skip
    predicted: dict[str, Any] = {"found": record[wanted], "value": record[column], "listed": count}
    return Program(
        body=body,
        sentences=(sentence,),
        fields=(
            kit.field("found", "string", f"the {wanted.replace('_', ' ')} in that record"),
            kit.field("value", table.column(column).type, f"the {words} in that record"),
            kit.field("listed", "integer", f"how many {table.nouns} the document lists"),
        ),
        predicted=predicted,
        constructs=("document", "join", "aggregation"),
        tools=(listing.name, reading.name, getter.name),
    )


def _number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
