"""For each record of a party that meets a condition, carry out one action (a loop with a filter)."""

from __future__ import annotations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, few, shown, threshold
from tasks.synthesis.filters import matching, row_columns


def sweep(kit: Kit) -> Program | None:
    """Return a program that moves all of a party's records in one state, above or below a limit, to the next state."""
    rng = kit.rng
    pairs = [(link, c) for link in kit.links for c in kit.transitions if c.action.table == link.child.name]
    rng.shuffle(pairs)
    for link, change in pairs:
        status, table = change.action.status_column, link.child
        if status not in row_columns(link.find_children):
            continue
        for owner in kit.owners(link)[:12]:
            state = rng.choice(change.action.from_states)
            is_open = Condition(status, "equals", state)
            rows = matching(kit.children(link, owner), [is_open])
            measures = kit.measures(link.find_children, rows)
            if len(rows) < 2 or not measures or not few(rows) or not shown(kit.children(link, owner)):
                continue
            measure = measures[0]
            limit = threshold(rng, [row[measure.name] for row in rows])
            conditions = [is_open]
            if limit is not None and len(rows) > 2:
                conditions.append(Condition(measure.name, rng.choice(("at_least", "at_most")), limit))
            chosen = matching(rows, conditions)
            if not chosen or not all(kit.allowed(change, row) for row in chosen):
                continue
            body = (
                kit.find_owner(link, owner),
                *kit.list_children(link, conditions),
                "for row in rows:",
                f"    call({change.tool.name!r}, {change.key}=row[{table.key!r}])",
                f"return {{'count': len(rows), 'total': {kit.total_code(measure, 'rows')}}}",
            )
            owned = kit.speaker.owned(table.name, link.column.name, kit.owner_phrase(link, owner))
            where = kit.conditions_phrase(table.name, conditions, owned)
            words = measure.name.replace("_", " ")
            sentence = kit.speaker.say(
                "program_sweep", verb=change.action.verb, noun=table.noun, nouns=table.nouns, conditions=where
            )
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("count", "integer", f"how many {table.nouns} that were"),
                    kit.field("total", measure.type, f"the {words} of these {table.nouns} added up"),
                ),
                predicted={"count": len(chosen), "total": kit.total(measure, chosen)},
                constructs=("loop", "aggregation"),
                tools=(link.find_parent.name, link.find_children.name, change.tool.name),
            )
    return None
