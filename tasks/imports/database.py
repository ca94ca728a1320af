"""The native schema of a foreign world: tables with types, roles, labels and references, inferred from its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.database import Column, ColumnRole, ColumnType, Table
from tasks.imports.words import plural, singular
from tasks.imports.world import snake

_DATE = re.compile(r"\d{4}-[01]\d-[0-3]\d")
_DATETIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d")
_LABELS = ("name", "title", "full_name", "fullname", "label", "display_name", "subject", "headline", "username")
_MOST_CHOICES = 12


def specs_of(layout: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a layout's collections, nested ones after those that hold them."""
    stack = [spec for file in layout["files"] for spec in file["tables"]]
    while stack:
        spec = stack.pop(0)
        yield spec
        stack = [*spec["children"], *stack]


def infer_tables(layout: Mapping[str, Any], rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> tuple[Table, ...]:
    """Return the tables of a layout, with what their rows tell.

    Args:
        rows: table -> rows, cells in the order of the columns, `more_fields` last.
    """
    specs = list(specs_of(layout))
    keys = {spec["name"]: {row[0] for row in rows[spec["name"]]} for spec in specs}
    owner = {child["name"]: (spec["name"], spec["key"]) for spec in specs for child in spec["children"]}
    tables = []
    for spec in specs:
        columns = []
        for place, (name, path) in enumerate(spec["columns"]):
            values = [row[place] for row in rows[spec["name"]]]
            reference = ""
            if name == spec["parent"]:
                reference = ".".join(owner[spec["name"]])
            elif place:
                reference = _reference(name, values, spec, specs, keys)
            columns.append(_column(name, path, values, place == 0, reference, name in spec["booleans"]))
        noun = singular(spec["name"]).replace("_", " ")
        tables.append(
            Table(
                name=spec["name"],
                noun=noun,
                nouns=plural(noun),
                key=spec["key"],
                label=_label(spec, rows[spec["name"]]),
                columns=tuple(_with_label(columns, _label(spec, rows[spec["name"]]))),
                origin="mined",
                rows=len(rows[spec["name"]]),
            )
        )
    return tuple(tables)


def _reference(
    name: str, values: Sequence[Any], spec: Mapping[str, Any], specs: Sequence[Mapping[str, Any]],
    keys: Mapping[str, set[Any]],
) -> str:  # fmt: skip
    """Return 'table.key' if a column's values are keys of another table and its name says so, else ''."""
    present = {value for value in values if value is not None and value != ""}
    if not present or any(isinstance(value, float) for value in present):
        return ""
    best: tuple[float, str] = (0.0, "")
    low = snake(name)
    for other in specs:
        if other["name"] == spec["name"] or not present <= keys[other["name"]] or other["shape"] == "values":
            continue
        noun = singular(other["name"]).lower()
        last = noun.rpartition("_")[2]
        score = 0.0
        if low == snake(other["key"]) and low not in ("id", "name", "code"):
            score = 3.0
        elif low in (f"{noun}_id", f"{noun}id", noun, f"{last}_id", f"{last}id", last, f"{noun}_code"):
            score = 2.5
        elif noun in low or (last in low and len(last) > 3):
            score = 2.0
        elif low.endswith(("_id", "id", "_by", "_to", "_code")) and all(isinstance(v, str) for v in present):
            score = 1.0
        score -= 0.1 * bool(other["parent"])
        if score > best[0]:
            best = (score, f"{other['name']}.{other['key']}")
    return best[1]


def _type(values: Sequence[Any]) -> ColumnType:
    present = [value for value in values if value is not None]
    if not present:
        return "string"
    if all(isinstance(v, int) for v in present):
        return "integer"
    if all(isinstance(v, int | float) for v in present):
        return "number"
    texts = [str(v) for v in present]
    if all(_DATE.fullmatch(v) for v in texts):
        return "date"
    return "datetime" if all(_DATETIME.fullmatch(v) for v in texts) else "string"


def _column(name: str, path: Sequence[str], values: Sequence[Any], key: bool, reference: str, boolean: bool) -> Column:
    kind = "boolean" if boolean else _type(values)
    present = [value for value in values if value is not None and value != ""]
    distinct = sorted({str(value) for value in present})
    texts = kind == "string"
    low = snake(name)
    state = bool(re.search(r"(^|_)(status|state|stage|phase)$", low))
    few = texts and 1 < len(distinct) <= _MOST_CHOICES and len(present) >= 2 * len(distinct)
    role: ColumnRole = "attribute"
    if key:
        role = "key"
    elif reference:
        role = "reference"
    elif kind in ("date", "datetime"):
        role = "date"
    elif kind == "boolean":
        role = "flag"
    elif kind in ("integer", "number"):
        role = "measure" if not low.endswith(("id", "_code", "number", "_no", "year", "zip")) else "attribute"
    elif texts and state and len(distinct) <= _MOST_CHOICES:
        role = "status"
    elif few and all(len(text) <= 40 and "\n" not in text for text in distinct):
        role = "category"
    elif texts and any(len(text) > 60 or "\n" in text or text[:1] in "[{" for text in distinct):
        role = "text"
    whole = len(present) == len(values)
    return Column(
        name=name,
        type=kind,
        role=role,
        description=".".join(map(str, path)) if len(path) > 1 else "",
        nullable=not key,  # foreign tools check nothing
        unique=whole and len(present) == len(set(map(str, present))) and len(present) > 1,
        choices=tuple(distinct) if role in ("status", "category") else (),
        references=reference,
    )


def _label(spec: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]) -> str:
    """Return the column that a person names a row by: a text whose values nearly all differ."""
    noun = singular(spec["name"]).lower()
    for wanted in (*_LABELS, f"{noun}_name", f"{noun}_title", "name_", "email"):
        for place, (name, _) in enumerate(spec["columns"]):
            if place == 0 or snake(name) != wanted:
                continue
            values = [row[place] for row in rows if isinstance(row[place], str)]
            if values and len(values) == len(rows) and len(set(values)) >= 0.8 * len(values):
                return name
    return ""


def _with_label(columns: Sequence[Column], label: str) -> list[Column]:
    return [c.model_copy(update={"role": "label"}) if c.name == label and not c.references else c for c in columns]


def owners_of(layout: Mapping[str, Any]) -> dict[str, str]:
    """Return the path of the file that each table of a layout is kept in."""
    owners = {}
    for file in layout["files"]:
        owners.update({spec["name"]: file["path"] for spec in specs_of({"files": [file]})})
    return owners
