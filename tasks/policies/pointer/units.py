"""Units: the positions of the sequence that the pointer policy reads and points at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from tasks.policies.pointer.words import date_of, number_of

Weighted = tuple[tuple[str, float], ...]
"""Words with the weight that each has in the unit's bag of words."""

NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()
"""The value of a unit that holds none."""

OMIT: Any = type("Omit", (), {"__repr__": lambda self: "OMIT"})()
"""The choice to leave an optional argument out."""


class Kind(IntEnum):
    """What a unit stands for."""

    SINK = 0
    CONSTANT = 1
    PROMPT = 2
    SPAN = 3
    FIELD = 4
    TOOL = 5
    FINISH = 6
    OPTION = 7
    DECIDE = 8
    PARAMETER = 9
    ARGUMENT = 10
    OBSERVED = 11
    TEXT = 12
    REFUSAL = 13
    DERIVED = 14
    ASK = 15
    AGENDA = 16
    """a value of the prompt that no call has used yet, repeated where the next tool is decided"""


THINKING = (Kind.PROMPT, Kind.SPAN, Kind.DECIDE, Kind.PARAMETER, Kind.ASK, Kind.AGENDA)
"""Units whose state depends on earlier units. All others are what they are: looked at, never looking."""


class Shape(IntEnum):
    """What a unit's value looks like; for tools, their kind; for parameters, their type and whether required."""

    NONE = 0
    WORD = 1
    CODE = 2
    QUOTED = 3
    INTEGER = 4
    NUMBER = 5
    BOOLEAN = 6
    DATE = 7
    NULL = 8
    LIST = 9
    TOOL = 10
    """and the seven after it, in the order of TOOL_KINDS."""
    PARAMETER = 18
    """and the eleven after it: six types, required or not."""


TOOL_KINDS = ("get", "search", "list", "aggregate", "create", "update", "transition", "document")
TYPES = ("string", "integer", "number", "boolean", "array", "object")
N_SHAPES = 32
N_NUMBERS = 8


@dataclass(slots=True)
class Unit:
    """One position: what it is, the words that name it (`keys`), the words of its value, and the value itself."""

    kind: Kind
    keys: Weighted = ()
    values: Weighted = ()
    value: Any = NOTHING
    shape: int = Shape.NONE
    place: int = 0
    row: int = 0
    step: int = 0
    column: str = ""
    numbers: tuple[float, ...] = ()
    bound: int = 0
    """1 or -1 for a number or date of a text that bounds something from below or from above."""


def shape_of(value: Any, quoted: bool = False) -> Shape:
    """Return what a value looks like."""
    if value is None:
        return Shape.NULL
    if isinstance(value, bool):
        return Shape.BOOLEAN
    if isinstance(value, list | tuple):
        return Shape.LIST
    if quoted:
        return Shape.QUOTED
    number = number_of(value)
    if number is not None:
        return Shape.INTEGER if number == int(number) and abs(number) < 1e15 else Shape.NUMBER
    if date_of(value):
        return Shape.DATE
    return Shape.CODE if any(char.isdigit() for char in str(value)) else Shape.WORD


def cast(value: Any, kind: Kind, wanted: str) -> Any:
    """Return a unit's value as the JSON type that a parameter or answer field wants, or NOTHING if it cannot be.

    Text of a prompt or document may stand for a number or a string; a JSON value keeps its type, except that an
    integer passes as a number and a whole number as an integer.
    """
    textual = isinstance(value, str)
    if wanted == "string":
        return value if textual else NOTHING
    if wanted == "boolean":
        return value if isinstance(value, bool) else NOTHING
    if wanted == "array":
        return list(value) if isinstance(value, list | tuple) else NOTHING
    if wanted in ("integer", "number"):
        if textual and kind not in (Kind.PROMPT, Kind.SPAN, Kind.TEXT):
            return NOTHING
        number = number_of(value)
        if number is None:
            return NOTHING
        if number == int(number) and abs(number) < 1e15:
            return int(number) if wanted == "integer" or isinstance(value, int) or textual else number
        return number if wanted == "number" else NOTHING
    return NOTHING
