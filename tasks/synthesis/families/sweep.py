"""For each record that meets a condition, carry out one action (a loop with a filter)."""

from __future__ import annotations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, dividing
from tasks.synthesis.families.scope import fetch, is_walkable, scopes, where
from tasks.synthesis.filters import matching, row_columns


def sweep(kit: Kit) -> Program | None:
    """Return a program that moves all records in one state, above or below a limit, to the next state."""
    rng = kit.rng
    for change in rng.sample(kit.transitions, len(kit.transitions)):
        status = change.action.status_column
        for scope in scopes(kit, change.action.table, status):
            table = scope.table
            is_open = Condition(status, "equals", rng.choice(change.action.from_states))
            rows = matching(scope.rows, [is_open])
            measures = kit.measures(scope.finder, rows)
            if status not in row_columns(scope.finder) or not measures or not is_walkable(scope, [is_open]):
                continue
            measure = measures[0]
            part = dividing(rng, measure.name, [row[measure.name] for row in rows])
            conditions = [is_open]
            if part is not None and len(rows) > 2 and measure.name not in {c.column for c in scope.base}:
                conditions.append(part)
            chosen = matching(rows, conditions)
            if not chosen or not kit.all_allowed(change, chosen):
                continue
            words = measure.name.replace("_", " ")
            sentence = kit.speaker.say(
                "program_sweep", verb=change.action.verb, noun=table.noun, nouns=table.nouns,
                conditions=where(kit, scope, conditions),
            )  # fmt: skip
            return Program(
                body=(
                    *fetch(kit, scope, conditions),
                    "for row in rows:",
                    f"    call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
                    f"return {{'count': len(rows), 'total': {kit.total_code(measure, 'rows')}}}",
                ),
                sentences=(sentence,),
                fields=(
                    kit.field("count", "integer", f"how many {table.nouns} that were"),
                    kit.field("total", measure.type, f"the {words} of these {table.nouns} added up"),
                ),
                predicted={"count": len(chosen), "total": kit.total(measure, chosen)},
                constructs=("loop", "aggregation"),
                tools=(*scope.tools, change.tool.name),
            )
    return None
