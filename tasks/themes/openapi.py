"""Reads tool documentation in the OpenAPI 3 format (a parsed JSON or YAML value).

`x-data-needed`, a list of sentences at the top level, is an extension of our own that says which data the service is
about; without it the tags and their descriptions stand in.
"""

from __future__ import annotations

from typing import Any

from schemas.theme import Operation
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import plain, refusing, shorten, snake, unique

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def is_openapi(value: Any) -> bool:
    """Say whether a value claims to be an OpenAPI (or Swagger) document."""
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def read_openapi(value: dict[str, Any]) -> Reading:
    """Return the reading of an OpenAPI 3 document.

    Raises:
        UnreadableSource: for OpenAPI 2 (Swagger), an unknown version, or a malformed `info` or `paths`.
    """
    version = str(value.get("openapi") or value.get("swagger"))
    if not version.startswith("3."):
        raise UnreadableSource("openapi_version", f"OpenAPI version {version!r} is not read: convert it to OpenAPI 3")
    info, paths = value.get("info"), value.get("paths")
    if not isinstance(info, dict) or not isinstance(paths, dict):
        raise UnreadableSource("broken_openapi", "an OpenAPI 3 document needs `info` and `paths` as objects")
    operations, rules = [], []
    for path, item in paths.items():
        if not isinstance(item, dict):
            raise UnreadableSource("broken_openapi", f"paths[{path!r}] is no object")
        for method in METHODS:
            if isinstance(item.get(method), dict):
                operation, text = _operation(value, str(path), method, item)
                operations.append(operation)
                rules += [(operation.name, line) for line in refusing(text)]
    about = plain(str(info.get("description") or info.get("summary") or ""))
    licence = info.get("license") if isinstance(info.get("license"), dict) else {}
    return Reading(
        kind="openapi",
        name=str(info.get("title") or ""),
        description=shorten(about) or shorten(" ".join(one.description for one in operations), 300),
        operations=tuple(operations),
        needs=unique(_needs(value)),
        rules=rule_lines(rules + [("", line) for line in refusing(about)]),
        licence=str(licence.get("identifier") or ""),
    )


def _operation(root: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> tuple[Operation, str]:
    """Return one method of one path, and all that is said about it: its text and those of its refusals (4xx)."""
    body = item[method]
    names = []
    for parameter in [*_list(item.get("parameters")), *_list(body.get("parameters"))]:
        names.append(str(_resolve(root, parameter).get("name", "")))
    for media in _mapping(_resolve(root, body.get("requestBody")).get("content")).values():
        schema = _resolve(root, _mapping(media).get("schema"))
        names += [str(name) for name in _mapping(schema.get("properties"))]
    text = plain(f"{body.get('summary') or ''}. {body.get('description') or ''}".strip(". "))
    refusals = [
        str(_resolve(root, answer).get("description") or "")
        for code, answer in _mapping(body.get("responses")).items()
        if str(code).startswith("4")
    ]
    name = snake(str(body.get("operationId") or f"{method} {path}"))
    operation = Operation(
        name=name, description=shorten(text, 400), parameters=unique(snake(one) for one in names if one)
    )
    return operation, " ".join([text, *(plain(line) for line in refusals)])


def _resolve(root: dict[str, Any], value: Any) -> dict[str, Any]:
    """Follow local references ("#/components/...") a few steps; what cannot be followed is empty."""
    for _ in range(8):
        if not isinstance(value, dict):
            return {}
        pointer = value.get("$ref")
        if not isinstance(pointer, str):
            return value
        if not pointer.startswith("#/"):
            return {}
        value = root
        for part in pointer[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            value = value.get(key) if isinstance(value, dict) else None
    return {}


def _needs(value: dict[str, Any]) -> list[str]:
    stated = [str(line) for line in _list(value.get("x-data-needed"))]
    if stated:
        return stated
    tags = [_mapping(tag) for tag in _list(value.get("tags"))]
    return [" ".join(str(tag[key]) for key in ("name", "description") if tag.get(key)) for tag in tags]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
