from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.statistics import SuccessRate
from tasks.report.figures import Stage, axis_end, curves, histogram, integer_bins, intervals, loop, taxonomy, unit_bins
from tasks.report.svg import drawing, element, fit, text_width, ticks

SVG = "{http://www.w3.org/2000/svg}"


def rate(arm: str, low: float, middle: float, high: float) -> SuccessRate:
    return SuccessRate(
        round=0, arm=arm, by="kind", group="g", successes=1, attempts=2, rate=middle, low=low, high=high
    )  # fmt: skip


@given(low=st.floats(-1e6, 1e6), span=st.floats(1e-6, 1e6), about=st.integers(2, 8))
@example(low=-6.1e-05, span=1e6, about=2)
@example(low=-6.1e-05, span=1e5, about=8)
def test_ticks_cover_the_range_in_round_steps(low: float, span: float, about: int) -> None:
    marks = ticks(low, low + span, about)
    assert marks[0] <= low + 1e-6 * max(1, abs(low)) and marks[-1] >= low + span - 1e-6 * max(1, abs(low + span))
    assert len(marks) <= 2 * about + 4
    assert marks == sorted(marks)


def test_an_axis_needs_finite_ends() -> None:
    with pytest.raises(ValueError, match="no axis"):
        ticks(0, math.nan)
    assert len(ticks(3, 3)) >= 2


def test_elements_escape_texts_and_attributes() -> None:
    made = element("text", '<b a="1">&', class_='x" onload="y')
    root = ElementTree.fromstring(str(made))
    assert root.text == '<b a="1">&' and root.attrib == {"class": 'x" onload="y'}
    assert 'viewBox="0 0 10 20"' in drawing(10, 20, "t")


@given(st.text(max_size=80), st.floats(0, 400))
def test_fitted_text_is_within_its_width(content: str, width: float) -> None:
    shown = fit(content, width, 12)
    assert text_width(shown, 12) <= width + 1e-9
    assert shown == content or len(shown) < len(content) or shown.endswith("…")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=50))
def test_each_length_falls_into_one_bin(values: list[int]) -> None:
    bins = integer_bins(values)
    assert all(sum(low <= v < high for low, high, _ in bins) == 1 for v in values)
    assert len(bins) <= 16


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_each_share_falls_into_one_bin(values: list[float]) -> None:
    assert all(sum(low <= v < high for low, high, _ in unit_bins(min(values))) == 1 for v in values)


def test_a_histogram_counts_and_draws_what_it_counts() -> None:
    series = {"graph": [4, 4, 5], "program": [4, 5, 9]}
    figure = histogram("t", series, integer_bins([4, 9]), "calls", {"graph": "series-1", "program": "series-2"})
    assert figure.columns == ("calls", "graph", "program")
    assert dict((row[0], row[1:]) for row in figure.rows) == {
        "4": ("2", "1"), "5": ("1", "1"), "6": ("0", "0"), "7": ("0", "0"), "8": ("0", "0"), "9": ("0", "1"),
    }  # fmt: skip
    bars = [r for r in ElementTree.fromstring(str(figure.svg)).iter(f"{SVG}rect")]
    heights = {r.find(f"{SVG}title").text: float(r.get("height")) for r in bars}
    assert heights["4: 2 graph"] == pytest.approx(2 * heights["9: 1 program"], abs=0.02)
    tops = {r.find(f"{SVG}title").text: float(r.get("y")) for r in bars}
    assert tops["4: 1 program"] + heights["4: 1 program"] == pytest.approx(tops["4: 2 graph"], abs=0.02)


def test_whiskers_stand_at_their_shares() -> None:
    rates = [rate("before", 0.2, 0.3, 0.4), rate("directed", 0.3, 0.5, 0.7)]
    assert axis_end(rates) == 0.8
    figure = intervals("t", [("all", rates)], {"before": "arm-before", "directed": "arm-directed"}, axis_end(rates))
    root = ElementTree.fromstring(str(figure.svg))
    places = {
        float(t.text.removesuffix(" %")) / 100: float(t.get("x"))
        for t in root.iter(f"{SVG}text") if t.text and re.fullmatch(r"\d+ %", t.text)
    }  # fmt: skip
    dots = [float(c.get("cx")) for c in root.iter(f"{SVG}circle")]
    scale = (places[0.8] - places[0.0]) / 0.8
    assert dots == pytest.approx([places[0.0] + 0.3 * scale, places[0.0] + 0.5 * scale], abs=0.05)
    assert figure.rows[1] == ("all", "directed", "2", "50.0 %", "30.0 % to 70.0 %")


def test_curves_leave_out_what_is_no_number_and_smooth_long_series() -> None:
    steps = [float(i) for i in range(100)]
    noisy = [math.sin(i) + 2 for i in range(100)]
    noisy[7], noisy[8] = math.nan, math.inf
    figure = curves(
        "reward", {"a": (steps, noisy), "short": ([0.0, 99.0], [1.0, 1.0])}, {"a": "series-1", "short": "series-2"}
    )
    root = ElementTree.fromstring(str(figure.svg))
    lines = [line.get("class") for line in root.iter(f"{SVG}polyline")]
    assert lines == ["line faint series-1", "line series-1", "line series-2"]
    assert "2 values" in root.find(f"{SVG}desc").text
    assert "nan" not in str(figure.svg)
    assert figure.rows[-1][0] == "99"
    constant = curves("t", {"a": ([1.0], [0.0])}, {"a": "series-1"})
    assert "nan" not in str(constant.svg)


def test_the_taxonomy_is_cut_to_fewer_levels_when_it_grows() -> None:
    small = taxonomy([("A", "a", "x"), ("A", "a", "y"), ("B", "", "")])
    assert len(list(ElementTree.fromstring(str(small.svg)).iter(f"{SVG}rect"))) == 2 + 2 + 3
    assert ("B", "not placed", "not placed", "1") in small.rows
    large = taxonomy([(f"c{i % 20}", f"s{i % 20}-{i % 2}", f"leaf {i}") for i in range(2000)])
    assert len(list(ElementTree.fromstring(str(large.svg)).iter(f"{SVG}rect"))) <= 80
    assert len(large.rows) == 2000


def test_the_loop_has_eight_stages() -> None:
    with pytest.raises(ValueError, match="eight"):
        loop([Stage("a", "1", "b")])
