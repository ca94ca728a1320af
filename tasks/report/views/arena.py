"""The arena's rates, comparisons and errors in the order in which the page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from schemas.episode import ErrorType
from schemas.statistics import Comparison, Grouping, SuccessRate
from tasks.report.data import ReportData
from tasks.report.figures import signed

ARMS = ("before", "directed", "control")
ERROR_TYPES: tuple[str, ...] = get_args(ErrorType)
EXTRA_COLOURS = 5
GROUP_LABELS: dict[tuple[str, str], str] = {
    ("overall", "all"): "All tasks",
    ("split", "train"): "Training environments",
    ("split", "held_out"): "Held-out environments",
    ("kind", "graph"): "Graph tasks",
    ("kind", "program"): "Program tasks",
    ("class", "long"): "Long tasks (7 calls or more)",
    ("class", "decline"): "Tasks to decline",
    ("class", "multi_turn"): "Tasks with a user to ask",
}


def arm_order(arm: str) -> tuple[int, str]:
    """Sort key: before, directed, control, then every other arm by name."""
    return (ARMS.index(arm) if arm in ARMS else len(ARMS), arm)


def arm_classes(arms: Sequence[str]) -> dict[str, str]:
    """Return the colour class of each arm: fixed for the known three, in turn for others."""
    others = sorted(set(arms) - set(ARMS))
    return {arm: f"arm-{arm}" for arm in ARMS} | {
        arm: f"arm-extra-{i % EXTRA_COLOURS + 1}" for i, arm in enumerate(others)
    }


def last_round(data: ReportData) -> int:
    """Return the latest round in which the directed arm ran, so that arms stand on the same tasks; else the latest."""
    rounds = [r.round for r in data.rates]
    return max([r.round for r in data.rates if r.arm == "directed"] or rounds, default=0)


def latest_overall(data: ReportData) -> list[SuccessRate]:
    """Return each arm's overall success in the last round, before, directed and control first.

    An arm that did not run in it comes with its latest earlier round.
    """
    last = last_round(data)
    latest: dict[str, SuccessRate] = {}
    for rate in sorted(data.rates, key=lambda r: r.round):
        if rate.by == "overall" and rate.round <= last:
            latest[rate.arm] = rate
    return sorted(latest.values(), key=lambda r: arm_order(r.arm))


def grouped(data: ReportData, by: Grouping) -> list[tuple[str, list[SuccessRate]]]:
    """Return (label, rates by arm) of one grouping: overall by round, every other one of the latest round alone."""
    last = last_round(data)
    blocks: dict[tuple[int, str], list[SuccessRate]] = {}
    for rate in data.rates:
        if rate.by == by and (by == "overall" or rate.round == last):
            blocks.setdefault((rate.round, rate.group), []).append(rate)
    return [
        (GROUP_LABELS.get((by, group), group), sorted(rates, key=lambda r: arm_order(r.arm)))
        for (_, group), rates in sorted(blocks.items(), key=lambda item: (item[0][0], item[0][1] == "held_out"))
    ]


def comparisons(data: ReportData) -> list[Comparison]:
    """Return the paired comparisons: by round, all tasks first, arms in their order."""
    groups = ("all", "train", "held_out")
    return sorted(data.comparisons, key=lambda c: (c.round, groups.index(c.group) if c.group in groups else 9,
                                                   arm_order(c.arm), c.baseline))  # fmt: skip


def verdicts(data: ReportData) -> list[str]:
    """Return one sentence a comparison over all tasks of the latest round: the difference, and whether it is noise."""
    latest = max((c.round for c in data.comparisons), default=0)
    sentences = []
    for c in comparisons(data):
        if c.round == latest and c.group == "all":
            word = "more" if c.difference >= 0 else "fewer"
            sentences.append(
                f"{c.arm.replace('_', ' ').capitalize()} solves {100 * abs(c.difference):.1f} points {word} than"
                f" {c.baseline.replace('_', ' ')} on {c.tasks:,} shared tasks ({signed(c.low)} to {signed(c.high)}): "
                + (
                    "the interval excludes zero."
                    if c.low > 0 or c.high < 0
                    else "it includes zero, so this may be noise."
                )
            )
    return sentences


@dataclass(frozen=True)
class ErrorBar:
    """The failures of one arm by error type: (type, colour class, count), widths in the scale of all bars."""

    label: str
    total: int
    parts: tuple[tuple[str, str, int], ...]
    share_of_longest: float


def error_bars(data: ReportData) -> list[ErrorBar]:
    """Return one stacked bar an arm of the arena and of the diagnosis: failures by error type, in a fixed order."""
    counts: dict[tuple[str, int, str], Counter[str]] = {}
    for result in data.results:
        if not result.success and result.purpose in ("arena", "diagnosis"):
            counts.setdefault((result.purpose, result.round, result.arm), Counter())[
                result.error_type or "unknown"
            ] += 1
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
            (kind.replace("_", " "), f"err-{i}", counts[key][kind])
            for i, kind in enumerate(kinds, 1)
            if counts[key][kind]
        )
        bars.append(ErrorBar(label, counts[key].total(), parts, counts[key].total() / longest))
    return bars
