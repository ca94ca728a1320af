"""The quick half of the argument check: one code object for each tool, which says yes or does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING = object()
_LOW, _HIGH = -(2**63), 2**63
_COMPARED = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
_NOTES = {"type", "description", "title", "default", "examples", "enum", *_COMPARED}


def _scalar(schema: dict[str, Any], values: dict[str, Any]) -> str:
    """Return an expression over `v` that holds only for values that fit a scalar's schema, '' if there is none.

    Values that the expression needs are added to `values` by name.
    """
    kind = schema.get("type")
    if not _NOTES.issuperset(schema) or not isinstance(kind, str):
        return ""
    tests = {
        "string": "type(v) is str",
        "boolean": "type(v) is bool",
        "integer": f"type(v) is int and {_LOW} <= v < {_HIGH}",
        "number": f"(type(v) is float or type(v) is int and {_LOW} <= v < {_HIGH})",
    }
    if kind not in tests:
        return ""
    parts = [tests[kind]]
    if kind in ("integer", "number"):
        for name, sign in _COMPARED.items():
            if name in schema:
                if type(schema[name]) not in (int, float):
                    return ""
                parts.append(f"v {sign} {_named(values, schema[name])}")
    if "enum" in schema:
        choices = schema["enum"]
        if kind == "boolean" or not all(type(choice) in (str, int, float) for choice in choices):
            return ""
        parts.append(f"v in {_named(values, frozenset(choices))}")
    return " and ".join(parts)


def _named(values: dict[str, Any], value: Any) -> str:
    name = f"c{len(values)}"
    values[name] = value
    return name


def compile_accept(schema: dict[str, Any]) -> Callable[[Any], bool] | None:
    """Return a function that says True only for arguments that fit an object schema of scalar parameters.

    False means: look closer, by `compile_schema`, which also says what is wrong. None means that the schema has other
    keywords than this half knows.
    """
    properties = schema.get("properties", {})
    known = {"type", "properties", "required", "additionalProperties", "description", "title"}
    if schema.get("type") != "object" or not known.issuperset(schema) or not isinstance(properties, dict):
        return None
    required = set(schema.get("required", ()))
    if not required <= properties.keys():
        return None
    values: dict[str, Any] = {"missing": _MISSING}
    lines = ["def accept(a):", " if type(a) is not dict: return False", " n = 0"]
    for name, item in properties.items():
        test = _scalar(item, values) if isinstance(item, dict) else ""
        if not test:
            return None
        lines.append(f" v = a.get({name!r}, missing)")
        lines.append(f" if v is not missing:\n  if not ({test}): return False\n  n += 1")
        if name in required:
            lines.append(" else: return False")
    lines.append(" return n == len(a)")
    exec("\n".join(lines), values)  # of names and constants that repr or a name stands for: no text of the schema's
    return values["accept"]
