"""The arena's rates, comparisons and errors in the order in which the page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from schemas.episode import ErrorType
from schemas.statistics import Comparison, Grouping, SuccessRate
from tasks.report.data import ReportData

ARMS = ("before", "directed", "control")
ERROR_TYPES: tuple[str, ...] = get_args(ErrorType)
EXTRA_COLOURS = 5


def arm_order(arm: str) -> tuple[int, str]:
    """Sort key: before, directed, control, then every other arm by name."""
    return (ARMS.index(arm) if arm in ARMS else len(ARMS), arm)


def arm_classes(arms: Sequence[str]) -> dict[str, str]:
    """Return the colour class of each arm: fixed for the known three, in turn for others."""
    others = sorted(set(arms) - set(ARMS))
    return {arm: f"arm-{arm}" for arm in ARMS} | {
        arm: f"arm-extra-{i % EXTRA_COLOURS + 1}" for i, arm in enumerate(others)
    }


def latest_overall(data: ReportData) -> list[SuccessRate]:
    """Return each arm's overall success in the latest round that it ran, before, directed and control first."""
    latest: dict[str, SuccessRate] = {}
    for rate in data.rates:
        if rate.by == "overall" and (rate.arm not in latest or rate.round >= latest[rate.arm].round):
            latest[rate.arm] = rate
    return sorted(latest.values(), key=lambda r: arm_order(r.arm))


def grouped(data: ReportData, by: Grouping, names: dict[str, str] | None = None) -> list[tuple[str, list[SuccessRate]]]:
    """Return (label, rates by arm) of one grouping; with several rounds the label says which."""
    chosen = [r for r in data.rates if r.by == by]
    rounds = {r.round for r in chosen}
    blocks: dict[tuple[int, str], list[SuccessRate]] = {}
    for rate in chosen:
        blocks.setdefault((rate.round, rate.group), []).append(rate)
    labelled = []
    for (round_, group), rates in blocks.items():
        label = (names or {}).get(group, group).replace("_", " ")
        label = f"{label}, round {round_}" if len(rounds) > 1 else label
        labelled.append((label, sorted(rates, key=lambda r: arm_order(r.arm))))
    return labelled


def comparisons(data: ReportData) -> list[Comparison]:
    """Return the paired comparisons: by round, all tasks first, arms in their order."""
    groups = ("all", "train", "held_out")
    return sorted(data.comparisons, key=lambda c: (c.round, groups.index(c.group) if c.group in groups else 9,
                                                   arm_order(c.arm), c.baseline))  # fmt: skip


@dataclass(frozen=True)
class ErrorBar:
    """The failures of one arm by error type: (type, colour class, count), widths in the scale of all bars."""

    label: str
    total: int
    parts: tuple[tuple[str, str, int], ...]
    share_of_longest: float


def error_bars(data: ReportData) -> list[ErrorBar]:
    """Return one stacked bar an arm and purpose: failures by error type, the types always in the same order."""
    counts: dict[tuple[str, int, str], Counter[str]] = {}
    for result in data.results:
        if not result.success:
            key = (result.purpose, result.round, result.arm)
            counts.setdefault(key, Counter())[result.error_type or "unknown"] += 1
    longest = max((c.total() for c in counts.values()), default=1)
    keys = sorted(counts, key=lambda k: (k[0] == "arena", k[1], arm_order(k[2])))
    rounds = {k[1] for k in keys}
    bars = []
    for key in keys:
        purpose, round_, arm = key
        label = f"{arm} (diagnosis)" if purpose == "diagnosis" else arm
        label = f"{label}, round {round_}" if len(rounds) > 1 else label
        kinds = [*ERROR_TYPES, "unknown"]
        parts = tuple(
            (kind.replace("_", " "), f"err-{i + 1}", counts[key][kind])
            for i, kind in enumerate(kinds)
            if counts[key][kind]
        )
        bars.append(ErrorBar(label, counts[key].total(), parts, counts[key].total() / longest))
    return bars
