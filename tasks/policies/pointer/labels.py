"""Labels: which of a decision's candidates mean what the trajectory did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from schemas.task import AnswerField
from tasks.policies.pointer.units import NOTHING


def same(left: Any, right: Any, tolerance: float = 0.0, unordered: bool = False) -> bool:
    """Return whether two JSON values are equal; numbers up to a tolerance, arrays as multisets if `unordered`.

    A boolean never equals a number, and text never equals what is no text.
    """
    if left is right:
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= max(tolerance, 1e-9 * max(abs(left), abs(right)))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return False
        if unordered:
            left, right = sorted(left, key=repr), sorted(right, key=repr)
        return all(same(a, b, tolerance) for a, b in zip(left, right, strict=True))
    return type(left) is type(right) and bool(left == right)


def targets(values: Sequence[Any], wanted: Any, field: AnswerField | None = None) -> np.ndarray:
    """Return a boolean a candidate: does it mean the wanted value? All False if the value cannot be pointed at."""
    if wanted is NOTHING:
        return np.zeros(len(values), bool)
    tolerance = field.tolerance if field else 0.0
    unordered = field.unordered if field else False
    if isinstance(wanted, str):  # the usual case, and the quick one
        return np.array([value == wanted for value in values], bool)
    return np.array([same(value, wanted, tolerance, unordered) for value in values], bool)
