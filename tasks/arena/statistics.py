"""Success with confidence intervals, by group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist

from schemas.episode import ArenaResult
from schemas.statistics import Grouping, SuccessRate

LENGTH_BUCKETS: tuple[tuple[int, str], ...] = (
    (2, "1-2 calls"), (4, "3-4 calls"), (6, "5-6 calls"), (9, "7-9 calls"), (20, "10-20 calls"), (40, "21-40 calls"),
)  # fmt: skip
LONGEST_BUCKET = "41+ calls"

_GROUPS: dict[Grouping, Callable[[ArenaResult], Sequence[str]]] = {
    "overall": lambda result: ("all",),
    "split": lambda result: (result.environment_split,),
    "category": lambda result: (result.category_l1,),
    "kind": lambda result: (result.kind,),
    "length": lambda result: (length_bucket(result.oracle_calls),),
    "class": lambda result: result.classes,
    "environment": lambda result: (result.env_id,),
}
"""The groups that a result counts in; classes overlap, and a result may have none."""


def wilson(successes: int, attempts: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share (E. B. Wilson, JASA 22, 1927); (0, 1) without attempts.

    Raises:
        ValueError: unless 0 <= successes <= attempts and 0 < confidence < 1.
    """
    if not 0 <= successes <= attempts or not 0 < confidence < 1:
        raise ValueError(f"no interval for {successes} of {attempts} at confidence {confidence}")
    if attempts == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / attempts
    denominator = 1 + z * z / attempts
    centre = (share + z * z / (2 * attempts)) / denominator
    half = z * math.sqrt(share * (1 - share) / attempts + z * z / (4 * attempts * attempts)) / denominator
    # The formula gives exactly 0 and 1 at the ends; rounding may miss them by an ulp.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == attempts else min(1.0, centre + half)
    return low, high


def length_bucket(oracle_calls: int) -> str:
    """Return the name of the task-length bucket that holds this many oracle calls."""
    return next((name for most, name in LENGTH_BUCKETS if oracle_calls <= most), LONGEST_BUCKET)


def success_rates(
    results: Iterable[ArenaResult],
    by: Sequence[Grouping] = tuple(_GROUPS),
    confidence: float = 0.95,
    purpose: str = "arena",
) -> list[SuccessRate]:
    """Return success by (round, arm) and each grouping, in a fixed order, over the results of one purpose.

    Attempts count one by one. With several attempts a task they are not independent, so the interval is then too
    narrow for a statement about new tasks: the arena's default is one attempt on many tasks.

    Raises:
        KeyError: for a grouping that does not exist.
    """
    counts: dict[tuple[int, str, int, str], list[int]] = {}
    for result in results:
        if result.purpose != purpose:
            continue
        for place, name in enumerate(by):
            for group in _GROUPS[name](result):
                count = counts.setdefault((result.round, result.arm, place, group), [0, 0])
                count[0] += result.success
                count[1] += 1
    rates = []
    for (round_, arm, place, group), (successes, attempts) in sorted(counts.items(), key=_order):
        low, high = wilson(successes, attempts, confidence)
        rates.append(
            SuccessRate(
                round=round_, arm=arm, by=by[place], group=group, successes=successes, attempts=attempts,
                rate=successes / attempts, low=low, high=high, confidence=confidence,
            )
        )  # fmt: skip
    return rates


def _order(item: tuple[tuple[int, str, int, str], list[int]]) -> tuple[int, str, int, int, str]:
    """Sort by round, arm, grouping and group, length buckets from short to long."""
    round_, arm, place, group = item[0]
    lengths = [name for _, name in LENGTH_BUCKETS] + [LONGEST_BUCKET]
    return round_, arm, place, lengths.index(group) if group in lengths else 0, group
