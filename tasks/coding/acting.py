"""From the action that a model declares for its writing tool to the environment's, and what is wrong with it.

A declaration is no proof: the tests that the interpreter of rules and effects makes of it run against the tool's code
as they do against tools by rules. A tool whose code its action does not describe stays of the kind "write".
"""

from __future__ import annotations

import re

from schemas.actions import check_actions
from schemas.database import Action, Database, Effect, Rule, Table
from schemas.tool import Meaning, Tool, ToolField
from tasks.coding.answers import PlannedAction, PlannedRule, PlannedTool

_VERB = re.compile(r"[a-z]+( [a-z]+){0,2}")


def action_of(plan: PlannedTool, declared: PlannedAction) -> Action:
    """Return a plan's action as the environment keeps it: named like the tool, its rules told as the refusals are."""
    refusals = {refusal.code: refusal for refusal in plan.refusals}

    def rule(one: PlannedRule) -> Rule:
        value = tuple(one.value) if isinstance(one.value, list) else one.value
        told = refusals.get(one.code)
        when = f"Refused if {told.when.strip().rstrip('.')}." if told is not None else ""
        cites = f"{told.document}: {told.quote}" if told is not None and told.document else ""
        return Rule(path=one.path, operator=one.operator, value=value, code=one.code, message=when, cites=cites)

    return Action(
        name=plan.name,
        verb=declared.verb,
        kind=declared.kind,
        table=declared.table,
        description=plan.purpose,
        parameters=tuple(declared.parameters),
        initial=dict(declared.initial),
        status_column=declared.status_column,
        from_states=tuple(declared.from_states),
        to_state=declared.to_state,
        rules=tuple(rule(one) for one in declared.rules),
        effects=tuple(Effect(path=e.path, operation=e.operation, value=e.value) for e in declared.effects),
    )


def action_faults(plan: PlannedTool, database: Database) -> list[str]:
    """Return what is wrong with a plan's action; nothing if it fits the tables and the plan, or there is none."""
    if plan.action is None:
        return []
    if plan.kind != "write":
        return ["a reading tool has none"]
    action = action_of(plan, plan.action)
    alone = database.model_copy(update={"actions": (action,)})
    faults = [line.partition(": ")[2] for line in check_actions(alone)]
    if not _VERB.fullmatch(action.verb):
        faults.append(f"verb {action.verb!r}: give the one to three lower-case words that stand before a row's name")
    if faults:
        return faults
    table = database.table(action.table)
    taken = {*action.parameters, *(() if action.kind == "create" else (table.key,))}
    given = {parameter.name for parameter in plan.parameters}
    if taken != given:
        told = f"the tool must take exactly {sorted(taken)}, each under its column's name"
        faults.append(f"{told}; it takes {sorted(given)}")
    changed = _changed(action, table)
    if changed != set(plan.writes):
        faults.append(f"it changes {sorted(changed)}, but writes says {sorted(plan.writes)}")
    if action.kind == "create" and table.key not in {output.path for output in plan.returns}:
        faults.append(f"a create returns the new key as {table.key!r}")
    codes = {refusal.code for refusal in plan.refusals}
    faults += [f"the refusals lack {rule.code}" for rule in action.rules if rule.code not in codes]
    return faults


def _changed(action: Action, table: Table) -> set[str]:
    """Return the tables that an action writes: its own, and those that its effects reach."""
    reached = {effect.path.partition(".")[0] for effect in action.effects if "." in effect.path}
    return {table.name, *(table.column(name).references.partition(".")[0] for name in reached)}


def acting(tool: Tool, action: Action, database: Database) -> Tool:
    """Return a writing tool as one that performs an action: what its parameters and outputs are, column by column."""
    table = database.table(action.table)
    columns = {column.name: column for column in table.columns}

    def field(one: ToolField, meaning: Meaning) -> ToolField:
        column = columns.get(one.path)
        if column is None:
            return one
        own = f"{table.name}.{column.name}"
        return one.model_copy(update={"entity": column.references or own, "meaning": meaning, "of": own})

    inputs = tuple(field(one, "equals" if one.path == table.key else "new_value") for one in tool.inputs)
    outputs = tuple(field(one, "cell") for one in tool.outputs)
    update = {"kind": action.kind, "table": table.name, "action": action.name, "inputs": inputs, "outputs": outputs}
    return tool.model_copy(update=update)
