"""Reconcile two sources: a list that somebody sends, and our records; what differs is set right, row by row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from schemas.database import Column, Table
from schemas.task import AnswerField, Oracle
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, words
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.draft import Draft
from tasks.synthesis.families.kit import Change, list_name
from tasks.synthesis.filters import is_sayable, row_columns
from tasks.synthesis.gates import numbers_in
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.long.prose import REGISTERS, WRITERS
from tasks.synthesis.long.reading import free_finders, shows_all
from tasks.synthesis.phrases import lay_out, literal
from tasks.synthesis.rules import allowed
from tasks.synthesis.shadow import Shadow, Unclear
from tasks.synthesis.writers import sample_value

MOST_ENTRIES = 60
LEAST_CHANGES = 6
REFUSED = 0.1
"""How often an entry stays that a rule forbids to change."""
SAME = 0.35
"""The share of entries that agree with the records already."""


@dataclass(frozen=True)
class Sheet:
    """The list of the other source: (name, value) entries, some of whom our records do not know."""

    table: Table
    column: Column
    change: Change
    parameter: str
    entries: tuple[tuple[str, Any], ...]


def reconcile(desk: Desk) -> Candidate | None:
    """Return a task to bring records into line with a list, None if no update fits."""
    options = [c for c in desk.kit.updates if len(c.action.parameters) == 1]
    for change in desk.rng.sample(options, len(options)):
        table = desk.atlas.tables[change.action.table]
        column = table.column(change.action.parameters[0])
        parameter = next((f.path for f in change.tool.inputs if f.path != change.key), "")
        if column.references or column.unique or not parameter or column.type not in ("integer", "number", "string"):
            continue
        sheet = _sheet(desk, table, column, change, parameter)
        if sheet is not None and (found := _candidate(desk, sheet)) is not None:
            return found
    return None


def _sheet(desk: Desk, table: Table, column: Column, change: Change, parameter: str) -> Sheet | None:
    rng, atlas = desk.rng, desk.atlas
    if not table.label:
        return None
    known = [
        row
        for row in atlas.rows[table.name]
        if atlas.label_of(table.name, row) is not None and is_sayable(row[table.label])
        and row.get(column.name) is not None and is_sayable(row[column.name])
    ]  # fmt: skip
    wanted = min(rng.randint(*desk.band), MOST_ENTRIES - 12)
    entries: list[tuple[str, Any]] = []
    changed = 0
    for row in rng.sample(known, len(known)):
        value = row[column.name]
        if rng.random() > SAME:
            value = sample_value(Draft(atlas, rng), table.name, column)
            if value is None or not is_sayable(value) or type(value) is not type(row[column.name]):
                continue
            refused = not allowed(atlas, change.action, row, {column.name: value})
            if refused and rng.random() > REFUSED:
                continue
            changed += value != row[column.name] and not refused
        entries.append((str(row[table.label]), value))
        if changed >= wanted or len(entries) >= MOST_ENTRIES:
            break
    labels = {str(row[table.label]) for row in atlas.rows[table.name]}
    for name, value in list(entries[: rng.choice((0, 0, 1, 2))]):
        stranger = re.sub(r"\d+", lambda found: str(int(found.group()) + 300), name)
        stranger = stranger if stranger != name else f"{name} West"
        if stranger not in labels and is_sayable(stranger):
            entries.insert(rng.randrange(len(entries)), (stranger, value))
    if changed < LEAST_CHANGES:
        return None
    return Sheet(table, column, change, parameter, tuple(entries))


@dataclass
class _Result:
    changed: list[tuple[Row, Any]]
    same: int
    missing: int
    refused: int
    shadow: Shadow


def _settle(desk: Desk, sheet: Sheet) -> _Result:
    """Return what comes of a sheet, by the schema's rules.

    Raises:
        Unclear: if that cannot be told.
    """
    by_label = {str(row[sheet.table.label]): row for row in desk.atlas.rows[sheet.table.name]}
    found = _Result([], 0, 0, 0, Shadow(desk.atlas))
    for name, value in sheet.entries:
        row = by_label.get(name)
        if row is None:
            found.missing += 1
        elif row[sheet.column.name] == value:
            found.same += 1
        elif found.shadow.perform(sheet.change.action, row[sheet.table.key], {sheet.column.name: value}):
            found.refused += 1
        else:
            found.changed.append((row, value))
    return found


def _candidate(desk: Desk, sheet: Sheet) -> Candidate | None:
    try:
        result = _settle(desk, sheet)
    except Unclear:
        return None
    reading = _reading(desk, sheet)
    if reading is None or len(result.changed) < LEAST_CHANGES:
        return None
    answer: dict[str, Any] = {"changed": len(result.changed), "agreed": result.same}
    if result.missing:
        answer["unknown"] = result.missing
    if result.refused:
        answer["refused"] = result.refused
    if sheet.column.type != "string":
        answer["difference"] = round(sum(value - row[sheet.column.name] for row, value in result.changed), 2)
    for _ in range(3):
        prompt, fields = _tell(desk, sheet, answer)
        numbers = numbers_in(re.sub(r'"[^"]*"', '""', prompt))
        kept = {name: value for name, value in answer.items() if float(value) not in numbers}
        if len(kept) == len(answer) or not kept:
            break
        answer = kept
    line, tool = reading
    changed = {(sheet.table.name, row[sheet.table.key]) for row, _ in result.changed}
    return Candidate(
        kind="program",
        template="long_reconcile",
        prompt=prompt,
        oracle=Oracle(script=_script(sheet, line, answer)),
        fields=fields,
        skills=tuple(sorted({"loop", "conditional", "update", tool.kind})),
        predicted=tuple(answer.items()),
        refusals=result.refused,
        after={place: row for place, row in result.shadow.changed.items() if place in changed},
    )


def _reading(desk: Desk, sheet: Sheet) -> tuple[str, Tool] | None:
    """Return the script line that leaves in `found` the records by name, and its tool.

    None if no list shows them all: looking each name up takes more calls than listing by parts would.
    """
    atlas, table = desk.atlas, sheet.table
    for tool in free_finders(atlas, table.name):
        size = shows_all(atlas, tool, atlas.rows[table.name])
        if size is not None and {table.key, table.label, sheet.column.name} <= row_columns(tool):
            given = f", {size}" if size else ""
            listed = f"call({tool.name!r}{given})[{list_name(atlas, tool)!r}]"
            return f"found = {{row[{table.label!r}]: row for row in {listed}}}", tool
    return None


def _script(sheet: Sheet, reading: str, answer: dict[str, Any]) -> str:
    name, key = sheet.column.name, sheet.table.key
    call = f"call({sheet.change.tool.name!r}, {sheet.change.key}=row[{key!r}], {sheet.parameter}=value)"
    lines = [
        "sheet = [",
        *(f"    {entry!r}," for entry in sheet.entries),
        "]",
        reading,
        "changed, agreed, unknown, refused, difference = 0, 0, 0, 0, 0",
        "for name, value in sheet:",
        "    row = found.get(name)",
        "    if row is None:",
        "        unknown += 1",
        f"    elif row[{name!r}] == value:",
        "        agreed += 1",
        f"    elif 'error' in {call}:",
        "        refused += 1",
        "    else:",
        "        changed += 1",
        *([f"        difference += value - row[{name!r}]"] if "difference" in answer else []),
    ]
    values = {"difference": "round(difference, 2)"}
    fields = ", ".join(f"{field!r}: {values.get(field, field)}" for field in answer)
    body = "\n".join(f"    {line}" for line in [*lines, f"return {{{fields}}}"])
    return f"def solve(call):\n{body}\n"


def _tell(desk: Desk, sheet: Sheet, answer: dict[str, Any]) -> tuple[str, tuple[AnswerField, ...]]:
    say, table, column = desk.kit.speaker.say, sheet.table, words(sheet.column.name)
    fields = tuple(
        desk.kit.field(
            name, sheet.column.type if name == "difference" else "integer",
            say(f"sheet_{name}", nouns=table.nouns, noun=table.noun, column=column),
        )
        for name in answer
    )  # fmt: skip
    entries = "\n".join(f'"{name}": {literal(value)}' for name, value in sheet.entries)
    text = lay_out(
        desk.rng,
        desk.rng.choice(REGISTERS),
        desk.kit.speaker.phrasing,
        nouns=table.nouns,
        scope=say("sheet_scope", nouns=table.nouns, column=column),
        rules=[say("sheet_rule", noun=table.noun, column=column), f"{say('sheet_list')}\n{entries}\n"],
        notes=[say("sheet_note", noun=table.noun, nouns=table.nouns)],
        reply=desk.kit.speaker.reply([(field.name, field.description) for field in fields]),
        who=desk.rng.choice(WRITERS),
    )
    return text, fields
