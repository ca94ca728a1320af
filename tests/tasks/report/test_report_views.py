from __future__ import annotations

from io import StringIO

from report_example import report_data
from rich.console import Console

from schemas.environment import Rejection
from schemas.models import ModelCall
from schemas.task import Change
from tasks.report import ReportData, render_report, summary_table
from tasks.report.views.arena import arm_classes, error_bars, grouped, latest_overall
from tasks.report.views.classes import class_rows
from tasks.report.views.examples import cards, change_line, gallery, readable
from tasks.report.views.models import model_costs
from tasks.report.views.overview import duration, memory, stages
from tasks.report.views.tables import environment_rows, source_rows
from tasks.report.views.yields import yields

DATA = report_data()


def shown(data: ReportData) -> str:
    console = Console(file=StringIO(), width=140)
    console.print(summary_table(data))
    return console.file.getvalue()


def test_the_summary_holds_the_figures_and_takes_brackets_as_text() -> None:
    text = shown(DATA.model_copy(update={"run_id": "[bold]x[/nope]"}))
    assert "[bold]x[/nope]" in text
    for part in ("Success directed", "directed − control", "synthesis refused", "red team 61", "7 min 50 s"):
        assert part in text
    assert "Themes" in shown(ReportData(run_id="r", started_at="", machine=""))


def test_a_quick_run_says_first_that_its_figures_mean_nothing() -> None:
    text = " ".join(shown(DATA.model_copy(update={"quick": True})).split())
    assert text.index("Quick scale: this run shows that the loop works.") < text.index("Themes")
    assert "Quick scale" not in shown(DATA)


def test_yields_add_up_and_list_the_busiest_gate_first() -> None:
    found = {y.stage: y for y in yields(DATA)}
    assert list(found) == ["themes", "mining", "coding", "synthesis", "quality"]
    synthesis = found["synthesis"]
    assert (synthesis.kept, synthesis.rejected) == (len(DATA.tasks), 140)
    assert [g.name for g in synthesis.gates][:2] == ["red team", "trivial"]
    assert sum(g.count for g in synthesis.gates) == 140
    assert found["quality"].share is None
    assert (found["mining"].kept, found["mining"].candidates) == (13, 14)  # environments, not refused files and rows
    unknown = (Rejection(stage="zeta", key="k", gate="g", reason="r"),)
    odd = yields(ReportData(run_id="r", started_at="", machine="", rejections=unknown))
    assert [(y.stage, y.kept) for y in odd] == [("zeta", None)]


def test_the_gallery_shows_six_different_tasks_of_both_kinds_from_easy_to_hard() -> None:
    found = gallery(DATA)
    assert len({e.task.task_id for e in found}) == 6
    assert {e.task.kind for e in found} == {"graph", "program"}
    assert len({e.task.env_id for e in found}) >= 5
    difficulties = [e.task.difficulty for e in found]
    assert difficulties == sorted(difficulties)
    only = [t for t in DATA.tasks if t.kind == "graph"]
    assert len(gallery(DATA.model_copy(update={"tasks": tuple(only)}))) == 6
    assert len(gallery(DATA.model_copy(update={"tasks": tuple(only[:2])}))) == 2


def test_diagnoses_come_with_their_episodes_and_do_without() -> None:
    first = cards(DATA)[0]
    assert [e.trajectory.episode_id for e in first.episodes] == ["ep-1"]
    assert first.episodes[0].steps[1].refused
    assert first.episodes[0].failed_checks == ("answer.product", "answer.stock", "state")
    assert cards(DATA.model_copy(update={"trajectories": ()}))[0].episodes == ()


def test_error_bars_count_each_failure_once() -> None:
    aside = tuple(r.model_copy(update={"purpose": "development", "arm": "trial"}) for r in DATA.results)
    bars = {b.label: b for b in error_bars(DATA.model_copy(update={"results": DATA.results + aside}))}
    assert set(bars) == {"before (diagnosis)", "before", "directed", "control"}
    for arm in ("before", "directed", "control"):
        failures = [r for r in DATA.results if r.arm == arm and r.purpose == "arena" and not r.success]
        assert bars[arm].total == len(failures) == sum(n for _, _, n in bars[arm].parts)
    assert max(b.share_of_longest for b in bars.values()) == 1.0


def test_the_headline_takes_the_round_of_the_directed_arm() -> None:
    later = tuple(r.model_copy(update={"round": 5}) for r in DATA.rates if r.arm == "before" and r.by == "overall")
    earlier = tuple(r.model_copy(update={"round": 0, "arm": "rl"}) for r in later)
    found = latest_overall(DATA.model_copy(update={"rates": DATA.rates + later + earlier}))
    assert [(r.arm, r.round) for r in found] == [("before", 1), ("directed", 1), ("control", 1), ("rl", 0)]


