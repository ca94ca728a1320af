"""Lines over training steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from tasks.report.svg import Figure, drawing, element, fit, polyline, text, ticks

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 8, 42
SMOOTH_FROM = 24
TABLE_ROWS = 12

Curve = tuple[Sequence[float], Sequence[float]]


def curves(title: str, series: Mapping[str, Curve], classes: Mapping[str, str], unit: str = "steps") -> Figure:
    """Return line charts of (steps, values) by name; long and noisy ones get a running mean over the faint raw line.

    Values that are not finite are left out, and the drawing's description says how many.
    """
    clean = {
        name: [p for p in zip(*curve, strict=False) if all(map(math.isfinite, p))] for name, curve in series.items()
    }
    dropped = sum(len(series[name][1]) - len(points) for name, points in clean.items())
    clean = {name: points for name, points in clean.items() if points}
    xs = [x for points in clean.values() for x, _ in points] or [0.0]
    ys = [y for points in clean.values() for _, y in points] or [0.0]
    x_low, x_high = min(0.0, *xs), max(xs)
    y_low, y_high = _range(ys)
    x_marks = [mark for mark in ticks(x_low, x_high, 4) if x_low <= mark <= x_high]
    y_marks = [mark for mark in ticks(y_low, y_high, 5) if y_low <= mark <= y_high]
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low or 1)
        up = (y - y_low) / (y_high - y_low)
        return LEFT + plot_width * across, TOP + plot_height * (1 - up)

    parts: list[Markup] = []
    for mark in y_marks:
        _, y = place(x_low, mark)
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(text(LEFT - 6, y + 4, f"{mark:g}", "tick", "end"))
    parts.extend(text(place(x, 0)[0], HEIGHT - BOTTOM + 15, f"{x:,g}", "tick", "middle") for x in x_marks)
    parts.append(text(LEFT + plot_width / 2, HEIGHT - 8, fit(unit, plot_width), "label", "middle"))
    for name, points in clean.items():
        smooth = _running_mean(points)
        faint = "line faint" if smooth is not points else "line"
        parts.append(polyline([place(x, y) for x, y in points], f"{faint} {classes[name]}"))
        if smooth is not points:
            parts.append(polyline([place(x, y) for x, y in smooth], f"line {classes[name]}"))
        x, y = place(*smooth[-1])
        parts.append(element("circle", element("title", f"{name}: {smooth[-1][1]:.3g}"), cx=x, cy=y, r=3,
                             class_=f"dot {classes[name]}"))  # fmt: skip
    note = f"{dropped} values that are no finite number are left out" if dropped else ""
    return Figure(drawing(WIDTH, HEIGHT, title, *parts, description=note), (unit, *clean), _table(clean))


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the vertical axis' range: zero is on it, with a little room beyond the data."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.05 * (high - low) or 0.5
    return (low - room if low < 0 else 0.0), (high + room if high > 0 else 0.0 if low < 0 else 1.0)


def _running_mean(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Average over a trailing window of a tenth of the points; short series come back as they are."""
    if len(points) < SMOOTH_FROM:
        return points
    window = max(3, len(points) // 10)
    means = []
    for i, (x, _) in enumerate(points):
        part = [y for _, y in points[max(0, i + 1 - window) : i + 1]]
        means.append((x, sum(part) / len(part)))
    return means


def _table(clean: Mapping[str, list[tuple[float, float]]]) -> tuple[tuple[str, ...], ...]:
    """Return evenly spaced steps with each series' value there."""
    steps = sorted({x for points in clean.values() for x, _ in points})
    every = max(1, math.ceil(len(steps) / TABLE_ROWS))
    chosen = steps[::every] + (steps[-1:] if steps and steps[-1] not in steps[::every] else [])
    values = {name: dict(points) for name, points in clean.items()}
    return tuple((f"{x:g}", *(f"{v[x]:.4g}" if x in v else "" for v in values.values())) for x in chosen)
