"""Go through open records in order and act on them while a running total stays within a budget."""

from __future__ import annotations

import math
from operator import itemgetter

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program
from tasks.synthesis.families.scope import fetch, is_walkable, scopes, where
from tasks.synthesis.filters import matching, row_columns


def budget(kit: Kit) -> Program | None:
    """Return a greedy program: the smallest first, until the next one would exceed the budget."""
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
            name = measures[0].name
            ordered = sorted(rows, key=itemgetter(name))
            values = [row[name] for row in ordered]
            count = rng.randrange(1, len(rows))
            spent, following = sum(values[:count]), sum(values[: count + 1])
            limit = math.ceil(spent)
            if len(set(values)) != len(values) or values[0] <= 0 or limit >= following:
                continue
            if not kit.all_allowed(change, rows):
                continue
            used = "spent" if measures[0].type == "integer" else "round(spent, 2)"
            body = (
                *fetch(kit, scope, [is_open]),
                f"rows = sorted(rows, key=lambda row: row[{name!r}])",
                "spent, count = 0, 0",
                "for row in rows:",
                f"    if spent + row[{name!r}] > {limit}:",
                "        break",
                f"    call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
                f"    spent += row[{name!r}]",
                "    count += 1",
                f"return {{'count': count, 'used': {used}}}",
            )
            words = name.replace("_", " ")
            sentence = kit.speaker.say(
                "program_budget", verb=change.action.verb, noun=table.noun, nouns=table.nouns, column=words,
                limit=limit, conditions=where(kit, scope, [is_open]),
            )  # fmt: skip
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("count", "integer", f"how many {table.nouns} that allowed"),
                    kit.field("used", measures[0].type, f"the {words} that they come to"),
                ),
                predicted={"count": count, "used": kit.total(measures[0], ordered[:count])},
                constructs=("loop", "conditional", "aggregation"),
                tools=(*scope.tools, change.tool.name),
            )
    return None
