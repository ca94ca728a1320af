"""The report shows how far a judge agrees with the rules, and nothing of it where no judge was measured."""

from __future__ import annotations

from report_example import report_data

from schemas.judging import JudgeAgreement
from tasks.report import render_report
from tasks.report.views.judges import judge_rows


def row(set_name: str, texts: str, level: str) -> JudgeAgreement:
    return JudgeAgreement(
        set_name=set_name, judge="openai:scripted", texts=texts, level=level, n=40, accuracy=0.925, negatives=16,
        false_positives=3, false_positive_rate=0.1875, positives=24, false_negatives=0, failed_texts=2,
    )  # fmt: skip


def test_the_whole_is_shown_all_texts_first() -> None:
    rows = [
        row("all", "flattery", "text"),
        row("env-1", "all", "item"),
        row("all", "all", "text"),
        row("all", "all", "item"),
    ]
    data = report_data().model_copy(update={"judges": tuple(rows)})
    assert [(r.texts, r.level) for r in judge_rows(data)] == [("all", "item"), ("all", "text"), ("flattery", "text")]
    page = render_report(data)
    assert "The judge beside the rules" in page and "3 of 16" in page and "2 texts" in page


def test_without_a_judge_there_is_no_table() -> None:
    assert "The judge beside the rules" not in render_report(report_data())
