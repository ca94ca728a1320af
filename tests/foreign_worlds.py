"""Writes worlds in the layout of the official Agent-World release: healthy ones of many shapes, made by rules."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_FIRST = ("Ada", "Bruno", "Chiara", "Dmitri", "Esra", "Femi", "Gwen", "Hugo", "Ines", "Jonas", "Kaia", "Lars")
_LAST = ("Abara", "Berg", "Cruz", "Duarte", "Ek", "Fischer", "Grant", "Holm", "Ito", "Jensen", "Kaya", "Lund")
_CITIES = ("Bergen", "Cork", "Delft", "Ghent", "Lucca")


@dataclass
class World:
    """A world to be written: tables of rows, how they are stored, and tools by source."""

    name: str
    style: str = "env"
    tables: dict[str, list[Row]] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    tools: list[Row] = field(default_factory=list)
    questions: list[Row] = field(default_factory=list)

    def keys(self, table: str) -> list[Any]:
        """Return the keys of a table, which stand first in its rows."""
        return [next(iter(row.values())) for row in self.tables[table]]


def people(rng: random.Random, n: int) -> list[str]:
    """Return distinct names."""
    return rng.sample([f"{first} {last}" for first in _FIRST for last in _LAST], n)


def day(rng: random.Random, month: int = 3) -> str:
    """Return a day of 2025."""
    return f"2025-{month:02d}-{rng.randint(1, 28):02d}"


# --- how files are written ------------------------------------------------------------------------------------------


def file_name(world: World, table: str) -> str:
    """Return the name of a table's file."""
    kind = world.formats.get(table, "list")
    return f"{table}.{ {'csv': 'csv', 'yaml': 'yaml'}.get(kind, 'json') }"


def content(world: World, table: str) -> str:
    """Return a table's file."""
    kind, rows = world.formats.get(table, "list"), world.tables[table]
    if kind == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()
    if kind == "yaml":
        lines = []
        for row in rows:
            for number, (name, value) in enumerate(row.items()):
                lines.append(f"{'  ' if number else '- '}{name}: {json.dumps(value)}")
        return "\n".join(lines) + "\n"
    if kind == "map":
        return json.dumps({str(next(iter(row.values()))): row for row in rows}, indent=2)
    if kind == "inside":
        return json.dumps({"version": 3, table: rows, "generated_by": "catalogue"}, indent=1)
    return json.dumps(rows, indent=2)


def write_release(folder: Path, worlds: list[World]) -> Path:
    """Write worlds as a release and return its folder."""
    (folder / "questions").mkdir(parents=True, exist_ok=True)
    for world in worlds:
        place = folder / world.name
        place.mkdir(exist_ok=True)
        for table in world.tables:
            (place / file_name(world, table)).write_text(content(world, table))
        for name, text in world.extra.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        checkpoint = {
            "data": {
                "DatabaseAgent": {"files_summary": [{"path": file.name} for file in sorted(place.glob("*.*"))]},
                "ToolDesignAgent": {"tool_schemas": world.tools},
            },
            "metadata": {
                "name": world.name.replace("_", " ").title(),
                "description": f"Records and workflows of {world.name.replace('_', ' ')}.",
                "taxonomy": {"level1": "Document & Design", "level2": "Records", "level3": world.name},
            },
        }
        (folder / f"{world.name}_step4_checkpoint.json").write_text(json.dumps(checkpoint, indent=1))
        (folder / "questions" / f"{world.name}.json").write_text(json.dumps({"tasks": world.questions}, indent=1))
    return folder


# --- how tools are written ------------------------------------------------------------------------------------------


def _indent(text: str, spaces: int) -> str:
    return "\n".join(" " * spaces + line if line else line for line in text.splitlines())


