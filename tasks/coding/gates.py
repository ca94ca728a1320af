"""The gates that look at a tool without running it: it compiles, imports little, and agrees with its schema."""

from __future__ import annotations

import ast
from typing import Any

from schemas.tool import Tool
from tasks.coding.signature import PYTHON_TYPES
from tasks.coding.words import RESERVED_NAMES

ALLOWED_IMPORTS = frozenset(
    {"__future__", "bisect", "calendar", "collections", "collections.abc", "csv", "dataclasses", "datetime"}
    | {"decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "operator", "re"}
    | {"statistics", "string", "textwrap", "typing", "unicodedata"}
)
"""Modules of the standard library that a tool may import: none reaches the system, the network or other code."""

FORBIDDEN_NAMES = frozenset(
    {"__builtins__", "__import__", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals"}
    | {"help", "input", "locals", "memoryview", "open", "print", "quit", "setattr", "vars"}
)
_SCHEMA_WORDS = frozenset(
    {"type", "description", "enum", "minimum", "maximum", "default", "items", "properties", "required"}
    | {"additionalProperties"}
)


def compiles(tool: Tool) -> str:
    """Return why a tool's source is no module that defines one function of its name; '' if it is one."""
    try:
        tree = ast.parse(tool.source_code)
        compile(tool.source_code, f"<{tool.name}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"line {line}: {error.args[0]}" if line else str(error)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if functions.count(tool.name) != 1:
        return f"it defines {functions or 'no function'} instead of one function {tool.name}"
    return ""


def imports_little(tool: Tool) -> str:
    """Return the first import, name or attribute that a tool may not use; '' if there is none."""
    tree = ast.parse(tool.source_code)
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
            for module in modules:
                if module not in ALLOWED_IMPORTS:
                    return f"line {line}: it imports {module}, which is not on the list of allowed modules"
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES - own:
            return f"line {line}: it uses {node.id}"
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return f"line {line}: it reaches for the private attribute {node.attr}"
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return f"line {line}: it changes the attribute {node.attr} of something that outlives the call"
        elif isinstance(node, ast.Global | ast.Nonlocal):
            return f"line {line}: it keeps state outside its call"
    for node in tree.body:
        loose = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        if loose or isinstance(node, ast.For | ast.While | ast.With | ast.Try | ast.If):
            return f"line {node.lineno}: it runs code when it is loaded"
    return ""


def agrees_with_schema(tool: Tool) -> str:
    """Return where a tool's signature, annotations, schema and fields disagree; '' if they agree."""
    schema = tool.parameters
    if tool.name in RESERVED_NAMES or not tool.name.isidentifier():
        return f"the name {tool.name!r} is reserved or no identifier"
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        return "the schema must be an object with additionalProperties false"
    properties: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", [])
    function = _function(tool)
    if not ast.get_docstring(function):
        return "the function has no docstring"
    arguments = function.args
    if [a.arg for a in arguments.args] != ["ctx"] or arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        return "the function must take ctx and then keyword arguments only"
    given = {a.arg: (a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    if set(given) != set(properties):
        return f"the function takes {sorted(given)} but the schema has {sorted(properties)}"
    if [name for name in required if name not in properties]:
        return f"the schema requires {sorted(set(required) - set(properties))}, which it does not describe"
    for name, (argument, default) in given.items():
        fault = _parameter_fault(name, argument, default, properties[name], name in required)
        if fault:
            return fault
    if function.returns is None or not ast.unparse(function.returns).startswith("dict"):
        return "the function is not annotated to return a dict"
    return _fields_fault(tool)


def _function(tool: Tool) -> ast.FunctionDef:
    return next(
        node
        for node in ast.parse(tool.source_code).body
        if isinstance(node, ast.FunctionDef) and node.name == tool.name
    )


def _parameter_fault(name: str, argument: ast.arg, default: ast.expr | None, schema: dict[str, Any],
                     required: bool) -> str:  # fmt: skip
    unknown = set(schema) - _SCHEMA_WORDS
    if unknown:
        return f"{name}: the schema uses {sorted(unknown)}, which not every framework keeps"
    if not str(schema.get("description", "")).strip():
        return f"{name}: the schema has no description"
    if schema.get("type") not in PYTHON_TYPES:
        return f"{name}: the schema has the type {schema.get('type')!r}"
    if required != (default is None):
        return f"{name}: {'required, but it has a default' if required else 'optional, but it has no default'}"
    if argument.annotation is None:
        return f"{name}: there is no annotation"
    kinds = {part.strip() for part in ast.unparse(argument.annotation).split("|")}
    optional = isinstance(default, ast.Constant) and default.value is None
    wanted = {PYTHON_TYPES[schema["type"]]} | ({"None"} if optional else set())
    if {kind.split("[")[0] for kind in kinds} != wanted:
        return f"{name}: annotated {' | '.join(sorted(kinds))} but the schema's type is {schema['type']}"
    if "enum" in schema and not schema["enum"]:
        return f"{name}: the enum is empty"
    return ""


def _fields_fault(tool: Tool) -> str:
    properties = tool.parameters.get("properties", {})
    named = {field.path: field.type for field in tool.inputs}
    if set(named) != set(properties):
        return f"inputs describe {sorted(named)} but the schema has {sorted(properties)}"
    for name, kind in named.items():
        if kind != properties[name]["type"]:
            return f"{name}: the input is a {kind} but the schema's type is {properties[name]['type']}"
    if not tool.outputs:
        return "no output is declared"
    if bool(tool.writes) != (tool.kind in ("create", "update", "transition", "write")):
        return f"a {tool.kind} tool declares the writes {list(tool.writes)}"
    return ""
