"""Files as rows: how a file's content becomes rows of tables and a document, the same way in factory and sandbox.

A layout is a JSON value, made by the importer and kept in the snapshot:
`{"folder": name, "logs": [paths], "fixed": {tool: {parameter: value}}, "files": [{"path", "format", "tables":
[collection, ...]}]}`, where `fixed` are the arguments that every call of a tool gets, and a collection is
`{"name", "at": [keys], "shape": "list" | "map" | "values" | "object", "key", "key_from": "field" | "name" | "place",
"parent", "columns": [[name, [path in the record]]], "children": [collection, ...]}`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MORE = "more_fields"
"""The column that holds what a record has beyond the columns of its table."""

Rows = dict[str, dict[str | int, tuple[Any, ...]]]
"""table -> key -> cells in the order of the table's columns, `MORE` last."""


_VALUES_A_CHARACTER = 10


class NotRead(ValueError):
    """A file's content does not have the form that its name or its layout says."""


def dumps(value: Any) -> str:
    """Return a JSON text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def parse(content: bytes, kind: str) -> Any:
    """Return a file's data: "json", "jsonl", "csv", "tsv" or "yaml".

    Raises:
        NotRead: if it has another form.
    """
    try:
        text = content.decode("utf-8-sig")
        if kind == "json":
            return json.loads(text)
        if kind == "jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        if kind in ("csv", "tsv"):
            return _table(text, "," if kind == "csv" else "\t")
        if kind == "yaml":
            import yaml

            return _plain(yaml.safe_load(text), [_VALUES_A_CHARACTER * len(text) + 1000])
    except Exception as error:
        raise NotRead(f"no {kind}: {type(error).__name__}: {error}") from error
    raise NotRead(f"no data in the form {kind!r}")


def _plain(value: Any, left: list[int]) -> Any:
    """Return YAML's data as JSON has it: dates as text, keys as text. `left` counts down the values that may come:
    a few lines of aliases of aliases would unfold to more than any memory holds."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("its aliases unfold to far more than is written")
    if isinstance(value, dict):
        return {str(key): _plain(item, left) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, left) for item in value]
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _table(text: str, delimiter: str) -> list[dict[str, Any]]:
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    if not rows:
        return []
    names = rows[0]
    return [
        {name: cell_of_text(value) for name, value in zip(names, row, strict=False)} for row in rows[1:] if any(row)
    ]


def cell_of_text(text: str) -> Any:
    """Return a CSV cell: a number where its text is exactly that number's, None where it is empty."""
    if text == "":
        return None
    try:
        number = int(text)
        return number if str(number) == text and abs(number) < 2**63 else text
    except ValueError:
        pass
    try:
        value = float(text)
        return value if repr(value) == text or f"{value:.2f}" == text or f"{value:.1f}" == text else text
    except ValueError:
        return text


def cell(value: Any) -> Any:
    """Return a value as SQLite holds it: booleans as 0 and 1, what nests and what is too large as text."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return dumps(value)


def look(record: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Return (whether a path exists in nested objects, what stands there)."""
    for part in path:
        if not isinstance(record, dict) or part not in record:
            return False, None
        record = record[part]
    return True, record


def _without(record: Mapping[str, Any], paths: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return a record without what stands at some paths; objects that become empty go too."""
    left: dict[str, Any] = {}
    for name, value in record.items():
        below = [path[1:] for path in paths if path and path[0] == name]
        if any(not path for path in below):
            continue
        if below and isinstance(value, dict):
            rest = _without(value, below)
            if rest:
                left[name] = rest
        else:
            left[name] = value
    return left


def _records(data: Any, shape: str) -> Iterator[tuple[str | int, Any]]:
    """Yield (name or place, record) of a collection.

    Raises:
        NotRead: if the data has another shape.
    """
    if shape in ("list", "values") and isinstance(data, list):
        yield from enumerate(data, 1)
    elif shape == "map" and isinstance(data, dict):
        yield from data.items()
    elif shape == "object" and isinstance(data, dict):
        yield 1, data
    else:
        raise NotRead(f"a collection is {type(data).__name__}, not a {shape}")


def _fill(rows: Rows, spec: Mapping[str, Any], data: Any, parent: str | int | None) -> None:
    found = rows.setdefault(spec["name"], {})
    columns: Sequence[tuple[str, Sequence[str]]] = spec["columns"]
    covered = [path for _, path in columns] + [child["at"] for child in spec["children"]]
    for name, record in _records(data, spec["shape"]):
        if spec["shape"] == "values" or not isinstance(record, dict):
            record = {"value": record}
        key = _key(spec, name, record, parent)
        while key in found:
            key = f"{key}#"
        cells = []
        for column, path in columns:
            if column == spec["key"]:
                cells.append(key)
            elif column == spec["parent"]:
                cells.append(parent)
            else:
                cells.append(cell(look(record, path)[1]))
        rest = _without(record, covered)
        for child in spec["children"]:
            there, inside = look(record, child["at"])
            if there and inside is not None:
                try:
                    _fill(rows, child, inside, key)
                except NotRead:
                    rest["/".join(child["at"])] = inside
        found[key] = (*cells, dumps(rest) if rest else None)


def _key(spec: Mapping[str, Any], name: str | int, record: Mapping[str, Any], parent: str | int | None) -> str | int:
    if spec["key_from"] == "field":
        value = look(record, spec["key_path"])[1]
        return value if isinstance(value, str | int) and not isinstance(value, bool) else f"?{name}"
    return name if parent is None else f"{parent}/{name}"


def empty_rows(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a collection's table and of those below it."""
    yield spec["name"]
    for child in spec["children"]:
        yield from empty_rows(child)


def rows_of(layout: Mapping[str, Any], content: bytes | None) -> tuple[Rows, str | None]:
    """Return (rows, document) of a file: what its layout does not cover is the document's text.

    A file that no longer has its form is all document, so that no change of it goes unseen. `content` None: there is
    no such file.
    """
    rows: Rows = {name: {} for spec in layout["tables"] for name in empty_rows(spec)}
    if content is None:
        return rows, None
    if not layout["tables"]:
        return rows, content.decode(errors="replace")
    try:
        data = parse(content, layout["format"])
        for spec in layout["tables"]:
            there, inside = look(data, spec["at"]) if spec["at"] else (True, data)
            if there:
                _fill(rows, spec, inside, None)
    except NotRead:
        return {name: {} for name in rows}, content.decode(errors="replace")
    if any(not spec["at"] for spec in layout["tables"]):
        return rows, None
    rest = _without(data, [spec["at"] for spec in layout["tables"]])
    return rows, dumps(rest) if rest else None
