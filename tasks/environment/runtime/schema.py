"""Checks of arguments against the JSON Schema subset that tools use, compiled to closures: no import, few µs a call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Check = Callable[[Any, str], str]
"""(value, where) -> '' or what is wrong."""


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_integer(value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,  # of 64 bits, as SQLite stores it
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "must be at least"),
    "maximum": (lambda value, bound: value <= bound, "must be at most"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "must be more than"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "must be less than"),
}


def _same(left: Any, right: Any) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _type_check(types: list[str]) -> Check:
    tests = [_TYPES[name] for name in types]
    wanted = " or ".join(types)

    def check(value: Any, where: str) -> str:
        for test in tests:
            if test(value):
                return ""
        return f"{where} must be of type {wanted}"

    return check


def _choice_check(choices: list[Any]) -> Check:
    shown = ", ".join(map(repr, choices))
    return lambda value, where: "" if any(_same(value, c) for c in choices) else f"{where} must be one of {shown}"


def _bound_check(test: Callable[[Any, Any], bool], words: str, bound: float) -> Check:
    return lambda value, where: f"{where} {words} {bound}" if _is_number(value) and not test(value, bound) else ""


def _length_check(kind: type, low: int, high: float) -> Check:
    def check(value: Any, where: str) -> str:
        if isinstance(value, kind) and not low <= len(value) <= high:
            return f"{where} must have a length from {low} to {high}"
        return ""

    return check


def _object_check(schema: dict[str, Any]) -> Check:
    properties = {name: compile_schema(sub) for name, sub in schema.get("properties", {}).items()}
    required = tuple(schema.get("required", ()))
    more = schema.get("additionalProperties", True)
    other = compile_schema(more) if isinstance(more, dict) else None

    def check(value: Any, where: str) -> str:
        if not isinstance(value, dict):
            return ""
        for name in required:
            if name not in value:
                return f"{where}.{name} is required"
        for name, item in value.items():
            known = properties.get(name, other)
            if known is not None:
                problem = known(item, f"{where}.{name}")
                if problem:
                    return problem
            elif more is False:
                return f"{where}.{name} is not a parameter"
        return ""

    return check


def _items_check(item: Check) -> Check:
    def check(value: Any, where: str) -> str:
        if isinstance(value, list):
            for index, element in enumerate(value):
                problem = item(element, f"{where}[{index}]")
                if problem:
                    return problem
        return ""

    return check


def compile_schema(schema: dict[str, Any]) -> Check:
    """Return the check of a schema: type, enum, const, bounds, lengths, pattern, items, properties, anyOf.

    Other keywords are annotations here. The check returns '' or one sentence that says where and what is wrong.

    Raises:
        KeyError: for a type name that JSON Schema does not know.
        re.error: for a pattern that is no regular expression.
    """
    checks: list[Check] = []
    if "type" in schema:
        types = schema["type"]
        checks.append(_type_check([types] if isinstance(types, str) else list(types)))
    if "enum" in schema:
        checks.append(_choice_check(list(schema["enum"])))
    if "const" in schema:
        checks.append(_choice_check([schema["const"]]))
    for name, (test, words) in _BOUNDS.items():
        if name in schema:
            checks.append(_bound_check(test, words, schema[name]))
    for kind, suffix in ((str, "Length"), (list, "Items")):
        if "min" + suffix in schema or "max" + suffix in schema:
            checks.append(_length_check(kind, schema.get("min" + suffix, 0), schema.get("max" + suffix, float("inf"))))
    if "pattern" in schema:
        pattern = re.compile(schema["pattern"])
        checks.append(lambda v, w: f"{w} has the wrong form" if isinstance(v, str) and not pattern.search(v) else "")
    if "items" in schema:
        checks.append(_items_check(compile_schema(schema["items"])))
    if "properties" in schema or "required" in schema or "additionalProperties" in schema:
        checks.append(_object_check(schema))
    for name in ("anyOf", "oneOf"):
        if name in schema:
            branches = [compile_schema(sub) for sub in schema[name]]
            checks.append(
                lambda v, w, branches=branches: "" if any(not b(v, w) for b in branches) else f"{w} fits no option"
            )
    if len(checks) == 1:
        return checks[0]

    def check(value: Any, where: str) -> str:
        for one in checks:
            problem = one(value, where)
            if problem:
                return problem
        return ""

    return check
