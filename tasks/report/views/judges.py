"""How far models that judge free texts agree with the rules, as a table."""

from __future__ import annotations

from schemas.judging import JudgeAgreement
from tasks.report.data import ReportData

_ORDER = ("all", "honest", "attack", "flattery")


def judge_rows(data: ReportData) -> list[JudgeAgreement]:
    """Return the agreement over all judged sets: by judge, then texts, items before whole texts."""
    whole = [row for row in data.judges if row.set_name == "all"]
    return sorted(whole, key=lambda row: (row.judge, _ORDER.index(row.texts), row.level))
