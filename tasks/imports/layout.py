"""Infer tables from foreign files: which collections they hold, and each collection's key and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.environment.runtime.files.rows import NotRead, look, parse
from tasks.imports.words import singular
from tasks.imports.world import snake

FORMATS = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".yaml": "yaml",
    ".yml": "yaml",
}  # fmt: skip
RESERVED = frozenset(("documents", "foreign_files", "foreign_code", "foreign_layout", "more_fields"))
_MOST_DEPTH = 4
_ALIKE = 0.4
_SQL_WORDS = frozenset(("rowid", "oid", "_rowid_"))

Spec = dict[str, Any]


def file_format(path: str) -> str:
    """Return the format that a file's name says; "" for texts."""
    return FORMATS.get("." + path.rpartition(".")[2].lower(), "") if "." in path else ""


def identifier(text: str) -> str:
    """Return a name for a table or column: kept if it is one, else cleaned to letters, digits and underscores."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text) and text.lower() not in _SQL_WORDS:
        return text
    cleaned = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
    cleaned = cleaned if cleaned[:1].isalpha() else f"c_{cleaned}"
    return f"{cleaned}_" if cleaned in _SQL_WORDS else cleaned


def infer_layout(
    files: Mapping[str, bytes], folder: str, logs: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return (layout, [(path, why it could not be read)]).

    Args:
        files: path -> content.
        folder: the environment's folder in its release.
        logs: files that are left out of the state.
        names: native tool name -> the name in the release.
    """
    layout: dict[str, Any] = {"folder": folder, "logs": sorted(logs), "files": [], "names": dict(names or {})}
    problems: list[tuple[str, str]] = []
    taken: set[str] = set(RESERVED)
    for path in sorted(set(files) - set(logs)):
        kind = file_format(path)
        if not kind:
            continue
        try:
            data = parse(files[path], kind)
        except NotRead as error:
            problems.append((path, str(error)[:300]))
            continue
        base = identifier(re.sub(r"\.[^.]*$", "", path.rpartition("/")[2]).lower())
        specs = _collections(data, base, [], taken, 0)
        if specs:
            layout["files"].append({"path": path, "format": kind, "tables": specs})
    return layout, problems


def _fresh(name: str, taken: set[str], parent: str = "") -> str:
    wanted = name.lower()
    if wanted in taken and parent:
        wanted = f"{singular(parent)}_{wanted}"
    candidate, number = wanted, 2
    while candidate in taken:
        candidate, number = f"{wanted}_{number}", number + 1
    taken.add(candidate)
    return candidate


def _alike(records: Sequence[Any]) -> bool:
    """Say whether objects look like rows of one table: most of their fields are common."""
    counts: Counter[str] = Counter(name for record in records for name in record)
    if not counts:
        return False
    common = sum(1 for count in counts.values() if count >= _ALIKE * len(records))
    return common >= _ALIKE * len(counts) and common > 0


def shape_of(data: Any) -> str:
    """Return "list" or "map" for what holds records, else ""."""
    if isinstance(data, list):
        objects = [item for item in data if isinstance(item, dict)]
        return "list" if objects and len(objects) >= 0.9 * len(data) else ""
    if isinstance(data, dict) and data and all(isinstance(item, dict) and item for item in data.values()):
        values = list(data.values())
        if len(values) > 1 and _alike(values):
            return "map"
        if len(values) == 1:
            name, only = next(iter(data.items()))
            return "map" if name in only.values() or re.search(r"\d", str(name)) else ""
    return ""


def _collections(data: Any, base: str, at: list[str], taken: set[str], depth: int) -> list[Spec]:
    shape = shape_of(data)
    if shape:
        return [_collection(data, base, at, shape, taken, "", "", depth)]
    if isinstance(data, list) and data and not at and all(isinstance(x, str | int | float) for x in data):
        name = _fresh(base, taken)
        key = f"{singular(name)}_number"
        columns = [[key, []], ["value", ["value"]]]
        return [_spec(name, at, "values", key, "name", columns)]
    if isinstance(data, dict) and depth < 2:
        found = []
        for name, value in data.items():
            inner = _collections(value, identifier(str(name)), [*at, name], taken, depth + 1)
            found += [spec for spec in inner if spec["shape"] != "values"]
        return found
    return []


def _spec(name: str, at: list[str], shape: str, key: str, key_from: str, columns: list[Any]) -> Spec:
    return {
        "name": name, "at": at, "shape": shape, "key": key, "key_from": key_from, "key_path": [], "parent": "",
        "columns": columns, "children": [], "booleans": [],
    }  # fmt: skip


