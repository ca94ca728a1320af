"""Stacked histograms by series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from tasks.report.svg import Figure, drawing, element, fit, text, ticks

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 8, 44


def integer_bins(values: Sequence[int], most: int = 16) -> list[tuple[float, float, str]]:
    """Return bins (low, high, label) of equal whole width over integers, at most about `most` of them."""
    low, high = min(values), max(values)
    step = max(1, math.ceil((high - low + 1) / most))
    starts = range(low, high + 1, step)
    return [(s, s + step, str(s) if step == 1 else f"{s}–{s + step - 1}") for s in starts]


def unit_bins(least: float = 0.0, count: int = 10) -> list[tuple[float, float, str]]:
    """Return bins over [0, 1], or over [0.9, 1] if no value is below; the last one holds 1."""
    start = 0.9 if least >= 0.9 else 0.0
    digits = 2 if start else 1
    edges = [start + (1 - start) * i / count for i in range(count + 1)]
    return [
        (low - 1e-9, high - 1e-9 if high < 1 else 1 + 1e-9, f"{low:.{digits}f}–{high:.{digits}f}")
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
    marks = [tick for tick in ticks(0, max([1, *totals]), 5) if tick == int(tick)]
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
    parts.extend(_axis_labels([label for _, _, label in bins], slot, edges=bins[0][1] - bins[0][0] < 1))
    parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(0), y2=y(0), class_="axis"))
    parts.append(text(LEFT + plot_width / 2, HEIGHT - 8, fit(axis, plot_width), "label", "middle"))
    rows = tuple((label, *(str(counts[name][i]) for name in counts)) for i, (_, _, label) in enumerate(bins))
    return Figure(drawing(WIDTH, HEIGHT, title, *parts), (axis, *counts), rows)


def _axis_labels(labels: Sequence[str], slot: float, edges: bool) -> list[Markup]:
    """Return the labels below the bins; of fractional bins the edges between them, else the bins' own."""
    y = HEIGHT - BOTTOM + 15
    if edges:
        marks = [label.partition("–")[0] for label in labels] + [labels[-1].partition("–")[2]]
        return [text(LEFT + i * slot, y, marks[i], "tick", "middle") for i in range(0, len(marks), 2)]
    every = math.ceil(max(len(label) for label in labels) * 7.2 / slot)
    return [text(LEFT + (i + 0.5) * slot, y, labels[i], "tick", "middle") for i in range(0, len(labels), every)]