def test_charts_show_every_round_overall_and_the_last_one_in_detail() -> None:
    second = tuple(r.model_copy(update={"round": 2}) for r in DATA.rates)
    third = tuple(r.model_copy(update={"round": 3}) for r in DATA.rates if r.arm == "before")
    data = DATA.model_copy(update={"rates": DATA.rates + second + third})
    assert [rates[0].round for _, rates in grouped(data, "overall")] == [1, 2, 3]
    assert {r.round for _, rates in grouped(data, "kind") for r in rates} == {2}
    assert [label for label, _ in grouped(data, "split")] == ["Training environments", "Held-out environments"]


def test_rows_join_what_belongs_together() -> None:
    rows = {r.environment.env_id: r for r in environment_rows(DATA)}
    assert rows["env-00"].tasks == sum(t.env_id == "env-00" for t in DATA.tasks)
    assert [r.arm for r in rows["env-00"].rates] == ["before", "directed", "control"]
    assert rows["env-06"].environment.state == "rejected"
    assert list(rows)[-1] == "env-06"
    groups, more = source_rows(DATA)
    assert [(g.origin, g.sources) for g in groups][0] == ("pkg:pypi/airportsdata@1.0", 3)
    assert more == 0


def test_texts_for_people() -> None:
    assert [duration(s) for s in (0.84, 42.4, 59.7, 185, 7440)] == [
        "0.8 s",
        "42 s",
        "1 min 0 s",
        "3 min 5 s",
        "2 h 4 min",
    ]
    assert (memory(310), memory(1430)) == ("310 MiB", "1.4 GiB")
    assert readable({"$ref": "2.orders[0].order_id"}) == "← orders[0].order_id of call 3"
    assert readable({"$ref": "0"}) == "← result of call 1"
    assert len(readable("x" * 900)) == 260
    change = Change(table="orders", operation="update", key="o1", before={"a": 1, "b": 2}, after={"a": 1, "b": 3})
    assert change_line(change) == "orders o1: b = 3"
    assert arm_classes(["before", "zeta", "alpha"])["zeta"] == "arm-extra-2"
    assert [s.name for s in stages(ReportData(run_id="r", started_at="", machine=""))][-1] == "Regeneration"


def test_classes_overlap_and_tell_their_lengths() -> None:
    first, second, third = DATA.tasks[:3]
    tasks = (
        first.model_copy(update={"classes": ("long",), "oracle_calls": 10, "difficulty": 0.5}),
        second.model_copy(update={"classes": ("long", "decline"), "oracle_calls": 50, "difficulty": 0.7}),
        third.model_copy(update={"classes": (), "oracle_calls": 3}),
    )
    long, decline = class_rows(DATA.model_copy(update={"tasks": tasks}))
    assert (long.tasks, long.mean, long.most, long.beyond) == (2, 30, 50, 0.5) and decline.tasks == 1
    assert long.difficulty is not None and abs(long.difficulty - 0.6) < 1e-9


def called(number: int, **changes) -> ModelCall:
    base = {"call_id": str(number), "role": "coder", "stage": "coding", "env_id": "env-00", "model": "openai:x",
            "template": "t", "template_sha256": "0" * 64, "prompt_tokens": 100, "completion_tokens": 10,
            "price_usd": 0.5, "price_source": "genai-prices 1"}  # fmt: skip
    return ModelCall.model_validate({**base, **changes})


def test_money_for_models_is_told_by_role_environment_and_accepted_task() -> None:
    calls = (
        called(1), called(2, env_id="env-01", role="judge", stage="synthesis", price_usd=1.5),
        called(3, cached=True), called(4, cached=True, env_id="env-01"), called(5, price_usd=None, model="nobody:y"),
    )  # fmt: skip
    found = model_costs(DATA.model_copy(update={"model_calls": calls}))
    assert found is not None
    assert "3 calls paid, for $2.00" in found.sentence
    assert "2 answers from the cache, which saved $1.00" in found.sentence
    assert "for want of a known price: 1 call." in found.sentence
    roles, environments = found.parts
    assert [(row.name, row.usd, row.paid, row.cached) for row in roles.rows] == [
        ("synthesis: judge", 1.5, 1, 0), ("coding: coder", 0.5, 1, 2), ("coding: coder", 0.0, 1, 0),
    ]  # fmt: skip
    assert [(row.usd, row.saved_usd, row.tasks) for row in environments.rows] == [(1.5, 0.5, 16), (0.5, 0.5, 16)]
    page = render_report(DATA.model_copy(update={"model_calls": calls}))
    assert '<section id="models">' in page
    assert "genai-prices 1" in page


def test_a_run_without_models_shows_no_section_for_them() -> None:
    assert model_costs(DATA) is None
    assert 'id="models"' not in render_report(DATA)
