"""Turn a source column's values into typed ones: integers, numbers, booleans, ISO dates, text, or None."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from schemas.base import Scalar
from schemas.database import ColumnType

_INTEGER = re.compile(r"^-?(0|[1-9]\d{0,17})$")
_NUMBER = re.compile(r"^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_DATETIME = re.compile(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$")
_TRUE, _FALSE = {"true", "yes"}, {"false", "no"}
_OTHER_DATES = ("%Y/%m/%d", "%d.%m.%Y", "%b %d %Y", "%d %B %Y", "%Y%m%d")


def typed_column(name: str, values: Sequence[Any], missing: Collection[str]) -> list[Scalar]:
    """Return a column's values with the narrowest type that fits all of them; what is in `missing` becomes None."""
    cleaned = [_clean(value, missing) for value in values]
    known = [value for value in cleaned if value is not None]
    if not known:
        return cleaned
    change = _reader(name, known)
    return [None if value is None else _plain(change(value)) for value in cleaned]


def exact_column(
    name: str, values: Sequence[Any], missing: Collection[str], *, blank: Collection[str] = ("",)
) -> list[Scalar]:
    """Return a column typed without loss: texts become numbers only if each can be written back as it stood.

    So '3.40' beside '3.4' stays text, as '08000' does. What is in `missing` is nothing in a column of numbers, dates or
    truths; in a column of words ('NULL' among keywords) it is a word, and only what is in `blank` is nothing.
    """
    found = typed_column(name, values, missing)
    written = [value for value in (_clean(value, missing) for value in values) if value is not None]
    if not written:
        return found
    kind = type_of([value for value in found if value is not None])
    numbers = kind in ("integer", "number") and all(isinstance(value, str) for value in written)
    if kind == "string" or (numbers and not _writes_back(written)):
        return [str(value) if value is not None else None for value in (_clean(value, blank) for value in values)]
    return found


def type_of(values: Sequence[Any]) -> ColumnType:
    """Return the column type of values that `typed_column` has made (None left out)."""
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, int) for value in values):
        return "integer"
    if values and all(isinstance(value, int | float) for value in values):
        return "number"
    if values and all(isinstance(value, str) and _DATE.match(value) for value in values):
        return "date"
    if values and all(isinstance(value, str) and _DATETIME.match(value) for value in values):
        return "datetime"
    return "string"


def _clean(value: Any, missing: Collection[str]) -> Any:
    if isinstance(value, str):
        value = value.strip()
        return None if value in missing else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | dict | bytes):
        return None
    return value


def _reader(name: str, known: Sequence[Any]) -> Callable[[Any], Scalar]:
    """Return the function that reads every one of the known values."""
    if not all(isinstance(value, str) for value in known):
        if all(isinstance(value, int | float) for value in known):
            if name.startswith(("is_", "has_")) and set(known) <= {0, 1}:
                return bool
            return _keep if len({type(value) for value in known}) == 1 else float
        return str
    lowered = {value.lower() for value in known}
    if lowered <= _TRUE | _FALSE:
        return lambda value: value.lower() in _TRUE
    if "date" in name or "day" in name.split("_"):
        for form in _OTHER_DATES:
            if all(_parses(value, form) for value in known):
                return lambda value, form=form: datetime.strptime(value, form).strftime("%Y-%m-%d")  # type: ignore[misc]
    if all(_INTEGER.match(value) for value in known) and not _is_code(name):
        return int
    if all(_NUMBER.match(value) for value in known) and not _is_code(name) and not _padded(known):
        return float
    if all(_DATETIME.match(value) for value in known):
        return _moment
    return str


def _plain(value: Scalar) -> Scalar:
    """Return a number without the noise of binary fractions: at most twelve significant digits."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _moment(value: str) -> str:
    """Return a time to the second, its zone left out: an environment's clock has none."""
    text = value.replace(" ", "T")
    return text[:19] if len(text) > 16 and text[16] == ":" else f"{text[:16]}:00"


def _keep(value: Any) -> Scalar:
    return value


def _is_code(name: str) -> bool:
    return name.endswith(("_code", "_fips", "zip", "phone", "_prefix"))


def _padded(known: Sequence[str]) -> bool:
    return any(len(value) > 1 and value[0] == "0" and value[1] != "." for value in known)


def _writes_back(written: Sequence[str]) -> bool:
    """Whether texts can be told from their numbers; '5' may stand beside '5.5', not beside '5.0'."""
    if all(map(_INTEGER.match, written)):
        return True
    numbers = {text: _plain(float(text)) for text in written}
    alike = all(text in (repr(number), f"{number:.0f}") for text, number in numbers.items())
    return alike and len(set(numbers.values())) == len(numbers)


def _parses(value: str, form: str) -> bool:
    try:
        datetime.strptime(value, form)
    except ValueError:
        return False
    return True
