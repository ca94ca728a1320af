"""Add up a measure of the rows that records point to (a join walked by hand)."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from schemas.database import Column
from schemas.tool import Tool
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program
from tasks.synthesis.families.scope import Scope, fetch, is_walkable, scopes, where
from tasks.synthesis.filters import matching, row_columns


def joined(kit: Kit) -> Program | None:
    """Return a reading program: for each record of a group, get the row that it refers to and add up its measure."""
    rng, atlas = kit.rng, kit.atlas
    hops = [
        (table, column, getter)
        for table in atlas.database.tables
        for column in table.columns
        if column.references
        for getter in atlas.getters[column.references.partition(".")[0]]
        if len(required(getter)) == 1
    ]
    rng.shuffle(hops)
    for table, column, getter in hops:
        states = [c for c in table.columns if c.role in ("status", "category") and c.choices]
        for scope in scopes(kit, table.name):
            if scope.link is not None and scope.link.column.name == column.name:
                continue
            conditions: list[Condition] = []
            if states and rng.random() < 0.6:
                state = rng.choice(states)
                if state.name in row_columns(scope.finder) and state.name not in {c.column for c in scope.base}:
                    conditions = [Condition(state.name, "equals", rng.choice(state.choices))]
            rows = matching(scope.rows, conditions)
            targets = [found[1] for row in rows if (found := atlas.target(table.name, column, row))]
            measures = kit.measures(getter, targets)
            shows = column.name in row_columns(scope.finder)
            if not shows or len(rows) != len(targets) or not measures or not is_walkable(scope, conditions):
                continue
            return _program(kit, scope, column, getter, conditions, targets, measures[0])
    return None


def _program(
    kit: Kit, scope: Scope, column: Column, getter: Tool, conditions: list[Condition], targets: list[Row],
    measure: Column,
) -> Program:  # fmt: skip
    table, other = scope.table, kit.atlas.tables[getter.table]
    ordered = sorted((target[measure.name] for target in targets), reverse=True)
    words = measure.name.replace("_", " ")
    body = [
        *fetch(kit, scope, conditions),
        f"found = [call({getter.name!r}, {required(getter)[0]}=row[{column.name!r}]) for row in rows]",
    ]
    fields = [kit.field("total", measure.type, f"that sum of the {words}")]
    predicted: dict[str, Any] = {"total": kit.total(measure, targets)}
    answer = [f"'total': {kit.total_code(measure, 'found')}"]
    if other.label in row_columns(getter) and ordered[0] != ordered[1]:
        best = max(targets, key=itemgetter(measure.name))
        body.append(f"best = max(found, key=lambda row: row[{measure.name!r}])")
        answer.append(f"'largest': best[{other.label!r}]")
        fields.append(
            kit.field("largest", "string", f"the {other.label.replace('_', ' ')} of the {other.noun} with most")
        )
        predicted["largest"] = best[other.label]
    sentence = kit.speaker.say(
        "program_joined", nouns=table.nouns, noun=table.noun, other=other.noun, others=other.nouns, column=words,
        conditions=where(kit, scope, conditions),
    )  # fmt: skip
    return Program(
        body=(*body, f"return {{{', '.join(answer)}}}"),
        sentences=(sentence,),
        fields=tuple(fields),
        predicted=predicted,
        constructs=("loop", "join", "aggregation"),
        tools=(*scope.tools, getter.name),
    )
