"""Stacked histograms by series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from tasks.report.svg import Figure, drawing, element, fit, text, ticks

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 40, 10, 16, 44


def integer_bins(values: Sequence[int], most: int = 16) -> list[tuple[float, float, str]]:
    """Return bins (low, high, label) of equal whole width over integers, at most about `most` of them."""
    low, high = min(values), max(values)
    step = max(1, math.ceil((high - low + 1) / most))
    starts = range(low, high + 1, step)
    return [(s, s + step, str(s) if step == 1 else f"{s}–{s + step - 1}") for s in starts]


def unit_bins(count: int = 10) -> list[tuple[float, float, str]]:
    """Return bins over [0, 1]; the last one holds 1."""
    edges = [i / count for i in range(count + 1)]
    return [
        (low, high if high < 1 else 1.0000001, f"{low:.1f}–{high:.1f}")
        for low, high in zip(edges, edges[1:], strict=False)
    ]


def histogram(
    title: str,
    series: Mapping[str, Sequence[float]],
    bins: Sequence[tuple[float, float, str]],
    axis: str,
    classes: Mapping[str, str],
) -> Figure:
    """Return a stacked histogram: one colour class a series, counts on the vertical axis."""
    counts = {name: [sum(low <= v < high for v in values) for low, high, _ in bins] for name, values in series.items()}
    totals = [sum(counts[name][i] for name in counts) for i in range(len(bins))]
    marks = [tick for tick in ticks(0, max([1, *totals]), 4) if tick == int(tick)]
    top = marks[-1]
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    slot = plot_width / len(bins)

    def y(value: float) -> float:
        return TOP + plot_height * (1 - value / top)

    parts: list[Markup] = []
    for mark in marks:
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(mark), y2=y(mark), class_="grid"))
        parts.append(text(LEFT - 6, y(mark) + 4, f"{mark:g}", "tick", "end"))
    gap = min(3.0, slot * 0.15)
    for i, (_, _, label) in enumerate(bins):
        base = 0.0
        for name, values in counts.items():
            if not values[i]:
                continue
            rectangle = element(
                "rect",
                element("title", f"{label}: {values[i]} {name}"),
                x=LEFT + i * slot + gap / 2, y=y(base + values[i]), width=slot - gap,
                height=y(base) - y(base + values[i]), class_=classes[name],
            )  # fmt: skip
            parts.append(rectangle)
            base += values[i]
    every = math.ceil(max(len(label) for _, _, label in bins) * 7.2 / slot)
    for i in range(0, len(bins), every):
        parts.append(text(LEFT + (i + 0.5) * slot, HEIGHT - BOTTOM + 15, bins[i][2], "tick", "middle"))
    parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(0), y2=y(0), class_="axis"))
    parts.append(text(LEFT + plot_width / 2, HEIGHT - 8, fit(axis, plot_width), "label", "middle"))
    rows = tuple((label, *(str(counts[name][i]) for name in counts)) for i, (_, _, label) in enumerate(bins))
    return Figure(drawing(WIDTH, HEIGHT, title, *parts), (axis, *counts), rows)
