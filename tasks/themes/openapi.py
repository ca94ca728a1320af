"""Reads tool documentation in the OpenAPI formats 2 (Swagger), 3.0 and 3.1 (a parsed JSON or YAML value).

Operations that are marked as deprecated are left out. What tells the same API in another version is the provider and
service that a directory recorded (`x-providerName`, `x-serviceName`), else the host and the title.

`x-data-needed`, a list of sentences at the top level, is an extension of our own that says which data the service is
about; without it the tags and their descriptions stand in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from schemas.theme import Operation
from tasks.themes.licences import licence_of
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import plain, refusing, shorten, slug, snake, unique

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def is_openapi(value: Any) -> bool:
    """Say whether a value claims to be an OpenAPI (or Swagger) document."""
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def read_openapi(value: dict[str, Any]) -> Reading:
    """Return the reading of an OpenAPI document.

    Raises:
        UnreadableSource: for an unknown version, a malformed `info` or `paths`, or if all of it is deprecated.
    """
    version = str(value.get("openapi") or value.get("swagger"))
    if not version.startswith(("3.", "2.")):
        raise UnreadableSource("openapi_version", f"OpenAPI version {version!r} is not read: convert it to OpenAPI 3")
    info, paths = value.get("info"), value.get("paths", {})
    if not isinstance(info, dict) or not isinstance(paths, dict):
        raise UnreadableSource("broken_openapi", "an OpenAPI document needs `info` and `paths` as objects")
    operations, rules, deprecated = [], [], 0
    for path, method, item in _methods(value, paths):
        if item[method].get("deprecated") is True:
            deprecated += 1
            continue
        operation, text = _operation(value, path, method, item)
        operations.append(operation)
        rules += [(operation.name, line) for line in refusing(text)]
    if deprecated and not operations:
        raise UnreadableSource("deprecated", f"all of its {deprecated} operations are marked as deprecated")
    about = plain(str(info.get("description") or info.get("summary") or ""))
    return Reading(
        kind="openapi",
        name=str(info.get("title") or ""),
        description=shorten(about) or shorten(" ".join(one.description for one in operations), 300),
        operations=tuple(operations),
        needs=unique(_needs(value)),
        rules=rule_lines(rules + [("", line) for line in refusing(about)]),
        licence=licence_of(info.get("license")),
        api=_api(value, info),
        api_version=str(info.get("version") or ""),
    )


def _methods(root: dict[str, Any], paths: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (path, method, path item) of every operation; keys that begin with "x-" are extensions."""
    for path, item in paths.items():
        if str(path).startswith("x-"):
            continue
        if not isinstance(item, dict):
            raise UnreadableSource("broken_openapi", f"paths[{path!r}] is no object")
        found = _resolve(root, item)
        for method in METHODS:
            if isinstance(found.get(method), dict):
                yield str(path), method, found


def _api(value: dict[str, Any], info: dict[str, Any]) -> str:
    """Return what names the API in all its versions."""
    if info.get("x-providerName"):
        return f"{info['x-providerName']}:{info.get('x-serviceName') or ''}"
    servers = [_mapping(server).get("url") for server in _list(value.get("servers"))[:1]]
    host = str(value.get("host") or (urlsplit(str(servers[0])).netloc if servers else ""))
    return f"{host}:{slug(str(info.get('title') or ''))}"


def _operation(root: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> tuple[Operation, str]:
    """Return one method of one path, and all that is said about it: its text and those of its refusals (4xx)."""
    body = item[method]
    names = []
    schemas = [
        _mapping(media).get("schema")
        for media in _mapping(_resolve(root, body.get("requestBody")).get("content")).values()
    ]
    for parameter in [*_list(item.get("parameters")), *_list(body.get("parameters"))]:
        found = _resolve(root, parameter)
        if found.get("in") == "body":  # OpenAPI 2: the parameter is the whole body
            schemas.append(found.get("schema"))
        else:
            names.append(str(found.get("name", "")))
    for schema in schemas:
        names += [str(name) for name in _mapping(_resolve(root, schema).get("properties"))]
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
