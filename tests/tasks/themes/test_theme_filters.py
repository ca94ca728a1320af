"""Which themes are refused for what they are, each with its reason."""

from __future__ import annotations

import pytest

from schemas.theme import Operation, Theme
from tasks.themes import collect, default_sources, keep_suitable
from tasks.themes.filters import unsuitable

ABOUT = "Hires bikes to the people of a city and takes them back when they are done."

SPANISH = "Alquila bicicletas a los vecinos de una ciudad y las recoge cuando se devuelven."
GERMAN = "Vermietet Fahrräder an die Leute der Stadt und nimmt sie von ihnen auch zurück."


def theme(name: str = "Bike hire", description: str = ABOUT, operations: int = 2) -> Theme:
    return Theme(
        theme_id="bike-hire-00000000", kind="mcp", name=name, description=description, terms=(),
        operations=tuple(Operation(name=f"operation_{i}") for i in range(operations)), source_id="0" * 16,
        source_uri="file:///x", source_version="1", source_sha256="0" * 64, licence="MIT",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "gate"),
    [
        (theme(operations=1), "few_operations"),
        (theme(description="Hires bikes."), "no_description"),
        (theme(description=f"{ABOUT} This API is deprecated since 2020."), "deprecated"),
        (theme(name="[DEPRECATED] Bike hire"), "deprecated"),
        (theme(name="Swagger Petstore"), "example"),
        (theme(name="Test API"), "example"),
        (theme(description=f"This is a sample server. {ABOUT}"), "example"),
        (theme(description=SPANISH), "not_english"),
        (theme(description=GERMAN), "not_english"),
        (theme(description="自転車を貸します " * 12), "not_english"),
    ],
)  # fmt: skip
def test_what_is_no_topic_is_refused_with_its_reason(one: Theme, gate: str) -> None:
    kept, rejections = keep_suitable([one])
    assert kept == [] and rejections[0].gate == gate
    assert rejections[0].key == one.theme_id and one.source_uri in rejections[0].reason


@pytest.mark.parametrize(
    "one",
    [
        theme(),
        theme(name="Load testing"),
        theme(name="Test Lab API"),
        theme(description=f"{ABOUT} Deprecated bikes are sold."),
        theme(description="Bikes, e-bikes, cargo bikes: tarif, café, naïve. " * 2),
    ],
)
def test_topics_stay(one: Theme) -> None:
    assert unsuitable(one) is None


def test_the_default_set_passes_whole() -> None:
    themes = collect([one for one in default_sources() if not one.command]).themes
    assert keep_suitable(themes) == (themes, [])
