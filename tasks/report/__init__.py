"""The report stage: one self-contained HTML page and the summary that a terminal shows."""

from __future__ import annotations

from tasks.report.data import ReportData, StageCost
from tasks.report.page import render_report
from tasks.report.summary import summary_table

__all__ = ["ReportData", "StageCost", "render_report", "summary_table"]
