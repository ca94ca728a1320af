"""Find the group with the largest total among the open records, then act on its members."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, few
from tasks.synthesis.filters import SHOWN, matching, row_columns, row_prefix


def groups(kit: Kit) -> Program | None:
    """Return a program that groups open records by a reference, picks the largest group and moves its members on."""
    rng, atlas = kit.rng, kit.atlas
    options = [
        (change, finder, column, getter)
        for change in kit.transitions
        for finder in atlas.finders[change.action.table]
        if not required(finder) and row_prefix(atlas, finder, 0) is not None
        for column in atlas.tables[change.action.table].columns
        if column.references and {column.name, change.action.status_column} <= row_columns(finder)
        for getter in atlas.getters[column.references.partition(".")[0]]
        if len(required(getter)) == 1 and atlas.tables[getter.table].label in row_columns(getter) - {""}
    ]
    rng.shuffle(options)
    for change, finder, column, getter in options[:12]:
        table, other = atlas.tables[change.action.table], atlas.tables[getter.table]
        is_open = Condition(change.action.status_column, "equals", rng.choice(change.action.from_states))
        rows = matching(atlas.rows[table.name], [is_open])
        conditions = [is_open]
        categories = [
            c for c in table.columns
            if c.role in ("category", "attribute") and c.choices and c.name in row_columns(finder)
        ]  # fmt: skip
        if len(rows) > SHOWN and categories:
            extra = rng.choice(categories)
            conditions.append(Condition(extra.name, "equals", rng.choice(extra.choices)))
            rows = matching(rows, conditions)
        measures = kit.measures(finder, rows)
        if not 3 <= len(rows) <= SHOWN or not measures:
            continue
        measure = measures[0]
        members: dict[Any, list[Row]] = defaultdict(list)
        for row in rows:
            members[row[column.name]].append(row)
        totals = sorted(((kit.total(measure, part), key) for key, part in members.items()), key=lambda t: -t[0])
        if len(totals) < 2 or totals[0][0] - totals[1][0] < 0.02:
            continue
        best = members[totals[0][1]]
        target = atlas.target(table.name, column, best[0])
        if target is None or not few(best) or not kit.all_allowed(change, best):
            continue
        label, words = other.label, measure.name.replace("_", " ")
        body = (
            *kit.list_rows(finder, conditions),
            "totals = {}",
            "for row in rows:",
            f"    totals[row[{column.name!r}]] = totals.get(row[{column.name!r}], 0) + row[{measure.name!r}]",
            "best = max(totals, key=totals.get)",
            "for row in rows:",
            f"    if row[{column.name!r}] == best:",
            f"        call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
            f"found = call({getter.name!r}, {required(getter)[0]}=best)",
            f"return {{'leader': found[{label!r}], 'total': round(totals[best], 2)}}",
        )
        sentence = kit.speaker.say(
            "program_groups", verb=change.action.verb, noun=table.noun, nouns=table.nouns, other=other.noun,
            others=other.nouns, column=words, conditions=kit.conditions_phrase(table.name, conditions),
        )  # fmt: skip
        return Program(
            body=body,
            sentences=(sentence,),
            fields=(
                kit.field("leader", "string", f"the {label.replace('_', ' ')} of that {other.noun}"),
                kit.field("total", measure.type, f"the {words} added up there"),
            ),
            predicted={"leader": target[1][label], "total": totals[0][0]},
            constructs=("aggregation", "join", "loop", "conditional"),
            tools=(finder.name, change.tool.name, getter.name),
        )
    return None
