from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from report_example import report_data

from schemas.environment import Rejection
from tasks.report import ReportData, render_report
from tasks.report.page import safe_link

VOID = {"meta", "link", "img", "br", "hr", "input"}
EVIL = '<script>alert(1)</script>" onmouseover="alert(2)\' {{ 7*7 }} &amp; \u202e'


class Page(HTMLParser):
    """Collects what a page holds and checks that its tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] not in ("style", "title"):
            self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


@pytest.fixture(scope="module")
def data() -> ReportData:
    return report_data()


@pytest.fixture(scope="module")
def page(data: ReportData) -> Page:
    return Page(render_report(data))


def test_the_page_needs_nothing_but_itself(page: Page, data: ReportData) -> None:
    for _, attributes in page.tags:
        assert not {"src", "srcset", "background", "poster"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    assert page.of("link") == [] and page.of("iframe") == [] and page.of("base") == []
    text = render_report(data)
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#head-forward", "#head-back"}
    outside = [a["href"] for a in page.of("a") if not (a["href"] or "").startswith("#")]
    assert set(outside) == {"data_docs/index.html", "data_docs/env-00.html"}


def test_a_quick_run_says_on_top_that_its_figures_mean_nothing(page: Page, data: ReportData) -> None:
    text = Page(render_report(data.model_copy(update={"quick": True}))).text
    assert text.index("Quick scale") < text.index("Themes") and "Quick scale" not in page.text


def test_a_page_that_was_drawn_again_says_so(page: Page, data: ReportData) -> None:
    text = Page(render_report(data.model_copy(update={"redrawn_at": "2026-11-30T08:00:00Z"}))).text
    assert "Drawn again 2026-11-30T08:00:00Z from what the store held then" in text and "Drawn again" not in page.text


def test_its_policy_allows_its_own_script_and_no_other(page: Page) -> None:
    [policy] = [m["content"] for m in page.of("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in (policy or "")
    assert "default-src 'none'" in (policy or "")


def test_anchors_lead_somewhere_and_ids_are_unique(page: Page) -> None:
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.of("a") if (a["href"] or "").startswith("#")} <= set(ids)


def test_the_headline_figures_are_the_datas(page: Page, data: ReportData) -> None:
    overall = {r.arm: r for r in data.rates if r.by == "overall"}
    for arm in ("before", "directed", "control"):
        rate = overall[arm]
        assert f"Success {arm} {100 * rate.rate:.1f} % {100 * rate.low:.1f} % to {100 * rate.high:.1f} %" in page.text
    assert f"Themes {len(data.themes)}" in page.text
    assert "Environments 13" in page.text  # 14 built, one rejected
    assert f"Tools {len(data.tools)}" in page.text
    assert f"Tasks {len(data.tasks)}" in page.text
    assert "Wall time 7 min 50 s" in page.text
    first = next(c for c in data.comparisons if (c.arm, c.baseline, c.group) == ("directed", "before", "all"))
    assert f"{100 * first.difference:.1f} points more than before on {first.tasks} shared tasks" in page.text


def test_every_part_of_the_run_is_on_the_page(page: Page, data: ReportData) -> None:
    for environment in data.environments:
        assert environment.name in page.text
    for gate in {r.gate for r in data.rejections}:
        assert gate.replace("_", " ") in page.text
    for stage in data.costs:
        assert stage.stage in page.text
    for source in data.sources:
        assert source.uri.partition("#")[0] in page.text and source.licence in page.text
    for diagnosis in data.diagnoses:
        assert diagnosis.weakness in page.text and diagnosis.guideline_id in page.text
    assert "expect_column_values_to_be_in_set category_l1: 1 of 15 rows ('Sports')" in page.text
    assert "NOT_PENDING" in page.text  # the example episode's refusal
    assert "← orders[0].product_id of call 1" in page.text  # an oracle's reference
    assert all(s.get("role") == "img" and s.get("aria-label") for s in page.of("svg"))
    assert len(page.of("svg")) >= 10


def hostile(data: ReportData) -> dict[str, object]:
    """Return the data's fields with EVIL in every text that comes from sources, models or files."""

    def each(records, **changes: object) -> tuple:
        return tuple(record.model_copy(update=changes) for record in records)

    guideline = {"skills": [EVIL], "reasons": [EVIL]}
    return {
        "run_id": EVIL,
        "machine": EVIL,
        "missing": (EVIL,),
        "next_commands": (EVIL,),
        "environments": each(data.environments, name=EVIL, category_l1=EVIL, reason=EVIL),
        "themes": each(data.themes, category_l1=EVIL, category_l3=EVIL),
        "tasks": each(data.tasks, prompt=EVIL, expected_answer={EVIL: EVIL}, pass_rates={EVIL: 0.5}),
        "rates": each(data.rates, group=EVIL, arm=EVIL),
        "results": each(data.results, arm=EVIL),
        "rejections": (Rejection(stage=EVIL, key=EVIL, gate=EVIL, reason=EVIL),),
        "diagnoses": each(data.diagnoses, weakness=EVIL, error_counts={EVIL: 2}, guideline=guideline),
        "training_runs": each(data.training_runs, arm=EVIL, curves={EVIL: [1.0, 2.0]}),
        "links": {EVIL: "javascript:alert(3)", "env-00": "JaVaScript:alert(4)", "fine": "data_docs/a b.html?x=<y>"},
    }


def test_hostile_names_stay_text(data: ReportData) -> None:
    page = Page(render_report(data.model_copy(update=hostile(data))))
    assert len(page.of("script")) == 1 and len(page.scripts) == 1
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert not any("javascript" in (a["href"] or "").lower() for a in page.of("a"))
    assert page.text.count("alert(1)") > 20
    assert "49" not in [t.strip() for t in page.texts if "{{" in t]


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("data_docs/index.html", True), ("https://example.org/a", True), ("file:///tmp/x.html", True), ("#loop", True),
        ("javascript:alert(1)", False), (" JAVASCRIPT:alert(1)", False), ("java\nscript:alert(1)", False),
        ("data:text/html,x", False), ("vbscript:x", False), ("http://[", False),
    ],
)  # fmt: skip
def test_only_harmless_links_are_kept(address: str, kept: bool) -> None:
    assert bool(safe_link(address)) is kept


def test_an_empty_run_says_what_to_do() -> None:
    missing = ("Training was left out: torch is not installed.",)
    page = Page(render_report(ReportData(run_id="r", started_at="now", machine="m", missing=missing)))
    assert len(page.of("svg")) == 1  # the loop
    assert missing[0] in page.text
    for command in ("discover", "build", "synthesize", "train", "arena", "audit"):
        assert f"agentworld {command}" in page.text


def test_a_run_without_training_shows_the_rest(data: ReportData) -> None:
    bare = data.model_copy(
        update=dict.fromkeys(("training_runs", "results", "rates", "comparisons", "trajectories", "diagnoses"), ())
    )
    page = Page(render_report(bare))
    assert "pip install '.[train]'" in page.text
    assert "Success before" not in page.text
    assert len(page.of("svg")) == 1 + 1 + 3  # loop, taxonomy, three histograms


def test_the_same_data_gives_the_same_page(data: ReportData) -> None:
    assert render_report(data) == render_report(report_data())
