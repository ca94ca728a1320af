"""Which of two parties has the larger total over its records, and by how much."""

from __future__ import annotations

from itertools import combinations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, shown
from tasks.synthesis.filters import matching, row_columns


def compare(kit: Kit) -> Program | None:
    """Return a reading program that compares two parties by the sum of a measure over their records."""
    rng = kit.rng
    for link in rng.sample(kit.links, len(kit.links)):
        table = link.child
        statuses = [c for c in table.columns if c.role in ("status", "category") and c.choices]
        statuses = [c for c in statuses if c.name in row_columns(link.find_children)]
        for left, right in list(combinations(kit.owners(link)[:8], 2)):
            conditions: list[Condition] = []
            if statuses and rng.random() < 0.5:
                column = rng.choice(statuses)
                conditions = [Condition(column.name, "equals", rng.choice(column.choices))]
            both = [kit.children(link, owner) for owner in (left, right)]
            rows = [matching(children, conditions) for children in both]
            measures = kit.measures(link.find_children, rows[0] + rows[1])
            if not all(rows) or not measures or not all(shown(children) for children in both):
                continue
            measure = measures[0]
            totals = [kit.total(measure, part) for part in rows]
            if totals[0] == totals[1] or len(rows[0]) + len(rows[1]) < 3:
                continue
            label = link.parent.label
            code = kit.total_code(measure, "rows")
            body = (
                kit.find_owner(link, left, "left"),
                *kit.list_children(link, conditions, owner="left"),
                f"first = {code}",
                kit.find_owner(link, right, "right"),
                *kit.list_children(link, conditions, owner="right"),
                f"second = {code}",
                "winner = left if first > second else right",
                f"return {{'winner': winner[{label!r}], 'difference': round(abs(first - second), 2)}}",
            )
            words = measure.name.replace("_", " ")
            sentence = kit.speaker.say(
                "program_compare", left=kit.owner_phrase(link, left), right=kit.owner_phrase(link, right),
                nouns=table.nouns, column=words, conditions=kit.conditions_phrase(table.name, conditions),
            )  # fmt: skip
            winner = left if totals[0] > totals[1] else right
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("winner", "string", f"the {label.replace('_', ' ')} of the one that is ahead"),
                    kit.field("difference", measure.type, "by how much"),
                ),
                predicted={"winner": winner[label], "difference": round(abs(totals[0] - totals[1]), 2)},
                constructs=("aggregation", "conditional", "loop"),
                tools=(link.find_parent.name, link.find_children.name),
                choices=frozenset({"winner"}),
            )
    return None
