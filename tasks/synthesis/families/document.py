"""Read a table out of a document, then follow its extreme row into the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.database import Column, Table
from schemas.tool import Tool, ToolField
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.families.kit import Kit, Program, list_name, shown
from tasks.synthesis.families.tables import reading_lines, rows_of
from tasks.synthesis.filters import is_sayable, row_columns, row_prefix


@dataclass(frozen=True)
class _Found:
    """A row of a document: the table that it belongs to, and how the prompt names it.

    By a superlative (`order`: column, descending), by its `label`, or by neither if it is the only one.
    """

    title: str
    media_type: str
    table: Table
    record: Row
    order: tuple[str, bool] | None = None
    label: str = ""


def document(kit: Kit) -> Program | None:
    """Return a program that takes a row from a document and looks up its record or the records that refer to it."""
    tools = document_tools(kit)
    if tools is None:
        return None
    for found in _rows(kit):
        ways = [_record, _referring]
        kit.rng.shuffle(ways)
        for way in ways:
            program = way(kit, tools, found)
            if program is not None:
                return program
    return None


def document_tools(kit: Kit) -> tuple[Tool, Tool] | None:
    """Return the tools that list documents and that read one, or None."""
    listing = reading = None
    for tool in kit.atlas.tools.values():
        if tool.kind != "document":
            continue
        outputs = {field.path for field in tool.outputs}
        if not tool.inputs and {"documents[].name", "documents[].title"} <= outputs:
            listing = tool
        if len(required(tool)) == 1 and "content" in outputs:
            reading = tool
    return (listing, reading) if listing is not None and reading is not None else None


def _rows(kit: Kit) -> Iterator[_Found]:
    atlas = kit.atlas
    titles = [title for _, title, _ in atlas.documents()]
    for media_type in kit.rng.sample(("text/csv", "text/html", "application/json"), 3):
        for _, title, content in atlas.documents(media_type):
            rows = rows_of(media_type, content)
            if not rows or not is_sayable(title) or titles.count(title) != 1:
                continue
            for table in atlas.database.tables:
                by_text = {str(key): row for key, row in atlas.by_key[table.name].items()}
                if not all(row.get(table.key) in by_text for row in rows):
                    continue
                labels = [str(row.get(table.label)) for row in rows]
                place = kit.rng.randrange(len(rows))
                best = _extreme(kit, table, rows)
                named = labels.count(labels[place]) == 1 and table.label in rows[0] and is_sayable(labels[place])
                if len(rows) == 1:
                    yield _Found(title, media_type, table, by_text[rows[0][table.key]])
                elif named and (best is None or kit.rng.random() < 0.5):
                    yield _Found(title, media_type, table, by_text[rows[place][table.key]], label=labels[place])
                elif best is not None:
                    yield _Found(title, media_type, table, by_text[rows[best[0]][table.key]], best[1])


def _extreme(kit: Kit, table: Table, rows: Sequence[dict[str, str]]) -> tuple[int, tuple[str, bool]] | None:
    """Return the place of the only extreme row of some measure, and the superlative."""
    columns = [c.name for c in table.columns if c.role == "measure" and all(_number(r.get(c.name)) for r in rows)]
    for name in kit.rng.sample(columns, len(columns)):
        values = [float(row[name]) for row in rows]
        for descending in kit.rng.sample((True, False), 2):
            best = max(values) if descending else min(values)
            if values.count(best) == 1:
                return values.index(best), (name, descending)
    return None


def _number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _opening(found: _Found, tools: tuple[Tool, Tool]) -> list[str]:
    """Return the script lines that read the document and take the row's key."""
    listing, reading = tools
    lines = [
        f"listed = call({listing.name!r})['documents']",
        f"name = next(entry['name'] for entry in listed if entry['title'] == {found.title!r})",
        f"text = call({reading.name!r}, {required(reading)[0]}=name)['content']",
        *reading_lines(found.media_type),
        "best = rows[0]",
    ]
    if found.order is not None:
        column, descending = found.order
        lines[-1] = f"best = {'max' if descending else 'min'}(rows, key=lambda row: float(row[{column!r}]))"
    elif found.label:
        lines[-1] = f"best = next(row for row in rows if row[{found.table.label!r}] == {found.label!r})"
    is_number = isinstance(found.record[found.table.key], int)
    lines.append(f"key = {'int' if is_number else 'str'}(best[{found.table.key!r}])")
    return lines


