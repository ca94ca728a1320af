"""Measure the environment engine on this machine."""

from __future__ import annotations


def measure_engine() -> dict[str, float]:
    """Return the engine's figures by name: a second, or microseconds, as the name says."""
    from tasks.sandbox.benchmark import measure

    return measure()
