"""Count a party's records; one action on its largest open one if there are enough, else another."""

from __future__ import annotations

from itertools import permutations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, shown
from tasks.synthesis.filters import matching, row_columns


def gate(kit: Kit) -> Program | None:
    """Return a program whose action depends on a count, which must be read first."""
    rng = kit.rng
    options = [
        (link, first, second)
        for link in kit.links
        for first, second in permutations(kit.transitions, 2)
        if first.action.table == second.action.table == link.child.name
        and set(first.action.from_states) & set(second.action.from_states)
        and first.action.status_column == second.action.status_column
    ]
    rng.shuffle(options)
    for link, first, second in options:
        status, table = first.action.status_column, link.child
        state = rng.choice(sorted(set(first.action.from_states) & set(second.action.from_states)))
        if status not in row_columns(link.find_children):
            continue
        for owner in kit.owners(link)[:12]:
            children = kit.children(link, owner)
            rows = matching(children, [Condition(status, "equals", state)])
            measures = kit.measures(link.find_children, rows)
            if not rows or not measures or not shown(children) or len(children) < 2:
                continue
            measure = measures[0]
            best = max(row[measure.name] for row in rows)
            chosen = [row for row in rows if row[measure.name] == best]
            needed = max(1, len(children) + rng.choice((-1, 0, 1, 2)))
            change = first if len(children) >= needed else second
            if len(chosen) != 1 or not kit.allowed(change, chosen[0]):
                continue
            key = table.key
            body = (
                kit.find_owner(link, owner),
                *kit.list_children(link),
                f"rows = [row for row in rows if row[{status!r}] == {state!r}]",
                f"best = max(rows, key=lambda row: row[{measure.name!r}])",
                f"if count >= {needed}:",
                f"    done = call({first.tool.name!r}, {first.key}=best[{key!r}])",
                "else:",
                f"    done = call({second.tool.name!r}, {second.key}=best[{key!r}])",
                f"return {{'count': count, 'status': done[{status!r}], 'value': best[{measure.name!r}]}}",
            )
            body = (*body[:2], "count = len(rows)", *body[2:])
            words = measure.name.replace("_", " ")
            open_one = kit.conditions_phrase(table.name, [Condition(status, "equals", state)])
            sentence = kit.speaker.say(
                "program_gate", owner=kit.owner_phrase(link, owner), noun=table.noun, nouns=table.nouns,
                needed=needed, first=first.action.verb, second=second.action.verb, column=words,
                extreme=kit.speaker.extreme(table.name, measure.name, True), conditions=open_one,
            )  # fmt: skip
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("count", "integer", f"how many {table.nouns} there are in all"),
                    kit.field("status", "string", f"the {status.replace('_', ' ')} of the {table.noun} afterwards"),
                    kit.field("value", measure.type, f"the {words} of that {table.noun}"),
                ),
                predicted={"count": len(children), "status": change.action.to_state, "value": best},
                constructs=("conditional", "aggregation"),
                tools=(link.find_parent.name, link.find_children.name, first.tool.name, second.tool.name),
            )
    return None
