"""Units of what a task offers: constants, answer fields, tools and the options of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.task import AnswerField
from tasks.policies.pointer.prompts import bag
from tasks.policies.pointer.units import OMIT, TOOL_KINDS, TYPES, Kind, Shape, Unit
from tasks.policies.pointer.words import words_of

CONSTANTS: tuple[Any, ...] = (OMIT, True, False, *range(11), "asc", "desc")
"""Values that a decision may take though no text holds them."""

MAX_OPTIONS = 40
MAX_ENUM = 24


def constant_units() -> list[Unit]:
    """Return the sink (a place to look at when nothing matches) and the constants."""
    units = [Unit(Kind.SINK)]
    for index, value in enumerate(CONSTANTS):
        words = () if value is OMIT else words_of(str(value))
        units.append(Unit(Kind.CONSTANT, values=bag(words), value=value, place=index + 1))
    return units


def field_units(fields: Sequence[AnswerField]) -> list[Unit]:
    """Return one unit an answer field."""
    return [_field(field, Kind.FIELD) for field in fields]


def ask_unit(field: AnswerField, step: int) -> Unit:
    """Return the unit at which an answer field's value is decided."""
    unit = _field(field, Kind.ASK)
    unit.step = step
    return unit


def _field(field: AnswerField, kind: Kind) -> Unit:
    words = words_of(field.description, limit=14)
    return Unit(kind, bag(words_of(field.name)), bag(words, 0.5), shape=Shape.PARAMETER + TYPES.index(field.type))


def tool_unit(name: str, description: str, parameters: dict[str, Any], tool_kind: str) -> Unit:
    """Return the one unit of a tool: its name's words as keys; its description's and parameters' words as values."""
    names = words_of(name)
    values: dict[str, float] = {}
    for word in words_of(description, limit=18):
        values[word] = 0.6
    for parameter in parameters.get("properties", {}):
        for word in words_of(parameter):
            values[word] = max(values.get(word, 0.0), 0.4)
    kind = TOOL_KINDS.index(tool_kind) if tool_kind in TOOL_KINDS else 0
    return Unit(Kind.TOOL, bag(names), tuple(values.items()), shape=Shape.TOOL + kind)


def type_of(schema: dict[str, Any]) -> str:
    """Return the JSON type of a parameter's schema; of a union, its first type that is not null."""
    kind = schema.get("type")
    if kind is None:
        for part in schema.get("anyOf", ()):
            if part.get("type") not in (None, "null"):
                return str(part["type"])
        return "string"
    if isinstance(kind, list):
        return next((str(name) for name in kind if name != "null"), "string")
    return str(kind)


def options_of(schema: dict[str, Any]) -> tuple[Any, ...]:
    """Return the closed set of values that a parameter's schema allows, () if it is open."""
    if "const" in schema:
        return (schema["const"],)
    if "enum" in schema:
        return tuple(value for value in schema["enum"] if value is not None)
    for part in schema.get("anyOf", ()):
        if "enum" in part:
            return tuple(value for value in part["enum"] if value is not None)
    return ()


def option_units(tools: Sequence[tuple[str, dict[str, Any]]], mentioned: set[str]) -> dict[tuple[str, Any], Unit]:
    """Return units of the options of all tools' parameters, by (parameter, option), at most MAX_OPTIONS of them:
    first those whose words the prompt mentions, then those of sets of at most MAX_ENUM."""
    wanted: dict[tuple[str, Any], Unit] = {}
    others: dict[tuple[str, Any], Unit] = {}
    for _, parameters in tools:
        for name, schema in parameters.get("properties", {}).items():
            options = options_of(schema)
            for value in options:
                words = words_of(str(value))
                unit = Unit(Kind.OPTION, bag(words_of(name)), bag(words), value)
                if all(word in mentioned for word in words):
                    wanted.setdefault((name, value), unit)
                elif len(options) <= MAX_ENUM:
                    others.setdefault((name, value), unit)
    return dict([*wanted.items(), *others.items()][:MAX_OPTIONS])


def parameter_unit(tool: str, name: str, schema: dict[str, Any], required: bool, step: int) -> Unit:
    """Return the unit at which an argument's value is decided."""
    keys: dict[str, float] = {word: 0.35 for word in words_of(tool)}
    for word in words_of(name):
        keys[word] = 1.0
    kind = type_of(schema)
    shape = Shape.PARAMETER + (TYPES.index(kind) if kind in TYPES else 0) + (0 if required else len(TYPES))
    values = bag(words_of(schema.get("description", ""), limit=10), 0.5)
    return Unit(Kind.PARAMETER, tuple(keys.items()), values, shape=shape, step=step)