def loading(world: World, table: str) -> str:
    """Return the lines that load a table as the list `rows` and define `save(rows)`, in the world's style."""
    name = file_name(world, table)
    path = {
        "env": f'os.path.join(os.environ["MCP_DB_DIR"], "{name}")',
        "hard": f'"/app/database/{world.name}/{name}"',
        "plain": f'"/app/database/{name}"',
        "mixed": f'os.path.join(os.environ.get("MCP_DB_DIR", "/app/database/{world.name}"), "{name}")',
        "pathlib": f'str(pathlib.Path(os.environ["MCP_DB_DIR"]) / "{name}")',
    }[world.style]
    kind = world.formats.get(table, "list")
    key = next(iter(world.tables[table][0]))
    if kind == "csv":
        return f"""path = {path}
with open(path, newline="", encoding="utf-8") as handle:
    rows = list(csv.DictReader(handle))
names = list(rows[0])

def save(changed, path=path, names=names):
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, names, lineterminator="\\n")
        writer.writeheader()
        writer.writerows(changed)"""
    if kind == "yaml":
        return f"""path = {path}
with open(path, encoding="utf-8") as handle:
    rows = yaml.safe_load(handle)

def save(changed, path=path):
    with open(path, "w", encoding="utf-8") as handle:
        yaml.safe_dump(changed, handle, sort_keys=False)"""
    take, put = {
        "list": ("whole", "changed"),
        "map": ("list(whole.values())", f'{{str(row["{key}"]): row for row in changed}}'),
        "inside": (f'whole["{table}"]', f'{{**whole, "{table}": changed}}'),
    }[kind]
    atomic = world.style == "mixed"
    target = 'path + ".tmp"' if atomic else "path"
    return f"""path = {path}
with open(path, "r", encoding="utf-8") as handle:
    whole = json.load(handle)
rows = {take}

def save(changed, path=path, whole=whole):
    with open({target}, "w", encoding="utf-8") as handle:
        json.dump({put}, handle, indent=2)""" + ("\n    os.replace(path + '.tmp', path)" if atomic else "")


def source(world: World, name: str, arguments: str, tables: tuple[str, ...], body: str) -> str:
    """Return a tool's source: self-contained, with helpers at module level, or as a class."""
    imports = "import csv\nimport datetime\nimport json\nimport os\nimport pathlib\nimport uuid\n"
    if any(world.formats.get(table) == "yaml" for table in tables):
        imports += "import yaml\n"
    if world.style == "hard":  # module-level helpers, one a table
        helpers = "\n\n".join(
            f"def _load_{table}():\n{_indent(loading(world, table), 4)}\n    return rows, save" for table in tables
        )
        loads = "\n".join(f"{table}, save_{table} = _load_{table}()" for table in tables)
        return (
            f"{imports}\nLIMIT = 50\n\n{helpers}\n\ndef {name}({arguments}):\n{_indent(loads, 4)}\n{_indent(body, 4)}\n"
        )
    loads = "\n".join(f"{loading(world, table)}\n{table}, save_{table} = rows, save" for table in tables)
    if world.style == "pathlib":
        owner = "".join(part.title() for part in name.split("_")) + "Tool"
        inner = f"    def {name}(self, {arguments}):\n{_indent(loads, 8)}\n{_indent(body, 8)}\n"
        return f"{imports}\nclass {owner}:\n    def __init__(self):\n        self.name = '{name}'\n\n{inner}"
    return f"def {name}({arguments}):\n{_indent(imports, 4)}\n{_indent(loads, 4)}\n{_indent(body, 4)}\n"


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def tool(world: World, name: str, description: str, given: dict[str, Any], tables: tuple[str, ...], body: str) -> None:
    """Add a tool; `given` is parameter -> type, or (type,) for an optional one, or a schema."""
    properties: dict[str, Any] = {}
    required, parts = [], []
    for parameter, kind in given.items():
        optional = isinstance(kind, tuple)
        schema = dict(kind) if isinstance(kind, dict) else {"type": _TYPES[kind[0] if optional else kind]}
        schema.setdefault("description", parameter.replace("_", " ").capitalize())
        properties[parameter] = schema
        if not optional:
            required.append(parameter)
        parts.append(f"{parameter}=None")
    function = name.replace("-", "_")
    arguments = ", ".join([*parts, "**kwargs"])
    world.tools.append(
        {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": required},
            "implementation": source(world, function, arguments, tables, body),
        }
    )


def refusal(code: str, message: str) -> str:
    """Return the line that refuses."""
    return f'return {{"error": {{"code": "{code}", "message": "{message}"}}}}'


def getter(world: World, table: str, noun: str, wrapped: str = "", hyphen: bool = False) -> None:
    """Add a tool that gets a row by its key, flat or wrapped in an object."""
    key = next(iter(world.tables[table][0]))
    result = f'{{"{wrapped}": row}}' if wrapped else "row"
    body = f"""for row in {table}:
    if str(row["{key}"]) == str({key}):
        return {result}
{refusal("NOT_FOUND", f"no such {noun}")}"""
    tool(world, f"get-{noun}" if hyphen else f"get_{noun}", f"Get one {noun} by its id.",
         {key: type(world.keys(table)[0])}, (table,), body)  # fmt: skip


