"""Derived values: what simple arithmetic over observed columns gives, offered as candidates for the answer."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.policies.pointer.units import Unit


def derived_units(units: Sequence[Unit], step: int) -> list[Unit]:
    """Return units of counts, sums and the like over the columns seen so far."""
    return []
