"""Chemical elements and bright stars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from tasks.mining.corpus.formats import assigned, literal, only, sqlite_table, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.shapes import Values, grouped, mapped

_DB = "mendeleev/elements.db"
_CHEMISTRY = ("element", "chemistry", "periodic", "laboratory", "atom", "science", "substance", "sample")
_SKY = ("star", "astronomy", "telescope", "sky", "observatory", "observation", "constellation", "night", "catalogue")


def _stars(files: Mapping[str, bytes]) -> Iterator[Record]:
    catalogue = literal(assigned(text_of(only(files)), "db"))
    if not isinstance(catalogue, str):
        raise ValueError("holds no star catalogue under the name db")
    for number, line in enumerate(catalogue.split("\n"), start=1):
        parts = line.split(",")
        if len(parts) < 5 or not parts[0]:
            continue
        hours, declination = parts[2].split("|")[0], parts[3].split("|")[0]
        yield (
            f"db line {number}",
            {
                "name": parts[0],
                "spectral": parts[1].split("|")[2],
                "letter": parts[1].split("|")[2][:1],
                "ascension": round(float(hours), 5),
                "declination": round(float(declination), 5),
                "magnitude": float(parts[4].split("|")[0]),
            },
        )


def _spectral_class(letter: str, stars: list[Values]) -> Values:
    magnitudes = [star["magnitude"] for star in stars]
    return {"letter": letter, "count": len(stars), "brightest": min(magnitudes), "faintest": max(magnitudes)}


def _group(values: Values) -> Values:
    return {**values, "title": f"Group {values['group_id']} ({values['symbol']})"}


def _isotope(values: Values) -> Values | None:
    if values["half_life"] is not None and not math.isfinite(values["half_life"]):
        return None
    return values


DATASETS = (
    Dataset(
        name="element_series",
        package="mendeleev",
        path=_DB,
        load=sqlite_table("series"),
        title="Series of chemical elements",
        description="Series (families) of the periodic table, such as alkali metals and noble gases.",
        topics=_CHEMISTRY,
        noun="element series",
        nouns="element series",
        key="series_id",
        label="series_name",
        columns={
            "series_id": ("id", "number of the series"),
            "series_name": ("name", "name of the series"),
            "chart_color": ("color", "its colour in charts"),
        },
    ),
    Dataset(
        name="element_groups",
        package="mendeleev",
        path=_DB,
        load=mapped(sqlite_table("groups"), _group),
        title="Groups of the periodic table",
        description="The eighteen groups (columns) of the periodic table.",
        topics=_CHEMISTRY,
        noun="element group",
        nouns="element groups",
        key="group_id",
        label="group_title",
        columns={
            "group_id": ("group_id", "IUPAC number of the group"),
            "group_title": ("title", "number and older CAS symbol"),
            "group_name": ("name", "trivial name"),
        },
        transform="extract; derive:group_title",
    ),
    Dataset(
        name="elements",
        package="mendeleev",
        path=_DB,
        load=sqlite_table("elements"),
        title="Chemical elements",
        description="The 118 elements with weight, density, block, electronegativity, discovery and geochemical class.",
        topics=_CHEMISTRY,
        noun="element",
        nouns="elements",
        key="atomic_number",
        label="element_name",
        columns={
            "atomic_number": ("atomic_number", "number of protons"),
            "element_name": ("name", "name of the element"),
            "symbol": ("symbol", "chemical symbol"),
            "period": ("period", "row of the periodic table"),
            "block": ("block", "electron block"),
            "group_id": ("group_id", "group of the periodic table"),
            "series_id": ("series_id", "series that it belongs to"),
            "atomic_weight": ("atomic_weight", "standard atomic weight"),
            "density_g_per_cm3": ("density", "density at 295 K"),
            "electronegativity": ("en_pauling", "Pauling's electronegativity"),
            "discovery_year": ("discovery_year", "year of discovery"),
            "is_radioactive": ("is_radioactive", "whether all isotopes are radioactive"),
            "price_usd_per_kg": ("price_per_kg", "price of a kilogram"),
        },
    ),
    Dataset(
        name="isotopes",
        package="mendeleev",
        path=_DB,
        load=mapped(sqlite_table("isotopes"), _isotope),
        title="Isotopes of the elements",
        description="Isotopes with mass, natural abundance, half-life and year of discovery.",
        topics=(*_CHEMISTRY, "isotope", "radioactive", "decay"),
        noun="isotope",
        nouns="isotopes",
        key="isotope_id",
        columns={
            "isotope_id": ("id", "number of the isotope in the source"),
            "atomic_number": ("atomic_number", "element that it is an isotope of"),
            "mass_number": ("mass_number", "protons and neutrons"),
            "mass_daltons": ("mass", "atomic mass"),
            "abundance_percent": ("abundance", "share of the element found in nature"),
            "is_radioactive": ("is_radioactive", "whether it decays"),
            "half_life": ("half_life", "time in which half of it decays"),
            "half_life_unit": ("half_life_unit", "unit of the half-life"),
            "discovery_year": ("discovery_year", "year of discovery"),
        },
    ),
    Dataset(
        name="oxidation_states",
        package="mendeleev",
        path=_DB,
        load=sqlite_table("oxidationstates"),
        title="Oxidation states of the elements",
        description="Main and extended oxidation states of each element.",
        topics=_CHEMISTRY,
        noun="oxidation state",
        nouns="oxidation states",
        key="oxidation_state_id",
        columns={
            "oxidation_state_id": ("id", "number in the source"),
            "atomic_number": ("atomic_number", "element that has it"),
            "oxidation_state": ("oxidation_state", "charge"),
            "category": ("category", "main or extended"),
        },
    ),
    Dataset(
        name="stars",
        package="ephem",
        path="ephem/stars.py",
        load=_stars,
        title="Bright stars",
        description="Bright and navigational stars with position, spectral class and magnitude.",
        topics=_SKY,
        noun="star",
        nouns="stars",
        key="star_name",
        columns={
            "star_name": ("name", "proper name"),
            "spectral_class": ("letter", "spectral class, from hot O to cool M"),
            "spectral_type": ("spectral", "spectral type"),
            "right_ascension_hours": ("ascension", "right ascension (J2000)"),
            "declination_degrees": ("declination", "declination (J2000)"),
            "magnitude": ("magnitude", "apparent brightness; lower is brighter"),
        },
        transform="read the literal db; positions rounded to five places",
    ),
    Dataset(
        name="spectral_classes",
        package="ephem",
        path="ephem/stars.py",
        load=grouped(_stars, lambda values: values["letter"], _spectral_class),
        title="Spectral classes of bright stars",
        description="Spectral classes with the number of bright stars and their range of magnitude.",
        topics=_SKY,
        noun="spectral class",
        nouns="spectral classes",
        key="spectral_class",
        columns={
            "spectral_class": ("letter", "letter of the class"),
            "star_count": ("count", "bright stars of the class"),
            "brightest_magnitude": ("brightest", "magnitude of the brightest"),
            "faintest_magnitude": ("faintest", "magnitude of the faintest"),
        },
        transform="derive:group stars by spectral class",
    ),
)
