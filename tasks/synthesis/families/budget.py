"""Go through a party's open records in order and act on them while a running total stays within a budget."""

from __future__ import annotations

import math

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, few, shown
from tasks.synthesis.filters import matching, row_columns


def budget(kit: Kit) -> Program | None:
    """Return a greedy program: the smallest first, until the next one would exceed the budget."""
    rng = kit.rng
    pairs = [(link, c) for link in kit.links for c in kit.transitions if c.action.table == link.child.name]
    rng.shuffle(pairs)
    for link, change in pairs:
        status, table = change.action.status_column, link.child
        is_open = Condition(status, "equals", rng.choice(change.action.from_states))
        if status not in row_columns(link.find_children):
            continue
        for owner in kit.owners(link)[:12]:
            rows = matching(kit.children(link, owner), [is_open])
            measures = kit.measures(link.find_children, rows)
            if len(rows) < 2 or not measures or not few(rows) or not shown(kit.children(link, owner)):
                continue
            name = measures[0].name
            ordered = sorted(rows, key=lambda row: row[name])
            values = [row[name] for row in ordered]
            if len(set(values)) != len(values) or values[0] <= 0 or not all(kit.allowed(change, r) for r in rows):
                continue
            count = rng.randrange(1, len(rows))
            spent, following = sum(values[:count]), sum(values[: count + 1])
            limit = math.ceil(spent)
            if limit >= following:
                continue
            body = (
                kit.find_owner(link, owner),
                *kit.list_children(link, [is_open]),
                f"rows = sorted(rows, key=lambda row: row[{name!r}])",
                "spent, count = 0, 0",
                "for row in rows:",
                f"    if spent + row[{name!r}] > {limit}:",
                "        break",
                f"    call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
                f"    spent += row[{name!r}]",
                "    count += 1",
                f"return {{'count': count, 'used': {'spent' if measures[0].type == 'integer' else 'round(spent, 2)'}}}",
            )
            owned = kit.speaker.owned(table.name, link.column.name, kit.owner_phrase(link, owner))
            words = name.replace("_", " ")
            sentence = kit.speaker.say(
                "program_budget", verb=change.action.verb, noun=table.noun, nouns=table.nouns, column=words,
                limit=limit, conditions=kit.conditions_phrase(table.name, [is_open], owned),
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
                tools=(link.find_parent.name, link.find_children.name, change.tool.name),
            )
    return None