def searcher(world: World, table: str, filters: dict[str, str], hyphen: bool = False, listed: str = "") -> None:
    """Add a tool that searches a table; `filters` is column -> equals, contains, min or max."""
    lines, given = ["found = []", f"for row in {table}:"], {}
    first = world.tables[table][0]
    for column, how in filters.items():
        name = {"min": f"min_{column}", "max": f"max_{column}"}.get(how, column)
        given[name] = (type(first[column]),)
        test = {
            "equals": f'str(row["{column}"]).lower() != str({name}).lower()',
            "contains": f'str({name}).lower() not in str(row["{column}"]).lower()',
            "min": f'float(row["{column}"]) < float({name})',
            "max": f'float(row["{column}"]) > float({name})',
        }[how]
        lines.append(f"    if {name} is not None and {test}:\n        continue")
    lines.append("    found.append(row)")
    lines.append(f'return {{"{listed or table}": found, "count": len(found)}}')
    tool(world, f"search-{table}" if hyphen else f"search_{table}", f"Search {table} by {', '.join(filters)}.",
         given, (table,), "\n".join(lines))  # fmt: skip


def mover(world: World, table: str, noun: str, verb: str, start: tuple[str, ...], end: str, stamp: str = "") -> None:
    """Add a tool that moves a row's status."""
    key = next(iter(world.tables[table][0]))
    mark = f'\n        row["{stamp}"] = datetime.datetime.now().strftime("%Y-%m-%dT%H:%M:%S")' if stamp else ""
    body = f"""for row in {table}:
    if str(row["{key}"]) == str({key}):
        if row["status"] not in {start!r}:
            {refusal("INVALID_STATE", "not possible in this status")}
        row["status"] = "{end}"{mark}
        save_{table}({table})
        return {{"success": True, "{noun}": row}}
{refusal("NOT_FOUND", f"no such {noun}")}"""
    tool(world, f"{verb}_{noun}", f"{verb.capitalize()} a {noun}.", {key: type(world.keys(table)[0])}, (table,), body)


def setter(world: World, table: str, noun: str, column: str, low: float | None = None) -> None:
    """Add a tool that sets a column of a row."""
    key = next(iter(world.tables[table][0]))
    guard = (
        f"\n        if {column} < {low}:\n            {refusal('INVALID_VALUE', 'too low')}" if low is not None else ""
    )
    body = f"""for row in {table}:
    if str(row["{key}"]) == str({key}):{guard}
        row["{column}"] = {column}
        save_{table}({table})
        return row
{refusal("NOT_FOUND", f"no such {noun}")}"""
    tool(world, f"update_{noun}_{column}", f"Set the {column.replace('_', ' ')} of a {noun}.",
         {key: str, column: type(world.tables[table][0][column])}, (table,), body)  # fmt: skip


def creator(
    world: World, table: str, noun: str, given: dict[str, str], fixed: Row, minted: str = "sequence",
) -> None:  # fmt: skip
    """Add a tool that creates a row; `given` is column -> the table that it refers to, or ''."""
    key = next(iter(world.tables[table][0]))
    tables = (table, *dict.fromkeys(other for other in given.values() if other))
    lines = []
    for column, other in given.items():
        if other:
            other_key = next(iter(world.tables[other][0]))
            lines.append(f'if not any(str(row["{other_key}"]) == str({column}) for row in {other}):')
            lines.append("    " + refusal("NOT_FOUND", f"no such {column}"))
    prefix = str(world.keys(table)[0]).rstrip("0123456789")
    fresh = {
        "sequence": f'"{prefix}" + str(len({table}) + 1).zfill(3)',
        "uuid": "str(uuid.uuid4())",
        "time": f'"{prefix}" + datetime.datetime.now().strftime("%Y%m%d%H%M%S")',
    }[minted]
    cells = [f'"{key}": {fresh}', *(f'"{column}": {column}' for column in given)]
    for column, value in fixed.items():
        now = 'datetime.datetime.now().strftime("%Y-%m-%dT%H:%M:%S")'
        cells.append(f'"{column}": {now if value == "$clock" else repr(value)}')
    lines.append(f"row = {{{', '.join(cells)}}}")
    lines.append(f"{table}.append(row)\nsave_{table}({table})\nreturn row")
    first = world.tables[table][0]
    tool(world, f"create_{noun}", f"Create a {noun}.", {column: type(first[column]) for column in given},
         tables, "\n".join(lines))  # fmt: skip


def counter(world: World, table: str, column: str, measure: str = "") -> None:
    """Add a tool that counts the rows of one value of a column, or sums a measure over them."""
    body = f'chosen = [row for row in {table} if {column} is None or row["{column}"] == {column}]\n'
    if measure:
        body += f'return {{"total_{measure}": round(sum(float(row["{measure}"]) for row in chosen), 2)}}'
    else:
        body += 'return {"count": len(chosen)}'
    what = f"sum_{measure}_of_{table}" if measure else f"count_{table}"
    said = f"Sum the {measure} of {table}" if measure else f"Count {table}"
    tool(world, what, f"{said} by {column}.", {column: (str,)}, (table,), body)
