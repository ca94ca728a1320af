"""Infer what a foreign reading tool does from its probes: get, search, list or aggregate, and what its fields mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from schemas.database import Column, Table
from schemas.tool import Meaning, ToolField
from tasks.imports.literals import Row, schema_types
from tasks.imports.observe import Seen, lists, numbers, objects, seen_rows, shown_columns
from tasks.imports.probe import Probe, ToolProbes
from tasks.imports.values import LIMITS, QUERIES, Candidate, Data
from tasks.imports.world import snake

_ENOUGH = 2
"""How many probes with different results a meaning must hold in."""


@dataclass(frozen=True)
class Reading:
    """What a tool was found to do; kind "read" if it only is known to change nothing."""

    kind: str
    table: str = ""
    inputs: tuple[ToolField, ...] = ()
    outputs: tuple[ToolField, ...] = ()
    tables: tuple[str, ...] = ()


def field_type(column: Column) -> Any:
    """Return the JSON type of a column's cells in observations."""
    return {"integer": "integer", "number": "number", "boolean": "boolean"}.get(column.type, "string")


def infer_reading(data: Data, probes: ToolProbes) -> Reading:
    """Return what the probes agree on."""
    done = probes.done
    seen = [seen_rows(data, probe.observation) for probe in done]
    tables = tuple(sorted({item.table.name for rows in seen for item in rows}))
    for infer in (_get, _search, _aggregate):
        found = infer(data, probes, done, seen)
        if found is not None:
            return Reading(found.kind, found.table, found.inputs, found.outputs, tables or (found.table,))
    return Reading("read", tables=tables)


def _cells(table: Table, columns: frozenset[str], prefix: str) -> tuple[ToolField, ...]:
    return tuple(
        ToolField(
            path=prefix + column.name,
            type=field_type(column),
            entity=column.references or f"{table.name}.{column.name}",
            meaning="cell",
            of=f"{table.name}.{column.name}",
        )
        for column in table.columns
        if column.name in columns
    )


def _input(probes: ToolProbes, name: str, table: Table, column: Column, meaning: Meaning) -> ToolField:
    kinds = schema_types(probes.tool.parameters["properties"][name])
    kind = next((k for k in kinds if k != "null"), "string")
    return ToolField(
        path=name, type=kind, entity=column.references or f"{table.name}.{column.name}", meaning=meaning,
        of=f"{table.name}.{column.name}",
    )  # fmt: skip


def _get(data: Data, probes: ToolProbes, done: Sequence[Probe], seen: Sequence[Sequence[Seen]]) -> Reading | None:
    required = probes.tool.parameters["required"] or list(probes.tool.parameters["properties"])[:1]
    if len(required) != 1 or len(done) < 1:
        return None
    name = required[0]
    keyed = [c.table for c in data.candidates(probes.tool, name) if c.column.name == c.table.key]
    for table in {t.name: t for t in [*keyed, *(item.table for rows in seen for item in rows)]}.values():
        found = _got(data, probes, table, name, [probe for probe in done if name in probe.arguments])
        if found is not None:
            return found
    return None


def _got(data: Data, probes: ToolProbes, table: Table, name: str, done: Sequence[Probe]) -> Reading | None:
    """Return the reading if every probe shows, at one place, the row whose key it was given."""
    rows = {str(key): row for key, row in data.by_key_cached(table).items()}
    places: dict[str, frozenset[str]] | None = None
    keys = set()
    for probe in done:
        row = rows.get(str(probe.arguments[name]))
        if row is None:
            return None
        keys.add(row[table.key])
        here: dict[str, frozenset[str]] = {}
        for path, item in objects(probe.observation):
            same, other = shown_columns(table, row, item)
            if "[]" not in path and len(same) >= 2 and len(same) > other:
                here[path] = same
        places = here if places is None else {p: places[p] & here[p] for p in places if p in here}
    if not places or len(keys) < min(_ENOUGH, len(rows)):
        return None
    path = max(places, key=lambda p: (len(places[p]), -len(p)))
    prefix = f"{path}." if path else ""
    given = _input(probes, name, table, table.column(table.key), "equals")
    return Reading("get", table.name, (given,), _cells(table, places[path], prefix))


# --- searches -------------------------------------------------------------------------------------------------------

Filter = Callable[[Row], bool]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left in (0, 1) and bool(left) == bool(right)
    return left == right or str(left).lower() == str(right).lower()


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _least(left: Any, right: Any) -> bool:
    first, second = _number(left), _number(right)
    if first is not None and second is not None:
        return first >= second
    return isinstance(left, str) and isinstance(right, str) and left >= right


