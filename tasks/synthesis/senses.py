"""Make every tool's declaration complete: what each parameter and output means, in terms of the tool's own table."""

from __future__ import annotations

import re

from schemas.database import Database, Table
from schemas.tool import Meaning, Tool, ToolField

_NAMES: tuple[tuple[str, Meaning], ...] = (
    (r"(sort|sort_by|order_by|sorted_by)", "sort_by"),
    (r"(descending|desc|reverse)", "descending"),
    (r"(limit|max_results|page_size)", "limit"),
    (r"(group_by|by)", "group_by"),
    (r"(min|minimum|lowest|earliest)_.*|.*_(from|at_least|after|since)", "at_least"),
    (r"(max|maximum|highest|latest)_.*|.*_(to|at_most|before|until)", "at_most"),
    (r"(text|query|search_text|q|keyword)|.*_contains", "contains"),
)
_STATISTICS: tuple[tuple[str, Meaning], ...] = (
    ("count|number|tally|how many", "count"),
    ("sum|total|combined|add up", "sum"),
    ("average|mean", "average"),
    ("lowest|minimum|smallest", "minimum"),
    ("highest|maximum|largest", "maximum"),
)


def complete(tool: Tool, database: Database) -> Tool:
    """Return the tool with all that its declaration leaves open filled in from names and the schema.

    Entities of references become columns of the tool's own table (`orders.customer_id`, not `customers.customer_id`);
    an empty meaning is inferred from the parameter's name. What cannot be inferred stays empty and is not used.
    """
    table = next((table for table in database.tables if table.name == tool.table), None)
    if table is None:
        return tool
    inputs = tuple(_input(tool, table, field) for field in tool.inputs)
    return tool.model_copy(update={"inputs": inputs, "outputs": tuple(_output(tool, table, f) for f in tool.outputs)})


def _own_entity(table: Table, field: ToolField) -> str:
    name = re.split(r"[.\]]+", field.path)[-1] or field.path
    owner = field.entity.partition(".")[0]
    if field.of.startswith(f"{table.name}.") and field.entity:
        return field.of
    if not field.entity or owner == table.name:
        return field.entity
    referring = [column.name for column in table.columns if column.references == field.entity]
    if name in referring:
        return f"{table.name}.{name}"
    return f"{table.name}.{referring[0]}" if len(referring) == 1 else field.entity


def _input(tool: Tool, table: Table, field: ToolField) -> ToolField:
    meaning = field.meaning or _input_meaning(tool, table, field)
    return field.model_copy(update={"entity": _own_entity(table, field), "meaning": meaning})


def _input_meaning(tool: Tool, table: Table, field: ToolField) -> Meaning:
    is_key = field.entity == f"{table.name}.{table.key}"
    if tool.kind in ("create", "update", "transition"):
        return "equals" if is_key and tool.kind != "create" else "new_value"
    for pattern, meaning in _NAMES:
        if re.fullmatch(pattern, field.path):
            return meaning
    return "equals" if field.entity else ""


def _output(tool: Tool, table: Table, field: ToolField) -> ToolField:
    entity = _own_entity(table, field)
    if field.meaning:
        return field.model_copy(update={"entity": entity})
    if entity:
        return field.model_copy(update={"entity": entity, "meaning": "cell"})
    if tool.kind in ("search", "list") and field.path == "total":
        return field.model_copy(update={"meaning": "matches"})
    if tool.kind == "aggregate" and field.path.rpartition(".")[2] == "value":
        text = f"{tool.name.replace('_', ' ')} {tool.description.lower()}"
        for pattern, meaning in _STATISTICS:
            if re.search(rf"\b({pattern})", text):
                return field.model_copy(update={"meaning": meaning, "of": _summarised(tool, table, meaning)})
    return field


def _summarised(tool: Tool, table: Table, meaning: Meaning) -> str:
    if meaning == "count":
        return table.name
    measures = [column.name for column in table.columns if column.role == "measure"]
    named = [name for name in measures if name in tool.name]
    return f"{table.name}.{named[-1]}" if named else ""
