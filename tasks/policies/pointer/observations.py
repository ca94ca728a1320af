"""Units of what a tool returned: one a scalar, named by its column, with its place among the rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.policies.pointer.prompts import bag, text_units
from tasks.policies.pointer.units import Kind, Shape, Unit, shape_of
from tasks.policies.pointer.words import date_of, number_of, value_key, words_of

MAX_ROWS = 10
LONG_TEXT = 90
_TAG = re.compile(r"<[^>]{1,80}>")


def observation_units(
    tool: str,
    arguments: Mapping[str, Any],
    observation: dict[str, Any],
    step: int,
    numbers: Sequence[float],
    mentioned: set[str],
    room: int,
) -> tuple[list[Unit], int]:
    """Return the units of an observation, at most about `room` of them, and how many were cut.

    `numbers` and `mentioned` are the numbers and value keys of the prompt, to which each value is compared. A value
    is named by its column and table, by the call's arguments and its row's label. Values of a list's rows also carry
    whether they are the greatest or least of their column and their rank.
    """
    error = observation.get("error")
    if isinstance(error, dict):
        code = str(error.get("code", ""))
        return [Unit(Kind.REFUSAL, bag(words_of("error code")), bag(words_of(code)), code, step=step)], 0
    units: list[Unit] = []
    asked = [word for value in arguments.values() for word in words_of(str(value), 4)][:8]
    entity = tuple((word, 0.3) for word in (*words_of(tool)[1:], *asked))
    _flatten(observation, (), (), 0, step, entity, units)
    cut = max(0, len(units) - room)
    units = units[:room]
    _rank(units)
    for unit in units:
        if unit.kind == Kind.OBSERVED:
            unit.numbers = (*(unit.numbers or (0.0, 0.0, 0.0)), *_compare(unit.value, numbers, mentioned))
    return units, cut


def _flatten(
    value: Any, path: tuple[str, ...], lists: tuple[str, ...], row: int, step: int, entity: tuple, units: list[Unit]
) -> None:
    if isinstance(value, dict):
        for name, part in value.items():
            _flatten(part, (*path, name), lists, row, step, entity, units)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for index, part in enumerate(value[:MAX_ROWS]):
            named = (*entity, *((word, 0.3) for word in _label(part)))
            _flatten(part, (), (*lists, *path), index + 1, step, named, units)
    elif isinstance(value, str) and len(value) > LONG_TEXT:
        text = _TAG.sub(" ", value)
        units.extend(text_units(text, Kind.TEXT, step, limit=120)[0])
    elif value is not None:
        keys: dict[str, float] = dict(entity)
        for depth, name in enumerate(lists[-1:] + path):
            for word in words_of(name):
                keys[word] = 1.0 if depth == len(lists[-1:]) + len(path) - 1 else 0.4
        text = ", ".join(map(str, value[:4])) if isinstance(value, list) else str(value)
        column = f"{step}/{'.'.join((*lists, *path))}"
        units.append(
            Unit(
                Kind.OBSERVED,
                tuple(keys.items()),
                bag(words_of(text)),
                value,
                shape_of(value),
                row=min(row, MAX_ROWS),
                step=step,
                column=column,
            )
        )


def _label(row: Any) -> tuple[str, ...]:
    """Return the words of what a person would name a row by: its first text that is neither a code nor a date."""
    if not isinstance(row, dict):
        return ()
    texts = (value for value in row.values() if isinstance(value, str))
    return next((words_of(text, 4) for text in texts if shape_of(text) == Shape.WORD), ())


def _rank(units: list[Unit]) -> None:
    """Mark in `numbers` (greatest, least, rank in 0..1) how each value of a column of rows stands in it."""
    columns: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.row:
            columns.setdefault(unit.column, []).append(unit)
    for members in columns.values():
        values = [number_of(unit.value) if date_of(unit.value) is None else date_of(unit.value) for unit in members]
        if len(values) < 2 or any(value is None for value in values) or len({type(value) for value in values}) > 1:
            continue
        order = sorted(values)  # type: ignore[type-var]
        for unit, value in zip(members, values, strict=True):
            rank = order.index(value) / (len(order) - 1)
            unit.numbers = (float(value == order[-1]), float(value == order[0]), rank)


def _compare(value: Any, numbers: Sequence[float], mentioned: set[str]) -> tuple[float, ...]:
    number = number_of(value)
    same = float(value_key(value) in mentioned)
    if number is None:
        return (0.0, 0.0, same, 0.0, 0.0)
    below = float(any(number < other for other in numbers))
    above = float(any(number > other for other in numbers))
    size = (1.0 if number >= 0 else -1.0) * min(1.0, len(f"{abs(number):.0f}") / 8)
    return (below, above, same, 1.0, size)
