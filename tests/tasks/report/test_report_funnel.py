"""The funnel: what came in is what went on and what ended, stage by stage."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from report_example import report_data

from schemas.environment import Rejection
from schemas.yields import SynthesisYield
from tasks.report import funnel, funnel_rows, render_report
from tasks.report.views.funnel import funnel_of

DATA = report_data()


def test_every_stage_adds_up_and_names_the_commonest_reason_first():
    found = funnel_of(DATA)
    assert [stage.name for stage in found.stages] == ["themes", "environments", "tools", "candidates"]
    for stage in found.stages:
        assert stage.entered == stage.kept + sum(n for _, n in stage.lost)
        counts = [n for _, n in stage.lost]
        assert counts == sorted(counts, reverse=True) and 0 < stage.share <= 1
    themes, environments, tools, candidates = found.stages
    assert themes.kept == environments.entered == len(DATA.themes) and dict(themes.lost)["near_duplicate"] == 5
    assert environments.kept == 13 and dict(environments.lost) == {"rejected": 1}
    assert tools.kept == len(DATA.tools) and candidates.kept == len(DATA.tasks)
    assert candidates.lost[0] == ("red_team", 61)


def test_shares_and_cost_come_from_what_was_measured():
    found = funnel_of(DATA)
    assert found.accepted_environments == 13 and found.enough == 13 and found.enough_share == 1.0
    assert found.cpu_ms == pytest.approx(150)
    few = tuple(task for task in DATA.tasks if task.env_id != DATA.tasks[0].env_id)
    assert funnel_of(DATA.model_copy(update={"tasks": few})).enough == 12
    empty = funnel((), (), (), (), (), ())
    assert empty.cpu_ms is None and empty.enough_share is None and all(stage.share is None for stage in empty.stages)


def test_themes_that_gave_nothing_end_by_their_gate():
    lost = [e for e in DATA.environments if e.state != "accepted"]
    said = (Rejection(stage="mining", key=lost[0].theme_id, gate="no_data", reason="nothing fits"),)
    rows = [e for e in DATA.environments if e is not DATA.environments[0]]  # nobody asked for the first one's theme
    grown = DATA.environments[1].model_copy(update={"env_id": "grown", "lineage": DATA.environments[1].env_id})
    stage = funnel(DATA.themes, [*rows, grown], (), (), said, ()).stages[1]
    assert dict(stage.lost) == {"no_data": 1, "not_built": 1} and stage.kept == 12


def test_a_candidate_has_one_end():
    row = {"env_id": "e", "uses": "train", "seed": 1, "wanted": 2, "candidates": 5, "accepted": 2, "cpu_s": 1.0}
    assert SynthesisYield.model_validate({**row, "rejected": {"leak": 3}}).candidates == 5
    with pytest.raises(ValidationError, match="2 accepted and 2 rejected are not the 5 candidates"):
        SynthesisYield.model_validate({**row, "rejected": {"leak": 2}})


def test_the_table_and_the_page_show_it():
    rows = funnel_rows(funnel_of(DATA))
    assert {"stage": "candidates", "end": "red_team", "count": 61, "of": len(DATA.tasks) + 140} in rows
    page = render_report(DATA)
    assert "13 of 13 environments (100 %) give 10 tasks or more; 150 ms CPU a candidate" in page
    assert "red team 61, trivial 40" in page
