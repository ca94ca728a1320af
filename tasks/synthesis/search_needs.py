"""What an episode must have seen and done to get full reward honestly: facts behind its answer, and its writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from schemas.episode import Step
from schemas.task import Call, Oracle
from schemas.tool import Tool
from tasks.dialogue import ASK_USER
from tasks.environment import UnresolvedReference, resolve_references
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.draft import references
from tasks.synthesis.gates import scalars
from tasks.synthesis.replay import Run
from tasks.synthesis.sight import Cell, Fact, Listing, Need, Statistic, call_name, filters_of
from tasks.synthesis.trace import trace_calls

_COLUMN = re.compile(r"\[\s*[\"'](\w+)[\"']\s*\]|\.get\(\s*[\"'](\w+)[\"']")


@dataclass(frozen=True)
class Needs:
    """What must have been seen (`facts`), the `writes` in order, and keys worth a look.

    `places` are the numbers that the writes have in the oracle; references inside the writes use them.
    """

    facts: tuple[Need, ...]
    writes: tuple[Call, ...]
    places: tuple[int, ...]
    keys: tuple[Any, ...]


def needs_of(atlas: Atlas, oracle: Oracle, run: Run) -> Needs:
    """Return what a solution of the oracle's task needs, as far as the oracle's own episode tells.

    A chain needs the cells that its answer and its arguments refer to, and what singles their rows out: the cells that
    the search's filters are about, and for a superlative all rows that it compares. A script needs all rows that its
    reads showed, in the columns that it names and filters by, and that there are no others; of a lookup by label it
    needs the row that it was for.
    """
    trace = trace_calls(run.steps, run.changes)
    places = tuple(n for n, step in enumerate(run.steps) if step.tool != ASK_USER and atlas.tools[step.tool].writes)
    facts = _script_needs(atlas, oracle, run) if oracle.script else _chain_needs(atlas, oracle, run)
    keys = [v for step in run.tool_steps for v in scalars(step.arguments) if isinstance(v, str) and len(v) > 1]
    keys += [fact.cells[0][1] for fact in facts if isinstance(fact, Fact) and fact.cells]
    return Needs(tuple(dict.fromkeys(facts)), tuple(trace[n] for n in places), places, tuple(dict.fromkeys(keys)))


def _chain_needs(atlas: Atlas, oracle: Oracle, run: Run) -> list[Need]:
    observations = [step.observation for step in run.steps]
    texts = [*references(oracle.answer), *(text for call in oracle.calls for text in references(call.arguments))]
    needs: list[Need] = []
    for text in sorted(set(texts)):
        number, _, path = text.partition(".")
        parent, _, leaf = path.rpartition(".")
        step = run.steps[int(number)]
        tool = atlas.tools[step.tool]
        try:
            row = resolve_references({"$ref": f"{number}.{parent}" if parent else number}, observations)
            value = resolve_references({"$ref": text}, observations)
        except UnresolvedReference:
            continue
        cells = _key_cells(atlas, tool.table, row)
        if not cells and _is_number(value):
            needs.append(Statistic(tool.table, value, _filters(tool, step)))
            continue
        needs.append(Fact((*cells, (leaf, value))))
        if not tool.writes:
            needs += _identified(atlas, tool, step, row)
    return needs


def _identified(atlas: Atlas, tool: Tool, step: Step, row: dict[str, Any]) -> list[Need]:
    """Return what singles a searched row out: the filtered cells; the whole list if there were others."""
    if tool.kind not in ("search", "list"):
        return []
    needs: list[Need] = [Fact((*_key_cells(atlas, tool.table, row), *_filtered(atlas, tool, step, row)))]
    if step.observation.get("total") != 1 and not _is_lookup(atlas, step.arguments, tool.table):
        needs.append(_listing(tool, step))
    return needs


def _filtered(atlas: Atlas, tool: Tool, step: Step, row: dict[str, Any]) -> tuple[Cell, ...]:
    """Return the cells of a row that a search's filters are about."""
    columns = [f.entity.partition(".")[2] for f in tool.inputs if f.path in step.arguments and f.entity]
    key = atlas.tables[tool.table].key if tool.table in atlas.tables else ""
    return tuple((name, row[name]) for name in dict.fromkeys(columns) if name in row and name != key)


def _filters(tool: Tool, step: Step) -> frozenset[str]:
    return filters_of(Call(tool=step.tool, arguments=step.arguments), tool)


def _listing(tool: Tool, step: Step) -> Listing:
    return Listing(tool.table, _filters(tool, step), call_name(Call(tool=step.tool, arguments=step.arguments)))


def _key_cells(atlas: Atlas, table: str, row: Any) -> tuple[Cell, ...]:
    """Return the cell that names a row: its table's key, or a document's name."""
    key = atlas.tables[table].key if table in atlas.tables else "name"
    return ((key, row[key]),) if isinstance(row, dict) and isinstance(row.get(key), (str, int)) else ()


def _script_needs(atlas: Atlas, oracle: Oracle, run: Run) -> list[Need]:
    named = {name for pair in _COLUMN.findall(oracle.script) for name in pair if name}
    needs: list[Need] = []
    for number, step in enumerate(run.steps):
        if step.tool == ASK_USER:
            continue  # what the user tells is no row
        tool = atlas.tools[step.tool]
        if tool.writes or "error" in step.observation:
            continue
        if tool.kind == "aggregate":
            value = step.observation.get("value")
            needs.append(
                Statistic(tool.table, value, _filters(tool, step)) if _is_number(value) else _listing(tool, step)
            )
            continue
        rows = _rows(step.observation)
        later = {v for other in run.steps[number + 1 :] for v in scalars(other.arguments) if isinstance(v, str)}
        used = [row for row in rows if any(cell[1] in later for cell in _key_cells(atlas, tool.table, row))]
        lookup = _is_lookup(atlas, step.arguments, tool.table)
        if tool.kind in ("search", "list") and not lookup:
            needs.append(_listing(tool, step))
        for row in used if len(used) == 1 and lookup else rows:
            cells = _key_cells(atlas, tool.table, row) + _filtered(atlas, tool, step, row)
            told = tuple((name, row[name]) for name in sorted(named & row.keys()) if _is_scalar(row[name]))
            if cells or told:
                needs.append(Fact(tuple(dict.fromkeys((*cells, *told)))))
    return needs


def _is_lookup(atlas: Atlas, arguments: dict[str, Any], table: str) -> bool:
    """Say whether a search looks a row up by its label (or a document up by its title)."""
    if table not in atlas.tables:
        return True
    label = atlas.tables[table].label
    return any(isinstance(v, str) and v in atlas.values(table, label) for v in arguments.values()) if label else False


def _rows(observation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the listed rows of an observation, or the observation itself if it is one row."""
    listed = next((value for value in observation.values() if isinstance(value, list)), None)
    return [row for row in listed if isinstance(row, dict)] if listed is not None else [observation]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float))
