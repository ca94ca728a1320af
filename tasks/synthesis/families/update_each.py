"""For each row of a group that meets a condition, set a field to a stated value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.database import Column
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Condition, Draft
from tasks.synthesis.families.kit import Change, Kit, Program, dividing, few, shown
from tasks.synthesis.filters import argument_value, is_sayable, matching, row_prefix
from tasks.synthesis.phrases import listing, literal
from tasks.synthesis.writers import new_values


def update_each(kit: Kit) -> Program | None:
    """Return a program that updates every row of one category (and beyond a limit) in the same way."""
    rng, atlas = kit.rng, kit.atlas
    pairs = [(change, finder) for change in kit.updates for finder in atlas.finders[change.action.table]]
    rng.shuffle(pairs)
    for change, finder in pairs:
        table = atlas.tables[change.action.table]
        if required(finder) or row_prefix(atlas, finder, 0) is None or not atlas.rows[table.name]:
            continue
        for _ in range(6):
            row = rng.choice(atlas.rows[table.name])
            columns = [
                field.entity.partition(".")[2]
                for field in finder.inputs
                if field.meaning == "equals" and field.entity.startswith(f"{table.name}.")
            ]
            columns = [c for c in columns if not table.column(c).references and table.column(c).role != "flag"]
            columns = [c for c in columns if isinstance(row.get(c), str) and is_sayable(row[c]) and c != table.label]
            if not columns:
                break
            column = rng.choice(columns)
            conditions = [Condition(column, "equals", row[column])]
            rows = matching(atlas.rows[table.name], conditions)
            values = new_values(Draft(atlas, rng), change.action, change.tool, row)
            given = dict(values)
            measures = [m for m in kit.measures(finder, rows) if m.name not in given]
            if not shown(rows) or len(rows) < 2 or not values or not measures or column in given:
                continue
            measure = measures[0]
            part = dividing(rng, measure.name, [r[measure.name] for r in rows])
            if part is not None:
                conditions.append(part)
            chosen = matching(rows, conditions)
            changed = [r for r in chosen if any(r.get(name) != value for name, value in values)]
            if not changed or not few(chosen) or not kit.all_allowed(change, chosen, given):
                continue
            return _program(kit, change, finder, conditions, values, chosen, measure)
    return None


def _program(
    kit: Kit, change: Change, finder: Tool, conditions: Sequence[Condition], values: Sequence[tuple[str, Any]],
    chosen: Sequence[Row], measure: Column,
) -> Program:  # fmt: skip
    table = kit.atlas.tables[change.action.table]
    fields = {f.entity.partition(".")[2]: f for f in change.tool.inputs if f.path != change.key}
    given = ", ".join(f"{fields[name].path}={argument_value(fields[name], value)!r}" for name, value in values)
    shown_values = [
        kit.speaker.say("value_to", column=name.replace("_", " "), value=literal(argument_value(fields[name], value)))
        for name, value in values
    ]
    sentence = kit.speaker.say(
        "program_update_each", noun=table.noun, nouns=table.nouns, values=listing(shown_values),
        conditions=kit.conditions_phrase(table.name, conditions),
    )  # fmt: skip
    words = measure.name.replace("_", " ")
    return Program(
        body=(
            *kit.list_rows(finder, conditions),
            "for row in rows:",
            f"    call({change.tool.name!r}, {change.key}=row[{table.key!r}], {given})",
            f"return {{'count': len(rows), 'total': {kit.total_code(measure, 'rows')}}}",
        ),
        sentences=(sentence,),
        fields=(
            kit.field("count", "integer", f"how many {table.nouns} this concerns"),
            kit.field("total", measure.type, f"their {words} added up"),
        ),
        predicted={"count": len(chosen), "total": kit.total(measure, chosen)},
        constructs=("loop", "aggregation"),
        tools=(finder.name, change.tool.name),
    )
