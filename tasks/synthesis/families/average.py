"""How many rows of a group lie above the group's own average."""

from __future__ import annotations

from statistics import fmean

from tasks.synthesis.atlas import required
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program
from tasks.synthesis.filters import SHOWN, is_sayable, matching, row_columns, row_prefix
from tasks.synthesis.readers import STATISTICS


def average(kit: Kit) -> Program | None:
    """Return a reading program over two tools: the average of a group, then the rows above it."""
    rng, atlas = kit.rng, kit.atlas
    options = []
    for table in atlas.database.tables:
        for tool in atlas.aggregates[table.name]:
            output = next((f for f in tool.outputs if f.meaning == "average" and "[]" not in f.path), None)
            if output is None or output.meaning not in STATISTICS or required(tool):
                continue
            for finder in atlas.finders[table.name]:
                if not required(finder) and row_prefix(atlas, finder, 0) is not None:
                    options.append((table, tool, output, finder))
    rng.shuffle(options)
    for table, tool, output, finder in options:
        measure = table.column(output.of.partition(".")[2])
        filters = [
            (a, b)
            for a in tool.inputs
            for b in finder.inputs
            if a.meaning == b.meaning == "equals" and a.entity == b.entity and a.entity.startswith(f"{table.name}.")
        ]
        filters = [f for f in filters if not table.column(f[0].entity.partition(".")[2]).references]
        if not filters or not {measure.name, table.label or table.key} <= row_columns(finder):
            continue
        for _ in range(8):
            given, _other = rng.choice(filters)
            column = table.column(given.entity.partition(".")[2])
            row = rng.choice(atlas.rows[table.name])
            value = row.get(column.name)
            condition = Condition(column.name, "equals", value)
            rows = matching(atlas.rows[table.name], [condition])
            values = [r[measure.name] for r in rows if r.get(measure.name) is not None]
            if not isinstance(value, str) or not is_sayable(value) or not 3 <= len(values) == len(rows) <= SHOWN:
                continue
            mean = fmean(values)
            if min(abs(v - mean) for v in values) < 0.02:
                continue  # rounding must not decide
            above = [r for r in rows if r[measure.name] > mean]
            words = measure.name.replace("_", " ")
            body = (
                f"mean = call({tool.name!r}, {given.path}={value!r})[{output.path!r}]",
                *kit.list_rows(finder, [condition]),
                f"above = [row for row in rows if row[{measure.name!r}] > mean]",
                f"return {{'average': round(mean, 2), 'count': len(above), "
                f"'total': {kit.total_code(measure, 'above')}}}",
            )
            sentence = kit.speaker.say(
                "program_average", nouns=table.nouns, noun=table.noun, column=words,
                conditions=kit.conditions_phrase(table.name, [condition]),
            )  # fmt: skip
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("average", "number", "that average, rounded to two decimals"),
                    kit.field("count", "integer", f"how many {table.nouns} lie above it"),
                    kit.field("total", measure.type, f"the {words} of those above it added up"),
                ),
                predicted={"average": round(mean, 2), "count": len(above), "total": kit.total(measure, above)},
                constructs=("aggregation", "conditional", "loop"),
                tools=(tool.name, finder.name),
            )
    return None
