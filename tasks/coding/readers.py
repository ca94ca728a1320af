"""Tools that only read: one row, searches, lists of children, statistics, documents."""

from __future__ import annotations

from schemas.database import Column, Database, Table
from schemas.tool import Tool, ToolField
from tasks.coding import render
from tasks.coding.plan import Filter, Plan
from tasks.coding.signature import (
    HIGHEST_LIMIT,
    JSON_TYPES,
    Parameter,
    filter_parameter,
    group_parameter,
    json_schema,
    key_parameter,
    page_parameters,
    row_fields,
)
from tasks.coding.words import identifier, listing, one, parameter_name, phrase, plain, snake, stem, variable_name

_SQL = {
    "count": "COUNT(*)", "sum": "COALESCE(SUM({}), 0)", "average": "AVG({})", "minimum": "MIN({})",
    "maximum": "MAX({})",
}  # fmt: skip
_DECIMALS = 6


def write_reader(database: Database, plan: Plan, author: str) -> Tool:
    """Return the tool of a reading plan."""
    if plan.kind == "document":
        return _document(database, plan, author)
    if plan.kind == "get":
        return _get(database, plan, author)
    return _aggregate(database, plan, author) if plan.kind == "aggregate" else _listing(database, plan, author)


def _tool(database: Database, plan: Plan, author: str, text: str, parameters: list[Parameter], template: str,
          outputs: list[ToolField], reads: set[str], **values: object) -> Tool:  # fmt: skip
    for name in ("table", "key", "statistic"):
        if isinstance(values.get(name), str):
            values[name] = str(values[name]).replace('"', '\\"')
    source = render.render_tool(template, database.name, plan.name, parameters, text, **values)
    return Tool(
        env_id=database.env_id, name=plan.name, kind=plan.kind, description=text, parameters=json_schema(parameters),
        inputs=tuple(p.field for p in parameters), outputs=tuple(outputs),
        table="" if plan.table is None else plan.table.name, reads=tuple(sorted(reads)), source_code=source,
        author=author,
    )  # fmt: skip


def _get(database: Database, plan: Plan, author: str) -> Tool:
    table = _of(plan)
    key = key_parameter(table)
    row = variable_name(snake(table.noun), {key.name})
    text = (
        f"Look up {one(table)} by its {plain(table.key)} and return all that is recorded: "
        f"{listing([phrase(c) for c in table.columns if c.name != table.key])}. "
        f"Refuses with NOT_FOUND if there is no such {table.noun}."
    )
    body = _find(table, row, key.name)
    return _tool(database, plan, author, text, [key], "get", row_fields(table), {table.name}, row=row, body=body)


def _find(table: Table, row: str, parameter: str, key: str = "") -> str:
    """Return the lines that read a row by key, or by another unique column, and refuse if there is none."""
    key = key or table.key
    select = render.text(f"SELECT * FROM {identifier(table.name)} WHERE {identifier(key)} = ?")
    lines = render.call(f"{row} = ctx.db.row", [select, f"({parameter},)"])
    return "\n".join([*lines, *render.not_found(row, table.noun, plain(key), parameter)])


def _listing(database: Database, plan: Plan, author: str) -> Tool:
    """A search over a table, or the children of one row."""
    table = _of(plan)
    filters = [filter_parameter(table, item) for item in plan.filters]
    pages = page_parameters(plan)
    conditions = [(render.text(condition(item)), item.parameter) for item in plan.filters]
    parameters = [*filters, *pages]
    reads, parent_lines, refuses = {table.name}, "", ""
    if plan.parent is not None:
        target = database.table(plan.parent.references.split(".")[0])
        parameter = _parent_parameter(table, plan.parent, target)
        taken = {p.name for p in parameters} | {parameter.name, "filters", "conditions", "where", "order", "total"}
        referred = plan.parent.references.split(".")[1]
        parent_lines = _find(target, variable_name(snake(target.noun), taken), parameter.name, referred)
        conditions.insert(0, (render.text(f"{identifier(plan.parent.name)} = ?"), parameter.name))
        parameters.insert(0, parameter)
        reads.add(target.name)
        refuses = f" Refuses with NOT_FOUND if there is no such {target.noun}."
        of = plain(stem(plan.parent))
        whose = f"of one {target.noun}" if of == target.noun else f"whose {of} is the given {target.noun}"
        text = f"List the {table.nouns} {whose}"
        text += f", optionally narrowed by {_by(plan.filters)}." if plan.filters else "."
    else:
        by = f" by {_by(plan.filters)}" if plan.filters else ""
        text = f"Find {table.nouns}{by}. Filters are optional and must all hold; without any, all {table.nouns} match."
    text += f" Returns up to `limit` rows ordered by {plain(table.key)} unless sorted, and how many match in total."
    days = _days(plan.filters)
    if days:
        refuses += " Refuses with INVALID_DATE if a day is not written as YYYY-MM-DD."
    outputs = [
        ToolField(path=table.name, type="array"), *row_fields(table, f"{table.name}[]."),
        ToolField(path="total", type="integer", meaning="matches", of=table.name),
    ]  # fmt: skip
    taken = {p.name for p in parameters} | {"filters", "conditions", "where", "order", "total", "direction", "day"}
    return _tool(
        database, plan, author, text + refuses, parameters, "search", outputs, reads, days=days,
        parent_lines=parent_lines, filters=conditions, sorts=bool(plan.sorts), key=identifier(table.key),
        rows=variable_name(snake(table.nouns), taken), table=identifier(table.name), plain_table=table.name,
    )  # fmt: skip


