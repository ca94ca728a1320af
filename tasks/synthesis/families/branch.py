"""For each open record of a party: one action if it meets a condition, another if it does not."""

from __future__ import annotations

from itertools import permutations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, as_code, few, shown, threshold
from tasks.synthesis.filters import matching, row_columns


def branch(kit: Kit) -> Program | None:
    """Return a program that splits a party's open records by a limit and treats both parts differently."""
    rng = kit.rng
    triples = [
        (link, first, second)
        for link in kit.links
        for first, second in permutations(kit.transitions, 2)
        if first.action.table == second.action.table == link.child.name
        and first.action.status_column == second.action.status_column
        and set(first.action.from_states) & set(second.action.from_states)
    ]
    rng.shuffle(triples)
    for link, first, second in triples:
        status, table = first.action.status_column, link.child
        state = rng.choice(sorted(set(first.action.from_states) & set(second.action.from_states)))
        if status not in row_columns(link.find_children):
            continue
        is_open = Condition(status, "equals", state)
        for owner in kit.owners(link)[:12]:
            rows = matching(kit.children(link, owner), [is_open])
            measures = kit.measures(link.find_children, rows)
            if len(rows) < 2 or not measures or not few(rows) or not shown(kit.children(link, owner)):
                continue
            limit = threshold(rng, [row[measures[0].name] for row in rows])
            if limit is None:
                continue
            reach = Condition(measures[0].name, rng.choice(("at_least", "at_most")), limit)
            yes = matching(rows, [reach])
            no = [row for row in rows if row not in yes]
            if not all(kit.allowed(first, row) for row in yes) or not all(kit.allowed(second, row) for row in no):
                continue
            key = table.key
            body = (
                kit.find_owner(link, owner),
                *kit.list_children(link, [is_open]),
                "first = second = 0",
                "for row in rows:",
                f"    if {as_code(reach)}:",
                f"        call({first.tool.name!r}, {first.key}=row[{key!r}])",
                "        first += 1",
                "    else:",
                f"        call({second.tool.name!r}, {second.key}=row[{key!r}])",
                "        second += 1",
                "return {'first_count': first, 'second_count': second}",
            )
            owned = kit.speaker.owned(table.name, link.column.name, kit.owner_phrase(link, owner))
            sentence = kit.speaker.say(
                "program_branch", noun=table.noun, nouns=table.nouns, first=first.action.verb,
                second=second.action.verb, conditions=kit.conditions_phrase(table.name, [is_open], owned),
                reach=kit.conditions_phrase(table.name, [reach]),
            )  # fmt: skip
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("first_count", "integer", f"how many {table.nouns} met the condition"),
                    kit.field("second_count", "integer", f"how many {table.nouns} did not"),
                ),
                predicted={"first_count": len(yes), "second_count": len(no)},
                constructs=("loop", "conditional", "aggregation"),
                tools=(link.find_parent.name, link.find_children.name, first.tool.name, second.tool.name),
            )
    return None
