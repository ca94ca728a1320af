"""The report stage: one self-contained HTML page and the summary that a terminal shows."""

from __future__ import annotations

from tasks.report.data import ReportData, StageCost
from tasks.report.page import render_report
from tasks.report.summary import summary_table
from tasks.report.views.funnel import Funnel, funnel, funnel_rows

__all__ = ["Funnel", "ReportData", "StageCost", "funnel", "funnel_rows", "render_report", "summary_table"]
