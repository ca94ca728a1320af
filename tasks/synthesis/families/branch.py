"""For each open record: one action if it meets a condition, another if it does not."""

from __future__ import annotations

from itertools import permutations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Change, Kit, Program, as_code, dividing
from tasks.synthesis.families.scope import fetch, is_walkable, scopes, where
from tasks.synthesis.filters import matching, row_columns


def rivals(kit: Kit) -> list[tuple[Change, Change, str]]:
    """Return pairs of transitions that may start from the same state, with such a state, in random order."""
    found = []
    for first, second in permutations(kit.transitions, 2):
        states = set(first.action.from_states) & set(second.action.from_states)
        same = first.action.table == second.action.table
        if states and same and first.action.status_column == second.action.status_column:
            found.append((first, second, kit.rng.choice(sorted(states))))
    kit.rng.shuffle(found)
    return found


def branch(kit: Kit) -> Program | None:
    """Return a program that splits open records by a limit and treats both parts differently."""
    rng = kit.rng
    for first, second, state in rivals(kit):
        status = first.action.status_column
        is_open = Condition(status, "equals", state)
        for scope in scopes(kit, first.action.table, status):
            table, rows = scope.table, matching(scope.rows, [is_open])
            measures = kit.measures(scope.finder, rows)
            if status not in row_columns(scope.finder) or not measures or not is_walkable(scope, [is_open]):
                continue
            reach = dividing(rng, measures[0].name, [row[measures[0].name] for row in rows])
            if reach is None or reach.column in {c.column for c in scope.base}:
                continue
            yes = matching(rows, [reach])
            no = [row for row in rows if row not in yes]
            if not kit.all_allowed(first, yes) or not kit.all_allowed(second, no):
                continue
            key = table.key
            body = (
                *fetch(kit, scope, [is_open]),
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
            sentence = kit.speaker.say(
                "program_branch", noun=table.noun, nouns=table.nouns, first=first.action.verb,
                second=second.action.verb, conditions=where(kit, scope, [is_open]),
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
                tools=(*scope.tools, first.tool.name, second.tool.name),
            )
    return None