def _sentence(kit: Kit, found: _Found) -> str:
    table, title = found.table, f'"{found.title}"'
    if found.label:
        return kit.speaker.say(
            "program_entry", title=title, noun=table.noun, nouns=table.nouns, value=f'"{found.label}"'
        )
    if found.order is None:
        return kit.speaker.say("program_record", title=title, noun=table.noun)
    column, descending = found.order
    extreme = kit.speaker.extreme(table.name, column, descending)
    return kit.speaker.say(
        "program_document", title=title, noun=table.noun, nouns=table.nouns, column=column.replace("_", " "),
        extreme=extreme,
    )  # fmt: skip


def _record(kit: Kit, tools: tuple[Tool, Tool], found: _Found) -> Program | None:
    """Return the program that gets the row's own record."""
    table, record = found.table, found.record
    getters = [getter for getter in kit.atlas.getters[table.name] if len(required(getter)) == 1]
    told = {table.key, found.order[0] if found.order else "", table.label if found.label else ""}
    if not getters:
        return None
    getter = kit.rng.choice(getters)
    columns = [
        column
        for column in table.columns
        if column.name in row_columns(getter) - told
        and column.type in ("string", "integer", "number", "date", "datetime")
        and record.get(column.name) is not None
        and is_sayable(record[column.name])
    ]
    if not columns:
        return None
    wanted = kit.rng.sample(columns, min(2, len(columns)))
    answer = ", ".join(f"{f'value_{n}'!r}: record[{column.name!r}]" for n, column in enumerate(wanted, 1))
    return Program(
        body=(
            *_opening(found, tools),
            f"record = call({getter.name!r}, {required(getter)[0]}=key)",
            f"return {{{answer}}}",
        ),
        sentences=(_sentence(kit, found),),
        fields=tuple(
            kit.field(f"value_{n}", _type(column), f"its {column.name.replace('_', ' ')} in our records")
            for n, column in enumerate(wanted, 1)
        ),
        predicted={f"value_{n}": record[column.name] for n, column in enumerate(wanted, 1)},
        constructs=("document", "join"),
        tools=(tools[0].name, tools[1].name, getter.name),
    )


def _referring(kit: Kit, tools: tuple[Tool, Tool], found: _Found) -> Program | None:
    """Return the program that lists the records that refer to the row."""
    atlas, key = kit.atlas, found.record[found.table.key]
    for child, column in kit.rng.sample(atlas.children.get(found.table.name, []), len(
        atlas.children.get(found.table.name, [])
    )):  # fmt: skip
        for finder in atlas.finders[child]:
            field = _by_reference(finder, child, column)
            rows = [row for row in atlas.rows[child] if row.get(column.name) == key]
            measures = kit.measures(finder, rows)
            if field is None or not rows or not shown(rows) or not measures or row_prefix(atlas, finder, 0) is None:
                continue
            nouns, words = atlas.tables[child].nouns, measures[0].name.replace("_", " ")
            predicted: dict[str, Any] = {"count": len(rows), "total": kit.total(measures[0], rows)}
            return Program(
                body=(
                    *_opening(found, tools),
                    f"found = call({finder.name!r}, {field.path}=key)[{list_name(atlas, finder)!r}]",
                    f"return {{'count': len(found), 'total': {kit.total_code(measures[0], 'found')}}}",
                ),
                sentences=(_sentence(kit, found),),
                fields=(
                    kit.field("count", "integer", f"how many {nouns} refer to it"),
                    kit.field("total", measures[0].type, f"the {words} of these {nouns} added up"),
                ),
                predicted=predicted,
                constructs=("document", "join", "aggregation"),
                tools=(tools[0].name, tools[1].name, finder.name),
            )
    return None


def _by_reference(finder: Tool, child: str, column: Column) -> ToolField | None:
    for field in finder.inputs:
        if field.meaning == "equals" and field.entity == f"{child}.{column.name}":
            return field if not set(required(finder)) - {field.path} else None
    return None


def _type(column: Column) -> str:
    return column.type if column.type in ("integer", "number") else "string"
