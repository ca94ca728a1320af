"""Derived values: counts, sums, averages and differences over what was observed, as candidates for the answer.

The policy cannot add; it can point at a sum. The arithmetic offered is fixed and small, and the policy decides which
of its results, if any, a field of the answer means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import fmean

from tasks.policies.pointer.units import Kind, Unit, Weighted, shape_of
from tasks.policies.pointer.words import words_of

MOST = 48


class Operation(IntEnum):
    """What a derived value is; stands in the unit's `row`."""

    CALLS = 1
    """how often a tool was called without refusal"""
    SUM = 2
    AVERAGE = 3
    SUM_USED = 4
    """over the rows that a later call acted on"""
    COUNT_USED = 5
    COUNT_ABOVE = 6
    """rows above the average of their column"""
    SUM_ABOVE = 7
    SUM_OVER_CALLS = 8
    """over the single rows that repeated calls of one tool returned"""
    DIFFERENCE = 9
    """between the sums over the last two lists of one tool"""


@dataclass(frozen=True, slots=True)
class _Column:
    """A numeric column of one observation: its words, its values, and which of its rows were used later."""

    keys: Weighted
    values: tuple[float, ...]
    used: tuple[bool, ...]


def derived_units(
    units: Sequence[Unit], used_rows: set[tuple[int, int]], tools: Mapping[int, str], refused: Iterable[int], step: int
) -> list[Unit]:
    """Return units of derived values, the latest observations first, at most MOST.

    `units` are all so far; `used_rows` are the (step, row) that later calls took a value from; `tools` names the tool
    of each step, `refused` are the steps that were refused; `step` is the present one.
    """
    found: list[Unit] = []
    lists: dict[str, dict[str, list[_Column]]] = {}
    singles: dict[tuple[str, str], list[Unit]] = {}
    for column in _columns(units):
        first = column[0]
        tool, name = tools.get(first.step, ""), first.column.partition("/")[2]
        if first.row == 0:
            singles.setdefault((tool, name), []).append(first)
            continue
        used = tuple((unit.step, unit.row) in used_rows for unit in column)
        one = _Column(first.keys, tuple(float(unit.value) for unit in column), used)
        lists.setdefault(tool, {}).setdefault(name, []).append(one)
    for tool in dict.fromkeys(tools[number] for number in sorted(tools, reverse=True)):
        made = sum(name == tool and number not in set(refused) for number, name in tools.items())
        keys = tuple((word, 1.0) for word in words_of(tool))
        found.append(_unit(keys, Operation.CALLS, float(made), step))
    for members in lists.values():
        for columns in members.values():
            found += _over_rows(columns[-1], step)
            if len(columns) > 1:
                difference = abs(sum(columns[-1].values) - sum(columns[-2].values))
                found.append(_unit(columns[-1].keys, Operation.DIFFERENCE, difference, step))
    for group in singles.values():
        if len(group) > 1:
            total = sum(float(unit.value) for unit in group)
            found.append(_unit(group[0].keys, Operation.SUM_OVER_CALLS, total, step))
    return found[:MOST]


def _columns(units: Sequence[Unit]) -> list[list[Unit]]:
    """Return the numeric columns of observations, the latest first."""
    columns: dict[str, list[Unit]] = {}
    for unit in units:
        if unit.kind == Kind.OBSERVED:
            columns.setdefault(unit.column, []).append(unit)
    numeric = [
        column
        for column in columns.values()
        if all(isinstance(unit.value, int | float) and not isinstance(unit.value, bool) for unit in column)
    ]
    return numeric


def _over_rows(column: _Column, step: int) -> list[Unit]:
    values = column.values
    mean = fmean(values)
    above = [value for value in values if value > mean]
    chosen = [value for value, used in zip(values, column.used, strict=True) if used]
    results = [(Operation.SUM, sum(values))]
    if len(values) > 1:
        results += [(Operation.AVERAGE, mean)]
        results += [(Operation.COUNT_ABOVE, float(len(above))), (Operation.SUM_ABOVE, sum(above))]
    if 0 < len(chosen) < len(values):
        results += [(Operation.SUM_USED, sum(chosen)), (Operation.COUNT_USED, float(len(chosen)))]
    return [_unit(column.keys, operation, value, step) for operation, value in results]


def _unit(keys: Weighted, operation: Operation, value: float, step: int) -> Unit:
    rounded = round(value, 2)
    result = int(rounded) if rounded == int(rounded) else rounded
    words = ((operation.name.lower(), 1.0),)
    return Unit(Kind.DERIVED, keys, words, result, shape_of(result), row=int(operation), step=step)
