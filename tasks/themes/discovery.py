"""Reads Google API discovery documents (`"kind": "discovery#restDescription"`).

Methods stand in resources, which nest. A method's id begins with the API's name, which tells nothing: it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schemas.theme import Operation
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import plain, refusing, sentences, shorten, snake, unique

MAX_NESTING = 20


def is_discovery(value: Any) -> bool:
    """Say whether a JSON value is a discovery document."""
    return isinstance(value, dict) and value.get("kind") == "discovery#restDescription"


def read_discovery(value: dict[str, Any]) -> Reading:
    """Return the reading of a discovery document; deprecated methods are left out.

    Raises:
        UnreadableSource: if resources, methods or schemas are malformed, nest too deep, or all of it is deprecated.
    """
    operations, rules, deprecated = [], [], 0
    schemas = _object(value.get("schemas", {}), "schemas")
    for method in _methods(value, 0):
        if method.get("deprecated") is True:
            deprecated += 1
            continue
        text = plain(str(method.get("description") or ""))
        name = snake(str(method.get("id") or "").partition(".")[2])
        if not name:
            raise UnreadableSource("broken_discovery", "a method has no id of the form api.resource.method")
        operation = Operation(
            name=name,
            description=shorten(" ".join(sentences(text)[:2]), 400),
            parameters=_parameters(schemas, method),
        )
        operations.append(operation)
        rules += [(name, line) for line in refusing(text)]
    if deprecated and not operations:
        raise UnreadableSource("deprecated", f"all of its {deprecated} methods are marked as deprecated")
    part, _, version = str(value.get("version") or "").rpartition("_")  # "lfp_v1" is version 1 of the part lfp
    about = plain(str(value.get("description") or ""))
    return Reading(
        kind="discovery",
        name=str(value.get("title") or value.get("canonicalName") or value.get("name") or ""),
        description=shorten(about) or shorten(" ".join(one.description for one in operations), 300),
        operations=tuple(operations),
        rules=rule_lines(rules + [("", line) for line in refusing(about)]),
        api=f"googleapis.com:{value.get('name') or ''}{f'/{part}' if part else ''}",
        api_version=version,
    )


def _methods(part: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    if depth > MAX_NESTING:
        raise UnreadableSource("too_complex", f"resources nested deeper than {MAX_NESTING} levels")
    for name, method in _object(part.get("methods", {}), "methods").items():
        yield _object(method, f"methods[{name!r}]")
    for name, resource in _object(part.get("resources", {}), "resources").items():
        yield from _methods(_object(resource, f"resources[{name!r}]"), depth + 1)


def _parameters(schemas: dict[str, Any], method: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of a method's parameters, then of the fields of the object that it is sent."""
    names = list(_object(method.get("parameters", {}), "parameters"))
    request = method.get("request")
    schema = schemas.get(str(request.get("$ref"))) if isinstance(request, dict) else None
    fields = schema.get("properties") if isinstance(schema, dict) else None
    return unique(snake(str(name)) for name in [*names, *(fields if isinstance(fields, dict) else ())])


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableSource("broken_discovery", f"{where} is no object")
    return value
