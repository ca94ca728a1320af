"""Foreign parameter schemas as native ones: the subset of JSON Schema that the engine checks."""

from __future__ import annotations

import re
from typing import Any

_TYPES = {
    "str": "string", "text": "string", "date": "string", "datetime": "string", "int": "integer", "float": "number",
    "double": "number", "bool": "boolean", "list": "array", "dict": "object", "json": "object", "map": "object",
}  # fmt: skip
_KNOWN = ("string", "integer", "number", "boolean", "array", "object", "null")
_KEPT = (
    "description", "enum", "default", "minimum", "maximum", "minItems", "maxItems", "pattern", "format", "examples",
)  # fmt: skip


def argument_schema(schema: Any) -> dict[str, Any]:
    """Return the schema of a tool's arguments: an object without other properties than those named.

    Foreign type names ("str", "dict" ...) become those of JSON Schema, a per-parameter `required: true` goes to the
    object's list, and properties that stand at the top without `properties` are found too.
    """
    given = schema if isinstance(schema, dict) else {}
    properties = given.get("properties")
    if not isinstance(properties, dict):
        properties = {
            name: value
            for name, value in given.items()
            if isinstance(value, dict) and ("type" in value or "description" in value)
        }
    required = [name for name in _names(given.get("required")) if name in properties]
    required += [n for n, value in properties.items() if isinstance(value, dict) and value.get("required") is True]
    return {
        "type": "object",
        "properties": {str(name): native(value) for name, value in properties.items()},
        "required": list(dict.fromkeys(required)),
        "additionalProperties": False,
    }


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def native(schema: Any) -> dict[str, Any]:
    """Return one value's schema in the native subset."""
    if not isinstance(schema, dict):
        return {}
    found: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if not isinstance(found.get("enum", []), list):
        del found["enum"]
    if "pattern" in found and not _compiles(found["pattern"]):
        del found["pattern"]
    types = schema.get("type")
    names = [
        _TYPES.get(str(name).lower(), str(name).lower()) for name in (types if isinstance(types, list) else [types])
    ]
    names = [name for name in names if name in _KNOWN]
    if "integer" in names and "number" not in names and isinstance(found.get("default"), float):
        names.append("number")
    if names:
        found["type"] = names[0] if len(names) == 1 else names
    if isinstance(schema.get("items"), dict):
        found["items"] = native(schema["items"])
    if isinstance(schema.get("properties"), dict) and schema["properties"]:
        found["properties"] = {str(name): native(value) for name, value in schema["properties"].items()}
        found["required"] = [name for name in _names(schema.get("required")) if name in found["properties"]]
    for several in ("anyOf", "oneOf"):
        if isinstance(schema.get(several), list):
            found["anyOf"] = [native(option) for option in schema[several]]
    return found


def _compiles(pattern: Any) -> bool:
    try:
        re.compile(pattern)
        return True
    except (re.error, TypeError):
        return False
