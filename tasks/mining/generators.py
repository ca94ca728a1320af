"""Samplers of plausible values; all chance comes from the seeded generator of the moment that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from schemas.base import Scalar
from tasks.mining.workflows.plan import Moment, Sampler

T = TypeVar("T")

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def stamp(time: datetime) -> str:
    """Return ISO 8601 to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def code(rng: Random, length: int = 6) -> str:
    """Return a random code of letters and digits that are hard to confuse."""
    return "".join(rng.choice(_ALPHABET) for _ in range(length))


def skewed_index(rng: Random, n: int, power: float = 1.6) -> int:
    """Return an index below `n`; low ones come more often (u**power with uniform u)."""
    return min(n - 1, int(n * rng.random() ** power))


def pick(choices: Sequence[T], weights: Sequence[float] | None = None) -> Sampler:
    """Sample one of the choices, by weight."""
    options = list(choices)
    return lambda m: m.rng.choices(options, weights)[0]  # type: ignore[return-value]


def few(low: int, high: int) -> Sampler:
    """Sample an integer of low..high, small ones more often."""
    return lambda m: low + skewed_index(m.rng, high - low + 1, 1.8)


def between(low: int, high: int, step: int = 1) -> Sampler:
    """Sample a multiple of `step` between the bounds, uniformly."""
    return lambda m: m.rng.randrange(low, high + 1, step)


def amount(low: float, high: float, step: float = 0.5) -> Sampler:
    """Sample a number between positive bounds, log-uniform, rounded to a step that binary fractions hold exactly."""
    return lambda m: round(low * (high / low) ** m.rng.random() / step) * step


def days_from_now(low: int, high: int) -> Sampler:
    """Sample a date some days from the moment's time."""
    return lambda m: (m.now + timedelta(days=m.rng.randint(low, high))).strftime("%Y-%m-%d")


def time_from_now(low_days: int, high_days: int) -> Sampler:
    """Sample a full hour between 06:00 and 20:00 some days from the moment's time."""

    def sample(m: Moment) -> Scalar:
        midnight = datetime(m.now.year, m.now.month, m.now.day)
        return stamp(midnight + timedelta(days=m.rng.randint(low_days, high_days), hours=m.rng.randint(6, 20)))

    return sample


def copied(path: str) -> Sampler:
    """Copy a column through a reference of the row being made, e.g. 'batch_id.grams'."""
    column, _, name = path.partition(".")
    return lambda m: m.target(column)[name] if name else m.row[column]


def fixed(value: Scalar) -> Sampler:
    """Give the same value always."""
    return lambda m: value


def numbered(pattern: str, first: int = 1) -> Sampler:
    """Give a text with the row's running number: 'Bay {:02d}'."""
    return lambda m: pattern.format(m.index + first)


def labelled(pattern: str, reference: str) -> Sampler:
    """Give a text with the label of a referenced row as {label} and the row's running number as {n}."""
    return lambda m: pattern.format(label=m.label(reference), n=m.index + 1)


def other_key(reference: str) -> Sampler:
    """Sample a key of the table that another reference of the row points to, but not the same one."""

    def sample(m: Moment) -> Scalar:
        target = m.table.column(reference).references.partition(".")[0]
        keys = [key for key in m.draft.rows[target] if key != m.row[reference]]
        return m.rng.choice(keys)

    return sample
