"""From a model's plan of a tool to a `Tool`, and what is wrong with a plan before any code is written."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Sequence
from typing import Any

from schemas.database import Database
from schemas.tool import Tool, ToolField
from tasks.coding.acting import action_faults
from tasks.coding.answers import PlannedOutput, PlannedParameter, PlannedTool, WrittenTool
from tasks.coding.citations import citation_fault
from tasks.coding.words import RESERVED_NAMES

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_PATH = re.compile(r"[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
ENGINE_CODES = frozenset(
    {"INVALID_ARGUMENTS", "UNKNOWN_TOOL", "CONSTRAINT", "TOOL_CRASHED", "READ_ONLY", "UNRESOLVED_REFERENCE"}
)
"""Error codes that the environment itself gives."""
_JSON: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,),
    "object": (dict,),
}  # fmt: skip


def plan_faults(plan: PlannedTool, database: Database, taken: Collection[str], documents: dict[str, str]
                ) -> list[tuple[str, str]]:  # fmt: skip
    """Return (gate, fault) for all that is wrong with a plan: "plan", or "citation" for a sentence that is not there.

    Args:
        taken: names of tools that the environment has already.
        documents: name -> content.
    """
    found = [("plan", fault) for fault in (*_name_faults(plan, taken), *_table_faults(plan, database))]
    names = [parameter.name for parameter in plan.parameters]
    found += [("plan", f"the parameter {name!r} comes twice") for name in {n for n in names if names.count(n) > 1}]
    found += [("plan", fault) for parameter in plan.parameters for fault in _parameter_faults(parameter)]
    found += [("plan", f"action: {fault}") for fault in action_faults(plan, database)]
    found += [("plan", fault) for fault in returns_faults(plan.returns)]
    for refusal in plan.refusals:
        if not _CODE.fullmatch(refusal.code):
            found.append(("plan", f"the code {refusal.code!r} is not upper snake case"))
        elif refusal.code in ENGINE_CODES:
            found.append(("plan", f"the code {refusal.code} is the environment's own: leave it out"))
        if refusal.document or refusal.quote:
            fault = citation_fault(refusal.document, refusal.quote, documents)
            found += [("citation", f"{refusal.code} {fault}")] if fault else []
    return found


def returns_faults(returns: Sequence[PlannedOutput]) -> list[str]:
    """Return what is wrong with the places of an answer, such as a list whose items nothing is said of."""
    if not returns:
        return ["returns is empty: name every place of the answer"]
    paths = [output.path for output in returns]
    found = [f"{path!r} is no path such as total or orders[].order_id" for path in paths if not _PATH.fullmatch(path)]
    found += [f"returns names {path!r} twice" for path in dict.fromkeys(p for p in paths if paths.count(p) > 1)]
    for output in returns:
        inside = f"{output.path}[]"
        if output.type == "array" and not any(path == inside or path.startswith(f"{inside}.") for path in paths):
            found.append(
                f"returns has the list {output.path!r}, but not what is in it: add {inside!r} for plain values, or "
                f"each place of its items such as '{inside}.name'"
            )
        if output.type != "array" and any(path.startswith(inside) for path in paths):
            found.append(f"returns says that {output.path!r} is a {output.type}, but names {inside!r}: it is an array")
    return found


def completed(returns: Sequence[PlannedOutput]) -> list[PlannedOutput]:
    """Return the places of an answer with the lists that hold them, where only places inside were named.

    A container that is an object is no place of its own: only what is in it counts.
    """
    paths = {output.path for output in returns}
    found: list[PlannedOutput] = []
    for output in returns:
        for end in (match.start() for match in re.finditer(re.escape("[]"), output.path)):
            around = output.path[:end]
            if around not in paths:
                paths.add(around)
                found.append(PlannedOutput(path=around, type="array", description="The list."))
        holds = any(path.startswith(f"{output.path}.") for path in paths)
        if not (output.type == "object" and holds):
            found.append(output)
    return found


def _name_faults(plan: PlannedTool, taken: Collection[str]) -> list[str]:
    if not _NAME.fullmatch(plan.name) or plan.name in RESERVED_NAMES:
        return ["the name must be verb_noun in snake case, and not a reserved one"]
    if plan.name in taken:
        return ["there is a tool of this name already"]
    return [] if len(plan.purpose) >= 20 else ["the purpose must say in a sentence or two what the tool does"]


def _table_faults(plan: PlannedTool, database: Database) -> list[str]:
    tables = {table.name for table in database.tables}
    faults = [f"reads {name!r}, which is no table" for name in plan.reads if name not in tables | {"documents"}]
    faults += [f"writes {name!r}, which is no table" for name in plan.writes if name not in tables]
    if (plan.kind == "write") != bool(plan.writes):
        faults.append(f"a {plan.kind} tool cannot write {plan.writes}")
    return faults


def _parameter_faults(parameter: PlannedParameter) -> list[str]:
    where = f"parameter {parameter.name!r}"
    faults = []
    if not parameter.name.isidentifier() or keyword.iskeyword(parameter.name) or parameter.name in ("ctx", "self"):
        faults.append(f"{where}: no usable Python name")
    if not parameter.description.strip():
        faults.append(f"{where}: no description")
    kinds = _JSON[parameter.type]
    for what, values in (("enum", parameter.enum), ("default", [parameter.default])):
        for value in values:
            mistaken = isinstance(value, bool) and parameter.type != "boolean"
            if value is not None and (mistaken or not isinstance(value, kinds)):
                faults.append(f"{where}: {what} {value!r} is no {parameter.type}")
    if parameter.required and parameter.default is not None:
        faults.append(f"{where}: a required parameter has no default")
    bounded = parameter.minimum is not None or parameter.maximum is not None
    if bounded and parameter.type not in ("integer", "number"):
        faults.append(f"{where}: only numbers have a minimum and a maximum")
    return faults


def parameters_schema(plan: PlannedTool) -> dict[str, Any]:
    """Return the JSON Schema of a planned tool's arguments."""
    properties: dict[str, Any] = {}
    for parameter in plan.parameters:
        schema: dict[str, Any] = {"type": parameter.type, "description": parameter.description}
        if parameter.enum:
            schema["enum"] = list(parameter.enum)
        for word in ("minimum", "maximum"):
            bound = getattr(parameter, word)
            if bound is not None:
                schema[word] = int(bound) if float(bound).is_integer() else bound
        if parameter.default is not None:
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": [parameter.name for parameter in plan.parameters if parameter.required],
        "additionalProperties": False,
    }


