"""Dot-and-whisker charts of success rates with their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from markupsafe import Markup

from schemas.statistics import SuccessRate
from tasks.report.svg import Figure, drawing, element, fit, text, text_width

WIDTH = 560
LABEL_WIDTHS = (130, 270)
LABEL_SIZE = 14
"""The size by which labels are measured: they are drawn at 12.5, but bold, which is wider than the mean character."""
TOP, BOTTOM, RIGHT = 4, 30, 20
ROW, GAP = 15, 13


def axis_end(rates: Iterable[SuccessRate]) -> float:
    """Return where the success axis may end: the highest interval's end, rounded up to a fifth."""
    return min(1.0, math.ceil(max((r.high for r in rates), default=1.0) * 5 - 1e-9) / 5 or 0.2)


def intervals(
    title: str,
    groups: Sequence[tuple[str, Sequence[SuccessRate]]],
    classes: Mapping[str, str],
    end: float = 1.0,
) -> Figure:
    """Return one block of rows a group (label, rates by arm), success from 0 to `end` across.

    `classes` maps an arm to its colour class. Below a group's label stand its attempts, and its round if there are
    several.
    """
    longest = max((text_width(label, LABEL_SIZE) + 14 for label, _ in groups), default=0.0)
    left, right = min(max(longest, LABEL_WIDTHS[0]), LABEL_WIDTHS[1]), WIDTH - RIGHT
    parts: list[Markup] = []
    blocks = [max(2, len(rates)) * ROW + GAP for _, rates in groups]
    height = TOP + sum(blocks) + BOTTOM
    bottom = height - BOTTOM

    def x(share: float) -> float:
        return left + (right - left) * share / end

    several = len({rate.round for _, rates in groups for rate in rates}) > 1
    step = 10 if end <= 0.6 else 20
    for i in range(0, round(100 * end) + 1, step):
        parts.append(element("line", x1=x(i / 100), x2=x(i / 100), y1=TOP, y2=bottom, class_="grid"))
        parts.append(text(x(i / 100), bottom + 16, f"{i} %", "tick", "middle"))
    y = float(TOP)
    for (label, rates), block in zip(groups, blocks, strict=True):
        if y > TOP:
            parts.append(element("line", x1=0, x2=WIDTH, y1=y, y2=y, class_="rule"))
        middle = y + block / 2
        shown = element("title", label) + fit(label, left - 10, LABEL_SIZE)
        parts.append(text(0, middle - 2, shown, "label strong"))
        parts.append(text(0, middle + 13, _note(rates, several), "tick"))
        start = middle - ROW * (len(rates) - 1) / 2
        parts.extend(_whisker(rate, classes[rate.arm], x, start + ROW * i) for i, rate in enumerate(rates))
        y += block
    rows = tuple(
        (label, rate.arm, str(rate.attempts), percent(rate.rate), f"{percent(rate.low)} to {percent(rate.high)}")
        for label, rates in groups
        for rate in rates
    )
    return Figure(drawing(WIDTH, height, title, *parts), ("group", "arm", "attempts", "success", "95 % interval"), rows)


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage text."""
    return f"{100 * share:.{digits}f} %"


def signed(share: float) -> str:
    """Return a difference of shares in percentage points with its sign."""
    return f"{100 * share:+.1f}".replace("-", "−")


def _note(rates: Sequence[SuccessRate], with_round: bool) -> str:
    """Return a group's attempts, one number if all arms have as many, and its round."""
    counts = [f"{rate.attempts:,}" for rate in rates]
    shown = counts[0] if len(set(counts)) == 1 else " / ".join(counts)
    return f"round {rates[0].round}, n = {shown}" if with_round else f"n = {shown}"


def _whisker(rate: SuccessRate, class_: str, x: Callable[[float], float], y: float) -> Markup:
    label = f"{rate.arm}: {percent(rate.rate)} ({percent(rate.low)} to {percent(rate.high)}), n = {rate.attempts}"
    low, high = x(rate.low), x(rate.high)
    return element(
        "g",
        element("title", label),
        element("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"),
        element("line", x1=low, x2=low, y1=y - 3.5, y2=y + 3.5, class_="whisker"),
        element("line", x1=high, x2=high, y1=y - 3.5, y2=y + 3.5, class_="whisker"),
        element("circle", cx=x(rate.rate), cy=y, r=4.5, class_="dot"),
        class_=class_,
    )
