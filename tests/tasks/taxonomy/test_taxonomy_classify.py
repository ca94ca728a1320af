"""The taxonomy on the default themes and on services that it was not written for."""

from __future__ import annotations

import pytest

from schemas.theme import Operation, Theme
from tasks.taxonomy import classify, describe_taxonomy, explain
from tasks.taxonomy.lexicon import load_lexicon
from tasks.themes import SourceSpec, collect, default_sources, merge_duplicates

PAPER = """Search & Information Retrieval; Academic & Scientific Research; Social Media & Community; Finance &
Markets; Cryptocurrency & Web3; Weather & Geospatial; Software Development; System & Cloud
Infrastructure; Browser Automation & Testing; Data Storage & Databases; AI & Machine Learning;
Reasoning & Decision Support; Mathematics & Computation; Media & Entertainment; Healthcare & Life
Sciences; Travel & Transportation; Document & Design; News & Trends; Cybersecurity & Network
Analysis; Communication & General Utilities"""


@pytest.fixture(scope="module")
def themes() -> list[Theme]:
    kept, _ = merge_duplicates(collect([one for one in default_sources() if not one.command]).themes)
    return classify(kept)


def test_level_1_has_the_names_of_the_paper() -> None:
    names = {" ".join(name.split()) for name in PAPER.split(";")}
    lexicon = load_lexicon()
    assert set(lexicon.level_1) == names and len(names) == 20
    assert all(3 <= len(lexicon.level_2(name)) <= 6 for name in names)


def test_the_default_themes_spread_over_the_categories(themes: list[Theme]) -> None:
    placed = {theme.name: theme.category_l1 for theme in themes}
    assert len(set(placed.values())) >= 15
    assert placed["Flight booking"] == "Travel & Transportation"
    assert placed["Currency exchange desk"] == "Finance & Markets"
    assert placed["Clinic diagnosis coding and claims"] == "Healthcare & Life Sciences"
    assert placed["AWS Certificate Manager"] == "Cybersecurity & Network Analysis"
    assert all(theme.category_l2 and theme.category_l3 for theme in themes)


@pytest.mark.parametrize(
    ("service", "category"),
    [
        ("guardduty", "Cybersecurity & Network Analysis"),
        ("rds", "Data Storage & Databases"),
        ("polly", "AI & Machine Learning"),
        ("codecommit", "Software Development"),
        ("managedblockchain", "Cryptocurrency & Web3"),
        ("budgets", "Finance & Markets"),
        ("devicefarm", "Browser Automation & Testing"),
        ("ecs", "System & Cloud Infrastructure"),
        ("ses", "Communication & General Utilities"),
    ],
)
def test_services_outside_the_default_set_find_their_category(service: str, category: str) -> None:
    found = collect([SourceSpec("botocore", f"data/{service}/*/service-2.json*")]).themes
    assert [theme.category_l1 for theme in classify(found)] == [category]


def test_no_theme_moves_when_another_comes_or_goes(themes: list[Theme]) -> None:
    for theme in themes:
        assert classify([theme]) == [theme]
    assert classify(list(reversed(themes))) == list(reversed(themes))


def test_the_words_that_spoke_for_a_category_can_be_asked_for(themes: list[Theme]) -> None:
    theme = next(one for one in themes if one.name == "Flight booking")
    words = explain(theme)
    assert {"flight", "airport"} <= {word for word, _ in words}
    assert words == sorted(words, key=lambda pair: (-pair[1], pair[0]))
    assert 0 < sum(share for _, share in words) <= 1.001


def test_a_theme_of_unknown_words_goes_to_the_utilities() -> None:
    theme = Theme(
        theme_id="x", kind="mcp", name="Zxqv", description="", terms=(), operations=(Operation(name="zxqv"),),
        source_id="0" * 16, source_uri="file:///x", source_version="1", source_sha256="0" * 64, licence="MIT",
    )  # fmt: skip
    assert classify([theme])[0].category_l1 == "Communication & General Utilities"
    assert explain(theme) == []


def test_the_tree_counts_every_theme_once(themes: list[Theme]) -> None:
    tree = describe_taxonomy(themes)
    leaves = [leaf for first in tree["children"] for second in first["children"] for leaf in second["children"]]
    assert tree["count"] == len(themes) == len(leaves)
    assert {leaf["theme_id"] for leaf in leaves} == {theme.theme_id for theme in themes}
    assert len(tree["children"]) == 20
