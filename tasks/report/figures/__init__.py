"""Charts as static SVG, each with the table behind it."""

from __future__ import annotations

from tasks.report.figures.curves import curves
from tasks.report.figures.histogram import histogram, integer_bins, unit_bins
from tasks.report.figures.intervals import axis_end, intervals, percent, signed
from tasks.report.figures.loop import Stage, loop
from tasks.report.figures.taxonomy import taxonomy

__all__ = [
    "Stage",
    "axis_end",
    "curves",
    "histogram",
    "integer_bins",
    "intervals",
    "loop",
    "percent",
    "signed",
    "taxonomy",
    "unit_bins",
]
