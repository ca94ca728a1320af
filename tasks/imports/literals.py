"""Values as JSON Schemas have them: their types, what a schema itself offers, rows spread over a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
NUMERIC = ("integer", "number")
QUOTED = re.compile(r"['\"`]([^'\"`\n]{1,40})['\"`]")
"""Words in quotation marks, as descriptions give examples."""


def schema_types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types that a value may have; () if the schema does not say."""
    kinds = schema.get("type")
    if kinds is None:
        return tuple(dict.fromkeys(k for option in schema.get("anyOf", ()) for k in schema_types(option)))
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def as_typed(value: Any, kinds: Sequence[str]) -> Any:
    """Return a cell as a parameter of these types takes it."""
    if not kinds or not isinstance(value, str | int | float):
        return value
    if "string" in kinds and not isinstance(value, str) and not any(kind in NUMERIC for kind in kinds):
        return str(value)
    if "integer" in kinds and "number" not in kinds and isinstance(value, float):
        return int(value)
    return value


def literal_values(name: str, schema: Mapping[str, Any], start_time: str) -> Iterator[Any]:
    """Yield values that a schema itself offers: default, examples, quoted words of the description; dates by name."""
    kinds = schema_types(schema)
    if schema.get("default") is not None:
        yield schema["default"]
    examples = schema.get("examples")
    yield from examples if isinstance(examples, list) else ()
    if "string" in kinds or not kinds:
        yield from QUOTED.findall(str(schema.get("description", "")))
        low = name.lower()
        if "time" in low or low.endswith("_at"):
            yield start_time
        elif "date" in low or low.endswith(("_on", "_day")):
            yield start_time[:10]
        elif "email" in low:
            yield "someone@example.com"
    elif schema.get("minimum") is not None:
        yield schema["minimum"]


def distinct(values: Any) -> list[Any]:
    """Return values without repetition, in order; JSON values of any kind."""
    found: list[Any] = []
    seen: set[str] = set()
    for value in values:
        text = repr(value)
        if text not in seen:
            seen.add(text)
            found.append(value)
    return found


def spread(rows: Sequence[Row], most: int) -> list[Row]:
    """Return rows spread evenly over a table."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(place * (len(rows) - 1) / (most - 1))] for place in range(most)]
