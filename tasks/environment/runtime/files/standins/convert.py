"""Bring a JSON value into the form that a type annotation asks for, as data models do when they are filled."""

from __future__ import annotations

import datetime
import decimal
import enum
import re
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin

_LISTS = (list, set, frozenset, tuple)
_TRUE, _FALSE = ("true", "1", "yes", "on", "y", "t"), ("false", "0", "no", "off", "n", "f")


class ValidationError(ValueError):
    """A value does not fit a model; the message says where."""

    def errors(self) -> list[dict[str, Any]]:
        """Return the one problem in the form that callers of pydantic expect."""
        return [{"type": "value_error", "loc": (), "msg": str(self)}]


class Check:
    """A function in an annotation's metadata that is applied before or after the conversion."""

    def __init__(self, function: Callable[[Any], Any], before: bool) -> None:
        self.function, self.before = function, before


def fail(where: str, wanted: str, value: Any) -> typing.NoReturn:
    """Raise a ValidationError."""
    raise ValidationError(f"{where or 'value'}: {wanted} expected, got {type(value).__name__} {str(value)[:80]!r}")


def convert(kind: Any, value: Any, where: str = "") -> Any:
    """Return the value in the form of a type; numbers in texts and ISO dates are accepted.

    Raises:
        ValidationError: if it does not fit.
    """
    if kind is Any or isinstance(kind, typing.TypeVar) or kind is object:
        return value
    if kind is None or kind is type(None):
        return None if value is None else fail(where, "null", value)
    origin = get_origin(kind)
    if origin is typing.Annotated:
        return _annotated(kind, value, where)
    if origin is Union or origin is types.UnionType:
        return _union(get_args(kind), value, where)
    if origin is Literal:
        for option in get_args(kind):
            if option == value and isinstance(option, bool) == isinstance(value, bool):
                return option
        fail(where, f"one of {get_args(kind)}", value)
    if origin is not None:
        return _container(origin, get_args(kind), value, where)
    return _plain(kind, value, where)


def _annotated(kind: Any, value: Any, where: str) -> Any:
    base, *marks = get_args(kind)
    for mark in marks:
        if isinstance(mark, Check) and mark.before:
            value = mark.function(value)
    value = convert(base, value, where)
    for mark in marks:
        if isinstance(mark, Check) and not mark.before:
            value = mark.function(value)
        elif hasattr(mark, "limits"):
            limited(mark.limits, value, where)
    return value


def limited(limits: dict[str, Any], value: Any, where: str) -> None:
    """Check the bounds of a field: ge, gt, le, lt, min_length, max_length, pattern.

    Raises:
        ValidationError: if one is broken.
    """
    if value is None:
        return
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "ge": lambda v, b: v >= b, "gt": lambda v, b: v > b, "le": lambda v, b: v <= b, "lt": lambda v, b: v < b,
        "min_length": lambda v, b: len(v) >= b, "max_length": lambda v, b: len(v) <= b,
        "pattern": lambda v, b: re.search(b, v) is not None,
    }  # fmt: skip
    for name, bound in limits.items():
        if name in tests and bound is not None and not tests[name](value, bound):
            raise ValidationError(f"{where or 'value'}: {value!r} breaks {name} {bound!r}")


def _union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    """Return the value as the option that fits best: exactly, or of models the one that takes most fields."""
    if value is None and type(None) in options:
        return None
    for option in options:
        if isinstance(option, type) and type(value) is option:
            return value
    best: Any = None
    problems = []
    for option in options:
        try:
            found = convert(option, value, where)
        except ValidationError as error:
            problems.append(str(error))
            continue
        if not isinstance(value, dict) or not hasattr(found, "model_fields_set"):
            return found
        if best is None or len(found.model_fields_set) > len(best.model_fields_set):
            best = found
    if best is None:
        raise ValidationError("; ".join(problems[:3]))
    return best


def _container(origin: Any, inner: tuple[Any, ...], value: Any, where: str) -> Any:
    if isinstance(origin, type) and issubclass(origin, dict) or origin.__name__ in ("Mapping", "MutableMapping"):
        if not isinstance(value, dict):
            fail(where, "an object", value)
        first, second = inner if len(inner) == 2 else (Any, Any)
        return {convert(first, k, where): convert(second, v, f"{where}.{k}") for k, v in value.items()}
    if origin is type:
        return value
    if not isinstance(value, _LISTS):
        fail(where, "a list", value)
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        if len(value) != len(inner):
            fail(where, f"{len(inner)} items", value)
        return tuple(convert(kind, item, where) for kind, item in zip(inner, value, strict=True))
    item_kind = inner[0] if inner else Any
    items = [convert(item_kind, item, f"{where}[{place}]") for place, item in enumerate(value)]
    return origin(items) if origin in _LISTS else items


def _plain(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(kind, type):
        return value
    if hasattr(kind, "__model__"):
        return kind.model_validate(value) if not isinstance(value, kind) else value
    if issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            fail(where, f"one of {[one.value for one in kind]}", value)
    if kind is bool:
        return _boolean(value, where)
    if kind is int or kind is float:
        return _number(kind, value, where)
    if kind is str:
        return value if isinstance(value, str) else fail(where, "a text", value)
    if isinstance(value, kind):
        return value
    if issubclass(kind, datetime.date | datetime.time) and isinstance(value, str):
        try:
            return kind.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            fail(where, "an ISO date or time", value)
    if issubclass(kind, datetime.timedelta) and isinstance(value, int | float):
        return datetime.timedelta(seconds=value)
    if kind in (list, dict, set, tuple):
        return kind(value) if isinstance(value, (dict, *_LISTS)) else fail(where, kind.__name__, value)
    if issubclass(kind, decimal.Decimal) or hasattr(kind, "__fspath__") or kind.__name__ == "UUID":
        return kind(str(value))
    fail(where, kind.__name__, value)


def _boolean(value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    if text in _TRUE:
        return True
    return False if text in _FALSE else fail(where, "a boolean", value)


def _number(kind: type, value: Any, where: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        fail(where, "a number", value)
    try:
        number = float(value)
        if kind is float:
            return number
        return int(value) if number == int(number) else fail(where, "a whole number", value)
    except (ValueError, OverflowError):
        fail(where, "a number", value)