def _collection(
    data: Any, base: str, at: list[str], shape: str, taken: set[str], parent_table: str, parent_key: str, depth: int
) -> Spec:
    pairs = list(enumerate(data, 1)) if shape == "list" else list(data.items())
    pairs = [(name, record) for name, record in pairs if isinstance(record, dict)]
    records = [record for _, record in pairs]
    table = _fresh(base, taken, parent_table)
    spec = _spec(table, at, shape, "", "name", [])
    names: dict[str, list[str]] = {}
    used: set[str] = set(RESERVED)

    def column(path: list[str]) -> str:
        name = identifier("_".join(map(str, path)))
        candidate, number = name, 2
        while candidate.lower() in used:
            candidate, number = f"{name}_{number}", number + 1
        used.add(candidate.lower())
        names[candidate] = path
        return candidate

    children: list[tuple[list[str], str, Any]] = []
    fields = list(dict.fromkeys(name for record in records for name in record))
    for field in fields:
        values = [record[field] for record in records if record.get(field) is not None]
        inner = _merged(values) if depth < _MOST_DEPTH else ""
        if inner:
            children.append(([field], inner, values))
        elif values and all(isinstance(value, dict) for value in values) and _flat(values):
            for name in dict.fromkeys(name for value in values for name in value):
                column([field, name])
        else:
            column([field])
    _choose_key(spec, table, pairs, names, used, parent_key)
    if parent_key:
        wanted, number = parent_key, 2
        while wanted.lower() in used and not _holds_parent(names.get(wanted), records):
            wanted, number = f"{singular(parent_table)}_{parent_key}" if number == 2 else f"{wanted}_", number + 1
        names.pop(wanted, None)
        spec["parent"] = wanted
    rest = [[name, path] for name, path in names.items() if name != spec["key"]]
    parent = [[spec["parent"], []]] if spec["parent"] else []
    spec["columns"] = [[spec["key"], names.get(spec["key"], [])], *parent, *rest]
    spec["booleans"] = [
        name
        for name, path in names.items()
        if {type(v) for v in (look(record, path)[1] for record in records) if v is not None} == {bool}
    ]
    for path, inner, values in children:
        whole: Any = [x for value in values for x in value] if inner == "list" else {}
        if inner == "map":
            for number, value in enumerate(values):
                whole.update({f"{number}/{name}": record for name, record in value.items()})
        child = _collection(
            whole, identifier(path[-1]), path, inner, taken, table, spec["key"], depth + 1
        )  # the whole of all records' parts tells the columns
        spec["children"].append(child)
    return spec


def _merged(values: Sequence[Any]) -> str:
    """Return the shape of a nested collection, judged over all records."""
    lists = [value for value in values if isinstance(value, list)]
    if lists and len(lists) == len(values):
        return shape_of([item for value in lists for item in value])
    maps = [value for value in values if isinstance(value, dict)]
    if maps and len(maps) == len(values):
        inside = [item for value in maps for item in value.values()]
        if not inside or not all(isinstance(item, dict) and item for item in inside) or not _alike(inside):
            return ""
        names = Counter(name for value in maps for name in value)
        varied = len(names) > 2 * max(map(len, maps)) or any(name in item.values() for value in maps
                                                             for name, item in value.items())  # fmt: skip
        return "map" if varied else ""
    return ""


def _flat(values: Sequence[dict[str, Any]]) -> bool:
    """Say whether nested objects are few fields that most records share, so that they become columns."""
    counts = Counter(name for value in values for name in value)
    return 0 < len(counts) <= 12 and all(count >= 0.3 * len(values) for count in counts.values())


def _holds_parent(path: list[str] | None, records: Sequence[Any]) -> bool:
    """Say whether a field of nested records repeats their parent's key; it then is the parent column."""
    return path is not None and any(look(record, path)[0] for record in records)


def _choose_key(
    spec: Spec, table: str, pairs: Sequence[tuple[Any, Any]], names: dict[str, list[str]], used: set[str], parent: str
) -> None:
    """Set a collection's key: a unique field, best one that is named like an id; else the name or place."""
    noun = singular(table)
    best: tuple[int, str] | None = None
    for place, (name, path) in enumerate(names.items()):
        values = [look(record, path)[1] for _, record in pairs]
        if any(isinstance(v, bool) or not isinstance(v, str | int) for v in values) or len(set(values)) < len(values):
            continue
        score = key_score(name, noun) - place
        if spec["shape"] == "map" and values == [key for key, _ in pairs] and not parent:
            score += 1000
        if best is None or score > best[0]:
            best = (score, name)
    if spec["shape"] == "map" and (best is None or best[0] < 500) and not (best and best[0] >= 90 and parent):
        best = None
    if best is not None and best[0] > 20:
        spec["key"], spec["key_from"], spec["key_path"] = best[1], "field", names[best[1]]
        return
    wanted = f"{noun}_id" if spec["shape"] == "map" else f"{noun}_number"
    while wanted.lower() in used:
        wanted += "_"
    used.add(wanted.lower())
    spec["key"] = wanted


def key_score(name: str, noun: str) -> int:
    """Return how much a column's name sounds like the key of a noun's table."""
    low, flat = snake(name), noun.replace("_", "")
    if low in ("id", "_id", "uuid", f"{noun}_id", f"{noun}id", f"{flat}id", "key"):
        return 120
    if low in (f"{noun}_code", f"{noun}_number", f"{noun}_key", f"{noun}_no", "code", "sku", "slug", "symbol", noun):
        return 100
    if low.endswith(("_id", "id", "_code", "_number", "_key", "_uuid")):
        return 90
    if low in ("name", "title", "email", "username", "path", "url", "handle"):
        return 60
    return 30
