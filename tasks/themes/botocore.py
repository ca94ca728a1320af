"""Reads tool documentation in the form of botocore's service models (`service-2.json`)."""

from __future__ import annotations

import re
from typing import Any

from schemas.theme import Operation
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import plain, refusing, sentences, shorten, slug, snake, unique

_ASIDE = re.compile(r"<(note|important)>.*?</\1>", re.DOTALL)  # the same notice under each operation: not its topic

_STATE_ERROR = re.compile(r"Exists|InUse|State|LimitExceeded|QuotaExceeded|Expired")


def is_service_model(value: Any) -> bool:
    """Say whether a JSON value looks like a botocore service model."""
    return isinstance(value, dict) and {"metadata", "operations", "shapes"} <= value.keys()


def read_service_model(value: dict[str, Any]) -> Reading:
    """Return the reading of a service model; deprecated operations are left out.

    Raises:
        UnreadableSource: if metadata, operations or shapes are no objects.
    """
    metadata, operations, shapes = value["metadata"], value["operations"], value["shapes"]
    if not (isinstance(metadata, dict) and isinstance(operations, dict) and isinstance(shapes, dict)):
        raise UnreadableSource("broken_service_model", "metadata, operations and shapes must be objects")
    found, rules = [], []
    for name, body in operations.items():
        if not isinstance(body, dict):
            raise UnreadableSource("broken_service_model", f"operations[{name!r}] is no object")
        if body.get("deprecated"):
            continue
        text = plain(_ASIDE.sub(" ", str(body.get("documentation") or "")))
        found.append(
            Operation(
                name=snake(str(name)),
                description=shorten(" ".join(sentences(text)[:2]), 400),
                parameters=_members(shapes, body),
            )
        )
        rules += [(snake(str(name)), line) for line in [*refusing(text), *_refusals(shapes, body)]]
    about = plain(_ASIDE.sub(" ", str(value.get("documentation") or "")))
    return Reading(
        kind="botocore",
        name=str(metadata.get("serviceFullName") or metadata.get("serviceId") or ""),
        description=shorten(about) or shorten(" ".join(one.description for one in found), 300),
        operations=tuple(found),
        rules=rule_lines(rules),
        api=f"aws:{slug(str(metadata.get('serviceId') or metadata.get('endpointPrefix') or ''))}",
        api_version=str(metadata.get("apiVersion") or ""),
    )


def _refusals(shapes: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    """Return what the model says about the errors that mean a refusal by state, not a fault or a missing right."""
    out = []
    errors = operation.get("errors")
    for reference in errors if isinstance(errors, list) else []:
        name = str(reference.get("shape")) if isinstance(reference, dict) else ""
        shape = shapes.get(name)
        if _STATE_ERROR.search(name) and isinstance(shape, dict):
            out += sentences(plain(str(shape.get("documentation") or "")))[:1]
    return out


def _members(shapes: dict[str, Any], operation: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of an operation's input members, in snake case, in the model's order."""
    reference = operation.get("input")
    shape = shapes.get(reference.get("shape")) if isinstance(reference, dict) else None
    members = shape.get("members") if isinstance(shape, dict) else None
    return unique(snake(str(name)) for name in members) if isinstance(members, dict) else ()
