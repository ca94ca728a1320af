"""How many rows of a group lie above the group's own average."""

from __future__ import annotations

from statistics import fmean

from schemas.database import Column
from schemas.tool import Tool
from tasks.synthesis.atlas import field_for, required
from tasks.synthesis.families.kit import Kit, Program
from tasks.synthesis.families.scope import Scope, fetch, scopes, where
from tasks.synthesis.filters import SHOWN


def average(kit: Kit) -> Program | None:
    """Return a reading program: the average of a group (from a tool if one gives it), then the rows above it."""
    rng = kit.rng
    tables = [table.name for table in kit.atlas.database.tables if kit.atlas.finders[table.name]]
    for name in rng.sample(tables, len(tables)):
        for scope in scopes(kit, name):
            for measure in kit.measures(scope.finder, scope.rows):
                if not 3 <= len(scope.rows) <= SHOWN or measure.name in {c.column for c in scope.base}:
                    continue
                values = [row[measure.name] for row in scope.rows]
                mean = fmean(values)
                if min(abs(value - mean) for value in values) < 0.02 or max(values) < 2:
                    continue  # rounding must not decide
                given = _average_tool(kit, scope, measure)
                if scope.link is not None or given is not None:  # else one search would tell it all
                    return _program(kit, scope, measure, mean, given)
    return None


def _average_tool(kit: Kit, scope: Scope, measure: Column) -> tuple[Tool, str, str] | None:
    """Return a tool that gives the average of a measure under the scope's conditions: tool, output, arguments."""
    if scope.link is not None:
        return None
    for tool in kit.atlas.aggregates[scope.table.name]:
        output = next((f for f in tool.outputs if f.meaning == "average" and "[]" not in f.path), None)
        if output is None or output.of != f"{scope.table.name}.{measure.name}" or required(tool):
            continue
        fields = [field_for(tool, c.operator, f"{scope.table.name}.{c.column}") for c in scope.base]
        if all(field is not None for field in fields):
            pairs = zip(fields, scope.base, strict=True)
            return tool, output.path, ", ".join(f"{f.path}={c.value!r}" for f, c in pairs if f is not None)
    return None


def _program(kit: Kit, scope: Scope, measure: Column, mean: float, given: tuple[Tool, str, str] | None) -> Program:
    table, name = scope.table, measure.name
    above = [row for row in scope.rows if row[name] > mean]
    lines = [f"mean = sum(row[{name!r}] for row in rows) / len(rows)"]
    if given is not None:
        lines = [f"mean = call({given[0].name!r}, {given[2]})[{given[1]!r}]"]
    sentence = kit.speaker.say(
        "program_average", nouns=table.nouns, noun=table.noun, column=name.replace("_", " "),
        conditions=where(kit, scope),
    )  # fmt: skip
    return Program(
        body=(
            *fetch(kit, scope),
            *lines,
            f"above = [row for row in rows if row[{name!r}] > mean]",
            f"return {{'average': round(mean, 2), 'count': len(above), 'total': {kit.total_code(measure, 'above')}}}",
        ),
        sentences=(sentence,),
        fields=(
            kit.field("average", "number", "that average, rounded to two decimals"),
            kit.field("count", "integer", f"how many {table.nouns} lie above it"),
            kit.field("total", measure.type, f"the {name.replace('_', ' ')} of those above it added up"),
        ),
        predicted={"average": round(mean, 2), "count": len(above), "total": kit.total(measure, above)},
        constructs=("aggregation", "conditional", "loop"),
        tools=(*scope.tools, *([given[0].name] if given is not None else [])),
    )
