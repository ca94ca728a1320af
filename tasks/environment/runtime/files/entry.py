"""Find a foreign tool's function in its source by the syntax tree, and call it as its author meant."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

_GENERIC = ("execute", "run", "call", "invoke", "handler", "handle", "main", "tool", "forward", "__call__")
_ONE_OBJECT = frozenset(
    ("args", "arguments", "params", "parameters", "payload", "inputs", "input_data", "kwargs", "data", "request")
)


@dataclass(frozen=True)
class Entry:
    """Where a tool begins: a function of the module, or a method of a class of it (`owner`)."""

    function: str
    owner: str = ""


def folded(name: str) -> str:
    """Return a name without case and separators: `get-order`, `getOrder` and `get_order` are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _used(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for tree in nodes
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }


def find_entry(source: str, name: str) -> Entry:
    """Return the entry of the tool `name` in a module's source.

    A function of that name (hyphens, case and underscores aside) counts first, then a method, then the one function
    that no other calls, then a class with a method of a usual name.

    Raises:
        SyntaxError: if the source is no Python.
        LookupError: if there is none.
    """
    tree = ast.parse(source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    wanted = folded(name)
    for exact in (True, False):
        for function in functions:
            if function.name == name or (not exact and folded(function.name) == wanted):
                return Entry(function.name)
    methods = {
        (owner.name, node.name)
        for owner in classes
        for node in owner.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for owner, method in sorted(methods):
        if folded(method) == wanted:
            return Entry(method, owner)
    public = [function for function in functions if not function.name.startswith("_")]
    roots = [
        function
        for function in public
        if function.name not in _used(node for node in tree.body if node is not function)
    ]
    if len(roots) == 1 or (roots and not classes):
        named = [function for function in roots if folded(function.name) in map(folded, _GENERIC)]
        return Entry((named or roots)[-1].name)
    for usual in _GENERIC:
        for owner, method in sorted(methods):
            if method == usual and (len(classes) == 1 or folded(owner).startswith(wanted)):
                return Entry(method, owner)
    raise LookupError(f"no function for {name!r} among {[f.name for f in functions] + [c.name for c in classes]}")


def bind(module: dict[str, Any], entry: Entry, root: str) -> Callable[..., Any]:
    """Return the callable of an entry in an executed module; a class is instantiated, with the data's folder if it
    wants one argument."""
    if not entry.owner:
        return module[entry.function]
    owner = module[entry.owner]
    if isinstance(inspect.getattr_static(owner, entry.function, None), staticmethod | classmethod):
        return getattr(owner, entry.function)
    wanted = [
        p
        for p in list(inspect.signature(owner.__init__).parameters.values())[1:]
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return getattr(owner(*[root for _ in wanted]), entry.function)


def invoke(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a foreign function with keyword arguments, or with one object where it takes that; unknown arguments are
    left out unless it takes any. A coroutine is driven to its end."""
    parameters = list(inspect.signature(function).parameters.values())
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if len(named) == 1 and not takes_any and not named & set(arguments) and named <= set(_ONE_OBJECT):
        result = function(arguments)
    elif takes_any:
        result = function(**arguments)
    else:
        result = function(**{name: value for name, value in arguments.items() if name in named})
    if inspect.iscoroutine(result):
        try:
            result.send(None)
        except StopIteration as stop:
            return stop.value
        raise RuntimeError("the tool waits for something that never comes")
    return result


def plain(value: Any) -> Any:
    """Return a value with data models, enumerations, dates and tuples inside as JSON has them."""
    if isinstance(value, str) and isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {name if isinstance(name, str) else str(plain(name)): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value, key=repr) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Enum):
        return plain(value.value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def observation(result: Any) -> dict[str, Any]:
    """Return a foreign result as an observation: an object, whose `error` is {"code", "message"} if it refuses."""
    result = _parsed(result) if isinstance(result, str) else plain(result)
    if isinstance(result, list):
        return {"results": result}
    if not isinstance(result, dict):
        return {"result": result}
    error = result.get("error")
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        if isinstance(code, str) and isinstance(message, str):
            return result
        return {"error": {"code": str(code or "REFUSED"), "message": str(message or error)}}
    if isinstance(error, str) and error:
        return {"error": {"code": _code(result, error), "message": str(result.get("message") or error)}}
    if result.get("success") is False or result.get("ok") is False or str(result.get("status")).lower() == "error":
        return {"error": {"code": _code(result, ""), "message": str(result.get("message") or result)[:300]}}
    return result


def _code(result: dict[str, Any], error: str) -> str:
    for value in (result.get("code"), result.get("error_code"), error):
        if isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{2,40}", value):
            return value.upper()
    return "REFUSED"


def _parsed(text: str) -> Any:
    import json

    if text[:1] in "{[":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