def description(plan: PlannedTool) -> str:
    """Return what agents read of a tool: its purpose, then its refusals."""
    refusals = [f"Refuses with {r.code} if {_clause(r.when)}." for r in plan.refusals]
    return " ".join([f"{' '.join(plan.purpose.split()).rstrip('.')}.", *refusals])


def _clause(when: str) -> str:
    text = " ".join(when.split()).rstrip(".").removeprefix("if ").removeprefix("If ")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def draft_tool(database: Database, plan: PlannedTool, written: WrittenTool, author: str) -> Tool:
    """Return the tool of a plan and a source, its fields without meaning yet."""
    return Tool(
        env_id=database.env_id,
        name=plan.name,
        kind=plan.kind,
        description=description(plan),
        parameters=parameters_schema(plan),
        inputs=tuple(ToolField(path=p.name, type=p.type) for p in plan.parameters),
        outputs=tuple(ToolField(path=output.path, type=output.type) for output in plan.returns),
        reads=tuple(sorted(set(written.reads))),
        writes=tuple(sorted(set(written.writes))),
        source_code=written.source_code if written.source_code.endswith("\n") else written.source_code + "\n",
        author=author,
        cites=tuple(f"{r.code}: {r.document}: {' '.join(r.quote.split())}" for r in plan.refusals if r.document),
    )
