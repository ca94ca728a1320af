"""Dot-and-whisker charts of success rates with their confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from schemas.statistics import SuccessRate
from tasks.report.svg import Figure, drawing, element, fit, text

WIDTH = 560
LABEL_WIDTH, COUNT_WIDTH = 176, 62
TOP, BOTTOM = 8, 34
ROW, GAP = 17, 12


def intervals(
    title: str,
    groups: Sequence[tuple[str, Sequence[SuccessRate]]],
    classes: Mapping[str, str],
) -> Figure:
    """Return one block of rows a group (label, rates by arm), success from 0 to 100 % across.

    `classes` maps an arm to its colour class. The number of attempts stands at the right of each row.
    """
    left, right = LABEL_WIDTH, WIDTH - COUNT_WIDTH
    parts: list[Markup] = []
    height = TOP + sum(len(rates) * ROW + GAP for _, rates in groups) + BOTTOM
    bottom = height - BOTTOM

    def x(share: float) -> float:
        return left + (right - left) * share

    for i in range(0, 101, 20):
        parts.append(element("line", x1=x(i / 100), x2=x(i / 100), y1=TOP, y2=bottom, class_="grid"))
        parts.append(text(x(i / 100), bottom + 16, f"{i} %", "tick", "middle"))
    y = float(TOP)
    for place, (label, rates) in enumerate(groups):
        block = len(rates) * ROW + GAP
        if place:
            parts.append(element("line", x1=0, x2=WIDTH, y1=y, y2=y, class_="rule"))
        middle = y + block / 2 + 4
        parts.append(text(0, middle, element("title", label) + fit(label, LABEL_WIDTH - 14, 12.5), "label strong"))
        for i, rate in enumerate(rates):
            line = y + GAP / 2 + ROW * (i + 0.5)
            parts.append(_whisker(rate, classes[rate.arm], x, line))
            parts.append(text(WIDTH, line + 4, f"n = {rate.attempts:,}", "tick", "end"))
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


def _whisker(rate: SuccessRate, class_: str, x, y: float) -> Markup:
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
