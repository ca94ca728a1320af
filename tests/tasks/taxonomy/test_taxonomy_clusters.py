"""A taxonomy fitted to a real collection: a sample of botocore's services. What is stored stays where it is."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import botocore
import pytest

from schemas.theme import Theme
from tasks.taxonomy import Taxonomy, describe_taxonomy, dump_taxonomy, fit_taxonomy, load_taxonomy
from tasks.taxonomy.lexicon import load_lexicon
from tasks.themes import SourceSpec, collect

SERVICES = 240


@pytest.fixture(scope="module")
def themes() -> list[Theme]:
    """Return real themes, in a mixed order that is always the same."""
    names = sorted(path.name for path in (Path(botocore.__file__).parent / "data").iterdir() if path.is_dir())
    names = random.Random(1).sample(names, SERVICES)
    found = collect([SourceSpec("botocore", f"data/{name}/*/service-2.json*") for name in names]).themes
    return random.Random(2).sample(found, len(found))


@pytest.fixture(scope="module")
def fitted(themes: list[Theme]) -> Taxonomy:
    """Return the taxonomy of nine tenths of the themes."""
    return fit_taxonomy(themes[: 9 * len(themes) // 10])


def places(themes: list[Theme]) -> dict[str, tuple[str, str]]:
    return {theme.theme_id: (theme.category_l1, theme.category_l2) for theme in themes}


def test_adding_the_last_tenth_moves_no_theme_and_lands_where_a_new_fit_would_put_it(
    themes: list[Theme], fitted: Taxonomy
) -> None:
    old, new = themes[: 9 * len(themes) // 10], themes[9 * len(themes) // 10 :]
    before = places(fitted.classify(old))
    stored = load_taxonomy(dump_taxonomy(fitted))
    after = places(stored.classify([*new, *old]))
    assert {theme_id: after[theme_id] for theme_id in before} == before
    afresh = places(fit_taxonomy(themes).classify(new))
    same = sum(after[theme.theme_id][0] == afresh[theme.theme_id][0] for theme in new)
    assert same >= 0.6 * len(new), f"{same} of {len(new)}"


def test_the_same_themes_in_any_order_give_the_same_bytes(themes: list[Theme], fitted: Taxonomy) -> None:
    old = themes[: 9 * len(themes) // 10]
    assert dump_taxonomy(fit_taxonomy(list(reversed(old)))) == dump_taxonomy(fitted)


def test_clusters_stand_under_the_20_names_and_their_own_are_unique(fitted: Taxonomy) -> None:
    names = Counter((cluster.category, cluster.name) for cluster in fitted.clusters)
    assert {first for first, _ in names} <= set(load_lexicon().level_1)
    assert max(names.values()) == 1 and 30 <= len(fitted.clusters) <= 56


KNOWN = {
    "rds": "Data Storage & Databases",
    "dynamodb": "Data Storage & Databases",
    "guardduty": "Cybersecurity & Network Analysis",
    "securityhub": "Cybersecurity & Network Analysis",
    "bedrock-runtime": "AI & Machine Learning",
    "rekognition": "AI & Machine Learning",
    "ses": "Communication & General Utilities",
    "pinpoint-sms-voice": "Communication & General Utilities",
    "medialive": "Media & Entertainment",
    "ecs": "System & Cloud Infrastructure",
    "pricing": "Finance & Markets",
    "codecommit": "Software Development",
}


def test_most_known_services_find_their_category(fitted: Taxonomy) -> None:
    found = {}
    for service in KNOWN:
        theme = collect([SourceSpec("botocore", f"data/{service}/*/service-2.json*")]).themes[0]
        found[service] = fitted.classify([theme])[0].category_l1
    assert sum(found[service] == category for service, category in KNOWN.items()) >= 9, found


def test_the_place_of_a_theme_is_explained(themes: list[Theme], fitted: Taxonomy) -> None:
    placed = fitted.classify(themes[:30])
    for theme, reason in zip(placed, fitted.explain(themes[:30]), strict=True):
        assert (reason.category_l1, reason.category_l2) == (theme.category_l1, theme.category_l2)
        assert theme.category_words == tuple(word for word, _ in reason.words)
        assert reason.words and 0 < sum(share for _, share in reason.words) <= 1.001
        shares = [share for _, share in reason.words]
        assert shares == sorted(shares, reverse=True)
    tree = describe_taxonomy(placed)
    assert (
        tree["count"] == 30 == sum(len(group["children"]) for first in tree["children"] for group in first["children"])
    )


def test_clusters_can_be_named_by_another(themes: list[Theme]) -> None:
    def shouted(category: str, words: tuple[str, ...], examples: list[str]) -> str:
        assert category in load_lexicon().level_1 and len(words) >= 3 and examples
        return "THINGS"

    taxonomy = fit_taxonomy(themes[:80], clusters=12, namer=shouted)
    assert {cluster.name.split(" (")[0] for cluster in taxonomy.clusters} == {"THINGS"}
    assert len({(cluster.category, cluster.name) for cluster in taxonomy.clusters}) == len(taxonomy.clusters)


def test_too_few_themes_and_foreign_bytes_are_refused(themes: list[Theme], fitted: Taxonomy) -> None:
    with pytest.raises(ValueError, match="too few"):
        fit_taxonomy(themes[:39])
    with pytest.raises(ValueError, match="no stored taxonomy"):
        load_taxonomy(b"something else")
    assert fitted.classify([]) == []