def _parent_parameter(table: Table, column: Column, target: Table) -> Parameter:
    referred = column.references.split(".")[1]
    text = f"The {plain(referred)} of the {target.noun} whose {table.nouns} are wanted."
    schema = {"type": JSON_TYPES[column.type], "description": text}
    return Parameter(
        parameter_name(column.name), schema, entity=column.references, meaning="equals",
        of=f"{table.name}.{column.name}",
    )  # fmt: skip


def _aggregate(database: Database, plan: Plan, author: str) -> Tool:
    table = _of(plan)
    parameters = [filter_parameter(table, item) for item in plan.filters]
    if plan.groups:
        parameters.append(group_parameter(plan))
    statistic = _SQL[plan.statistic].format("" if plan.measure is None else identifier(plan.measure.name))
    of, kind = table.name, "integer"
    if plan.measure is not None:
        of, kind = f"{table.name}.{plan.measure.name}", plan.measure.type
        if plan.statistic == "average" or (plan.statistic == "sum" and kind == "number"):
            kind, statistic = "number", f"ROUND({statistic}, {_DECIMALS})"
    days = _days(plan.filters)
    text = _aggregate_text(plan, table) + (
        " Refuses with INVALID_DATE if a day is not written as YYYY-MM-DD." if days else ""
    )
    outputs = [ToolField(path="value", type=kind, meaning=plan.statistic, of=of)]
    if plan.groups:
        fields = {field.path: field for field in row_fields(table, "groups[].")}
        outputs += [ToolField(path="groups", type="array"), *(fields[f"groups[].{c.name}"] for c in plan.groups)]
        outputs.append(ToolField(path="groups[].value", type=kind, meaning=plan.statistic, of=of))
    conditions = [(render.text(condition(item)), item.parameter) for item in plan.filters]
    return _tool(
        database, plan, author, text, parameters, "aggregate", outputs, {table.name}, days=days, filters=conditions,
        groups=bool(plan.groups), statistic=statistic, table=identifier(table.name),
    )  # fmt: skip


def _aggregate_text(plan: Plan, table: Table) -> str:
    measure = "" if plan.measure is None else phrase(plan.measure)
    what = {
        "count": f"Count the {table.nouns}",
        "sum": f"Add up the {measure} of the {table.nouns}",
        "average": f"Give the average {measure} of the {table.nouns}",
        "minimum": f"Give the lowest {measure} of the {table.nouns}",
        "maximum": f"Give the highest {measure} of the {table.nouns}",
    }[plan.statistic]
    text = what + (f", optionally narrowed by {_by(plan.filters)}." if plan.filters else ".")
    if plan.groups:
        text += f" With `group_by`, one value for each {listing([phrase(c) for c in plan.groups], 'or')}."
    if plan.statistic in ("average", "minimum", "maximum"):
        text += " The value is null if nothing matches."
    if plan.statistic == "average":
        text += f" Averages are rounded to {_DECIMALS} decimals."
    return text


def _document(database: Database, plan: Plan, author: str) -> Tool:
    name = Parameter("name", {"type": "string", "description": "The name of the document."}, "documents.name", "equals")
    titles = listing([document.title for document in database.documents[:4]])
    listed = [
        ToolField(path="documents", type="array"),
        ToolField(path="documents[].name", type="string", entity="documents.name", meaning="cell"),
        ToolField(path="documents[].title", type="string", entity="documents.title", meaning="cell"),
    ]
    if plan.document_tool == "list":
        text = f"List the names and titles of all documents, such as {titles}."
        return _tool(database, plan, author, text, [], "document_list", listed, {"documents"})
    if plan.document_tool == "read":
        text = "Read a document by its name. Refuses with NOT_FOUND if there is no such document."
        cells = [
            ToolField(path=path, type="string", entity=f"documents.{path}", meaning="cell")
            for path in ("name", "title", "media_type", "content")
        ]
        return _tool(database, plan, author, text, [name], "document_read", cells, {"documents"})
    text = "Find the documents whose title or content contains the given words, in any case; ordered by name."
    words = {"type": "string", "description": "The words to look for."}
    size = {
        "type": "integer", "description": "The most documents to return; 10 when left out.", "minimum": 1,
        "maximum": HIGHEST_LIMIT, "default": 10,
    }  # fmt: skip
    parameters = [
        Parameter("text", words, "documents.content", "contains", of="documents.content"),
        Parameter("limit", size, "", "limit", "10"),
    ]
    total = ToolField(path="total", type="integer", meaning="matches", of="documents")
    return _tool(database, plan, author, text, parameters, "document_search", [*listed, total], {"documents"})


def condition(item: Filter) -> str:
    """Return a filter's SQL condition with one placeholder."""
    name = identifier(item.column.name)
    if item.meaning == "contains":
        return f"instr(lower({name}), lower(?)) > 0"
    sign = {"equals": "=", "at_least": ">=", "at_most": "<="}[item.meaning]
    if item.meaning != "equals" and item.column.type in ("date", "datetime"):
        return f"substr({name}, 1, 10) {sign} substr(?, 1, 10)"
    return f"{name} {sign} ?"


def _days(filters: tuple[Filter, ...]) -> str:
    """Return the tuple of the parameters that are days, '' if there is none."""
    days = [f.parameter for f in filters if f.column.type in ("date", "datetime") and f.meaning != "equals"]
    return render.values(days) if days else ""


def _by(filters: tuple[Filter, ...]) -> str:
    words = dict.fromkeys(
        phrase(item.column) if item.meaning in ("equals", "contains") else f"range of {phrase(item.column)}"
        for item in filters
    )
    return listing(list(words), "or")


def _of(plan: Plan) -> Table:
    if plan.table is None:
        raise ValueError(f"the plan of {plan.name!r} has no table")
    return plan.table
