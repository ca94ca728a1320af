"""Count a group of records; one action on its largest open one if there are enough, else another."""

from __future__ import annotations

from tasks.synthesis.draft import Condition
from tasks.synthesis.families.branch import rivals
from tasks.synthesis.families.kit import Kit, Program, shown
from tasks.synthesis.families.scope import fetch, scopes, where
from tasks.synthesis.filters import matching, row_columns


def gate(kit: Kit) -> Program | None:
    """Return a program whose action depends on a count, which must be read first."""
    rng = kit.rng
    for first, second, state in rivals(kit):
        status = first.action.status_column
        is_open = Condition(status, "equals", state)
        for scope in scopes(kit, first.action.table, status):
            table, group = scope.table, scope.rows
            rows = matching(group, [is_open])
            measures = kit.measures(scope.finder, rows)
            if not rows or not measures or len(group) < 2 or not shown(group):
                continue
            name = measures[0].name
            best = max(row[name] for row in rows)
            chosen = [row for row in rows if row[name] == best]
            needed = max(1, len(group) + rng.choice((-1, 0, 1, 2)))
            change = first if len(group) >= needed else second
            allowed = len(chosen) == 1 and kit.all_allowed(change, chosen)
            if not allowed or status not in row_columns(scope.finder):
                continue
            key, words = table.key, name.replace("_", " ")
            body = (
                *fetch(kit, scope),
                "count = len(rows)",
                f"rows = [row for row in rows if row[{status!r}] == {state!r}]",
                f"best = max(rows, key=lambda row: row[{name!r}])",
                f"if count >= {needed}:",
                f"    done = call({first.tool.name!r}, {first.key}=best[{key!r}])",
                "else:",
                f"    done = call({second.tool.name!r}, {second.key}=best[{key!r}])",
                f"return {{'count': count, 'status': done[{status!r}], 'value': best[{name!r}]}}",
            )
            sentence = kit.speaker.say(
                "program_gate", group=where(kit, scope), noun=table.noun, nouns=table.nouns, needed=needed,
                first=first.action.verb, second=second.action.verb, column=words,
                extreme=kit.speaker.extreme(table.name, name, True),
                conditions=kit.conditions_phrase(table.name, [is_open]),
            )  # fmt: skip
            return Program(
                body=body,
                sentences=(sentence,),
                fields=(
                    kit.field("count", "integer", f"how many {table.nouns} there are in all"),
                    kit.field("status", "string", f"the {status.replace('_', ' ')} of the {table.noun} afterwards"),
                    kit.field("value", measures[0].type, f"the {words} of that {table.noun}"),
                ),
                predicted={"count": len(group), "status": change.action.to_state, "value": best},
                constructs=("conditional", "aggregation"),
                tools=(*scope.tools, first.tool.name, second.tool.name),
            )
    return None