def _meanings(column: Column, name: str) -> Iterator[tuple[Meaning, Callable[[Any, Any], bool]]]:
    """Yield the meanings that a parameter over a column may have, the likeliest first."""
    lower = snake(name)
    ordered = column.type in ("integer", "number", "date", "datetime")
    plain: list[tuple[Meaning, Callable[[Any, Any], bool]]] = [("equals", _same)]
    if column.type == "string" and not column.references and column.role in ("label", "text", "attribute", "category"):
        plain.append(("contains", lambda cell, given: str(given).lower() in str(cell).lower()))
    ranged: list[tuple[Meaning, Callable[[Any, Any], bool]]] = []
    if ordered:
        ranged = [("at_least", _least), ("at_most", lambda cell, given: _least(given, cell))]
    first = ranged if any(lower.startswith(p) for p in ("min", "max", "start", "end", "from", "to", "after", "before",
                                                       "since", "until")) else []  # fmt: skip
    yield from (*first, *plain, *(() if first else ranged))


def _keep(rows: Sequence[Row], column: str, test: Callable[[Any, Any], bool], value: Any) -> list[Row]:
    return [row for row in rows if row[column] is not None and test(row[column], value)]


@dataclass
class _List:
    """Where a tool lists the rows of a table."""

    path: str
    table: Table
    columns: frozenset[str]


def _listed(done: Sequence[Probe], seen: Sequence[Sequence[Seen]], data: Data) -> _List | None:
    places: Counter[tuple[str, str]] = Counter()
    columns: dict[tuple[str, str], frozenset[str]] = {}
    for rows in seen:
        for item in rows:
            if item.path.endswith("[]") and item.path.count("[]") == 1:
                place = (item.path, item.table.name)
                places[place] += 1
                columns[place] = columns.get(place, item.columns) & item.columns
    if not places:
        return None
    place = max(places, key=lambda p: (places[p], p))
    return _List(place[0], data.table(place[1]), columns[place])


def _shown_keys(probe: Probe, rows: Sequence[Seen], place: _List) -> list[Any] | None:
    """Return the keys of the rows that a probe lists; None if the list shows other things too, or is not there."""
    found = dict(lists(probe.observation)).get(place.path[:-2])
    keys = [item.row[place.table.key] for item in rows if item.path == place.path and item.table is place.table]
    if found is None:
        return None
    return keys if len(found) == len(keys) else None


def _agrees(shown: Sequence[Any], wanted: Sequence[Any], limit: int | None) -> bool:
    """Say whether a list shows the wanted rows: all of them, or as many as the tool's limit lets through."""
    if len(shown) == len(wanted):
        return set(shown) == set(wanted)
    return limit is not None and len(shown) == min(limit, len(wanted)) and set(shown) <= set(wanted)


def _search(data: Data, probes: ToolProbes, done: Sequence[Probe], seen: Sequence[Sequence[Seen]]) -> Reading | None:
    place = _listed(done, seen, data)
    if place is None:
        return None
    rows_by_probe = {id(probe): rows for probe, rows in zip(done, seen, strict=True)}
    keys = {id(probe): _shown_keys(probe, rows_by_probe[id(probe)], place) for probe in done}
    if all(found is None for found in keys.values()):
        return None
    longest = max(len(found) for found in keys.values() if found is not None)
    limit = longest if longest in (5, 10, 20, 25, 50, 100) and longest < len(data.rows[place.table.name]) else None
    chosen: dict[str, tuple[Column, Meaning, Callable[[Any, Any], bool]]] = {}
    properties = probes.tool.parameters["properties"]
    required = probes.tool.parameters["required"]
    inputs: list[ToolField] = []
    for name in [*required, *(n for n in properties if n not in required)]:
        if name.lower() in LIMITS and "integer" in schema_types(properties[name]):
            inputs.append(ToolField(path=name, type="integer", meaning="limit"))
            continue
        relevant = [
            probe
            for probe in done
            if name in probe.arguments
            and keys[id(probe)] is not None
            and all(n == name or n in chosen or n in LIMITS for n in probe.arguments)
        ]
        found = _filter(data, probes, place, name, relevant, keys, chosen, limit)
        if found is not None:
            chosen[name] = found
            inputs.append(_input(probes, name, place.table, found[0], found[1]))
    if any(name not in chosen for name in required):
        return None
    if place.table.key not in place.columns:
        return None
    outputs = list(_cells(place.table, place.columns, f"{place.path}."))
    total = _total(data, probes, place, done, keys, chosen)
    if total:
        outputs.append(ToolField(path=total, type="integer", meaning="matches", of=place.table.name))
    kind = "search" if chosen else "list"
    return Reading(kind, place.table.name, tuple(inputs), tuple(outputs))


def _expected(
    data: Data, place: _List, chosen: dict[str, tuple[Column, Meaning, Callable[[Any, Any], bool]]],
    arguments: dict[str, Any],
) -> list[Row]:  # fmt: skip
    rows: list[Row] = data.rows[place.table.name]
    for name, value in arguments.items():
        if name in chosen:
            column, _, test = chosen[name]
            rows = _keep(rows, column.name, test, value)
    return rows


