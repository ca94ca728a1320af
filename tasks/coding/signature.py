"""Parameters and outputs of a tool: JSON Schema, annotations and fields from one description, so that they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemas.database import Column, Table
from schemas.tool import Meaning, ToolField
from tasks.coding.plan import Filter, Plan
from tasks.coding.words import parameter_name, phrase, plain

DEFAULT_LIMIT = 20
HIGHEST_LIMIT = 100
MOST_ENUM = 30
"""A closed set with more values is checked by the database, not spelt out in the schema."""

JSON_TYPES = {
    "integer": "integer", "number": "number", "string": "string", "boolean": "boolean", "date": "string",
    "datetime": "string",
}  # fmt: skip
PYTHON_TYPES = {
    "integer": "int", "number": "float", "string": "str", "boolean": "bool", "array": "list", "object": "dict",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One keyword argument of a tool. `default` is Python source; '' makes it required."""

    name: str
    schema: dict[str, Any]
    entity: str = ""
    meaning: Meaning = ""
    default: str = ""
    of: str = ""

    @property
    def annotation(self) -> str:
        """The Python annotation that agrees with the schema."""
        annotation = PYTHON_TYPES[self.schema["type"]]
        return f"{annotation} | None" if self.default == "None" else annotation

    @property
    def field(self) -> ToolField:
        """The parameter's meaning for those who bind arguments."""
        return ToolField(path=self.name, type=self.schema["type"], entity=self.entity, meaning=self.meaning, of=self.of)


def json_schema(parameters: list[Parameter]) -> dict[str, Any]:
    """Return the JSON Schema of all arguments: an object without extra properties."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters if not parameter.default],
        "additionalProperties": False,
    }


def column_schema(column: Column, description: str, bounded: bool = False) -> dict[str, Any]:
    """Return the schema of one value of a column; `bounded` adds the column's minimum and maximum."""
    schema: dict[str, Any] = {"type": JSON_TYPES[column.type], "description": description}
    if column.choices and column.type == "string" and len(column.choices) <= MOST_ENUM:
        schema["enum"] = list(column.choices)
    if bounded and column.type in ("integer", "number"):
        for word in ("minimum", "maximum"):
            bound = getattr(column, word)
            if bound is not None:
                schema[word] = int(bound) if float(bound).is_integer() else bound
    return schema


def key_parameter(table: Table) -> Parameter:
    """Return the parameter that names one row of a table."""
    column = table.column(table.key)
    schema = column_schema(column, f"The {plain(column.name)} of the {table.noun}.")
    return Parameter(
        parameter_name(table.key),
        schema,
        entity=f"{table.name}.{table.key}",
        meaning="equals",
        of=f"{table.name}.{table.key}",
    )


def value_parameter(table: Table, column: Column, target: Table | None, bounded: bool = True) -> Parameter:
    """Return the parameter that gives a column its new value; nullable columns may be left out.

    `bounded` puts the column's bounds into the schema; where a rule judges the value, the rule shall answer instead.
    """
    text = column.description.rstrip(".") or phrase(column).capitalize()
    if target is not None:
        text += f": the {plain(column.references.split('.')[1])} of an existing {target.noun}"
    elif column.type == "date":
        text += " (YYYY-MM-DD)"
    elif column.type == "datetime":
        text += " (YYYY-MM-DDTHH:MM:SS)"
    return Parameter(
        parameter_name(column.name), column_schema(column, f"{text}.", bounded=bounded),
        entity=column.references or f"{table.name}.{column.name}", meaning="new_value",
        default="None" if column.nullable else "", of=f"{table.name}.{column.name}",
    )  # fmt: skip


def filter_parameter(table: Table, item: Filter) -> Parameter:
    """Return the optional parameter of a filter."""
    column, words = item.column, phrase(item.column)
    if item.meaning == "contains":
        text = f"Words that the {plain(column.name)} must contain, in any case."
    elif item.meaning == "equals":
        target = f", as the {plain(column.references.split('.')[1])}" if column.references else ""
        text = f"Only {table.nouns} with this {words}{target}."
    else:
        if column.type in ("date", "datetime"):
            bound = "on or after this day" if item.meaning == "at_least" else "on or before this day"
            text = f"Only {table.nouns} whose {words} is {bound} (YYYY-MM-DD)."
        else:
            bound = "at least" if item.meaning == "at_least" else "at most"
            text = f"Only {table.nouns} whose {words} is {bound} this."
    schema = column_schema(column, text)
    if item.meaning != "equals":
        schema.pop("enum", None)
    entity = column.references or f"{table.name}.{column.name}"
    of = f"{table.name}.{column.name}"
    return Parameter(item.parameter, schema, entity=entity, meaning=item.meaning, default="None", of=of)


def page_parameters(plan: Plan) -> list[Parameter]:
    """Return sort_by, descending and limit of a tool that lists rows."""
    table = _table(plan)
    found = []
    if plan.sorts:
        names = [column.name for column in plan.sorts]
        text = f"The column to order by; by {table.key} when left out. Rows without a value come last."
        found.append(
            Parameter("sort_by", {"type": "string", "enum": names, "description": text}, "", "sort_by", "None")
        )
    flag = {"type": "boolean", "description": "Whether the order is reversed: largest, latest or last first."}
    found.append(Parameter("descending", flag, "", "descending", "False"))
    size = {
        "type": "integer",
        "description": f"The most {table.nouns} to return; {DEFAULT_LIMIT} when left out.",
        "minimum": 1,
        "maximum": HIGHEST_LIMIT,
        "default": DEFAULT_LIMIT,
    }
    found.append(Parameter("limit", size, "", "limit", str(DEFAULT_LIMIT)))
    return found


def group_parameter(plan: Plan) -> Parameter:
    """Return group_by of an aggregate tool."""
    names = [column.name for column in plan.groups]
    text = "Give one value for each value of this column instead of a single one."
    return Parameter("group_by", {"type": "string", "enum": names, "description": text}, "", "group_by", "None")


def row_fields(table: Table, prefix: str = "") -> list[ToolField]:
    """Return the fields of a row that stands at `prefix` ("orders[]." or ""); booleans come as 0 or 1."""
    return [
        ToolField(
            path=f"{prefix}{column.name}",
            type="integer" if column.type == "boolean" else JSON_TYPES[column.type],
            entity=column.references or f"{table.name}.{column.name}", meaning="cell",
            of=f"{table.name}.{column.name}",
        )
        for column in table.columns
    ]  # fmt: skip


def _table(plan: Plan) -> Table:
    if plan.table is None:
        raise ValueError(f"the plan of {plan.name!r} has no table")
    return plan.table