def _filter(
    data: Data, probes: ToolProbes, place: _List, name: str, relevant: Sequence[Probe], keys: dict[int, Any],
    chosen: dict[str, tuple[Column, Meaning, Callable[[Any, Any], bool]]], limit: int | None,
) -> tuple[Column, Meaning, Callable[[Any, Any], bool]] | None:  # fmt: skip
    """Return (column, meaning, test) of a parameter that explains every relevant probe, and some of them tellingly."""
    own = [c for c in data.candidates(probes.tool, name) if c.table is place.table]
    if name.lower() in QUERIES and place.table.label:
        # a search over several columns is told apart by whole labels only, and by them alone prompts name rows
        labels = {str(row[place.table.label]) for row in data.rows[place.table.name]}
        relevant = [probe for probe in relevant if str(probe.arguments[name]) in labels]
        own.insert(0, Candidate(place.table, place.table.column(place.table.label), 9.0))
    own += [
        Candidate(place.table, column, 0.5)
        for c in data.candidates(probes.tool, name)
        for column in place.table.columns
        if column.references == c.entity
    ]
    known = {c.column.name for c in own}
    own += [Candidate(place.table, column, 0.1) for column in place.table.columns if column.name not in known]
    for candidate in own:
        for meaning, test in _meanings(candidate.column, name):
            telling = 0
            for probe in relevant:
                rows = _expected(data, place, chosen, probe.arguments)
                kept = _keep(rows, candidate.column.name, test, probe.arguments[name])
                if not _agrees(keys[id(probe)], [row[place.table.key] for row in kept], limit):
                    break
                telling += bool(kept) and len(kept) < len(rows)
            else:
                if telling:
                    return candidate.column, meaning, test
    return None


def _total(
    data: Data, probes: ToolProbes, place: _List, done: Sequence[Probe], keys: dict[int, Any],
    chosen: dict[str, tuple[Column, Meaning, Callable[[Any, Any], bool]]],
) -> str:  # fmt: skip
    """Return the path of the number of matches, '' if there is none."""
    relevant = [p for p in done if all(name in chosen or name.lower() in LIMITS for name in p.arguments)]
    counts = [len(_expected(data, place, chosen, probe.arguments)) for probe in relevant]
    if len(set(counts)) < _ENOUGH:
        return ""
    found = [dict(numbers(probe.observation)) for probe in relevant]
    for path in found[0]:
        if all(values.get(path) == count for values, count in zip(found, counts, strict=True)):
            return path
    return ""


# --- statistics -----------------------------------------------------------------------------------------------------


def _statistics(table: Table, rows: Sequence[Row]) -> Iterator[tuple[Meaning, str, float]]:
    yield "count", "", len(rows)
    for column in table.columns:
        if column.type not in ("integer", "number") or column.references or column.name == table.key:
            continue
        values = [row[column.name] for row in rows if isinstance(row[column.name], int | float)]
        yield "sum", column.name, sum(values)
        if values:
            yield "average", column.name, fmean(values)
            yield "minimum", column.name, min(values)
            yield "maximum", column.name, max(values)


def _aggregate(data: Data, probes: ToolProbes, done: Sequence[Probe], seen: Any) -> Reading | None:
    """Find a number that is a statistic over the rows that one parameter narrows down."""
    required = probes.tool.parameters["required"]
    for name in probes.tool.parameters["properties"]:
        if required and required != [name]:
            continue
        relevant = [probe for probe in done if set(probe.arguments) == {name}]
        if len(relevant) < _ENOUGH:
            continue
        for candidate in data.candidates(probes.tool, name)[:8]:
            table, column = candidate.table, candidate.column
            options: set[tuple[str, Meaning, str]] | None = None
            results: set[float] = set()
            for probe in relevant:
                rows = _keep(data.rows[table.name], column.name, _same, probe.arguments[name])
                holding = {
                    (path, meaning, of)
                    for path, number in numbers(probe.observation)
                    for meaning, of, value in _statistics(table, rows)
                    if abs(number - value) <= 0.006
                }
                results.add(float(len(rows)))
                options = holding if options is None else options & holding
                if not options:
                    break
            if not options or (len(results) < _ENOUGH and len(relevant) < 3):
                continue
            path, meaning, of = sorted(options, key=lambda o: (o[2] not in probes.tool.name, len(o[0]), o))[0]
            whole = all(isinstance(dict(numbers(probe.observation)).get(path), int) for probe in relevant)
            output = ToolField(
                path=path, type="integer" if whole else "number", meaning=meaning,
                of=f"{table.name}.{of}" if of else table.name,
            )  # fmt: skip
            inputs = (_input(probes, name, table, column, "equals"),)
            return Reading("aggregate", table.name, inputs, (output,))
    return None
