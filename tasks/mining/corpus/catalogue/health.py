"""Diagnosis codes, and penguins as a field study in the life sciences."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from tasks.mining.corpus.formats import delimited, only
from tasks.mining.corpus.items import Dataset, Loader, Record
from tasks.mining.corpus.shapes import Values, grouped, mapped, numbered


def _text(element: ElementTree.Element, tag: str) -> str:
    return " ".join((element.findtext(tag) or "").split())


@functools.lru_cache(maxsize=1)
def _tabular(raw: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(raw)
    except ElementTree.ParseError as error:
        raise ValueError(f"is not well-formed XML ({error})") from None


def _icd(level: str) -> Loader:
    def load(files: Mapping[str, bytes]) -> Iterator[Record]:
        for chapter in _tabular(only(files)).findall("chapter"):
            number = int(_text(chapter, "name"))
            if level == "chapter":
                sections = len(chapter.findall("section"))
                title = _text(chapter, "desc").rsplit(" (", 1)[0]
                span = _text(chapter, "desc").rsplit("(", 1)[-1].strip(")")
                yield f"chapter {number}", {"number": number, "title": title, "span": span, "sections": sections}
                continue
            for section in chapter.findall("section"):
                block = section.get("id", "")
                if level == "section":
                    title = _text(section, "desc").rsplit(" (", 1)[0]
                    yield f"section {block}", {"block": block, "title": title, "chapter": number}
                    continue
                for category in section.findall("diag"):
                    code, title = _text(category, "name"), _text(category, "desc")
                    if level == "category":
                        yield f"diag {code}", {"code": code, "title": title, "block": block, "chapter": number}
                        continue
                    for diagnosis in category.findall("diag"):
                        inner = _text(diagnosis, "name")
                        billable = diagnosis.find("diag") is None
                        yield (
                            f"diag {inner}",
                            {
                                "code": inner,
                                "title": _text(diagnosis, "desc"),
                                "category": code,
                                "billable": billable,
                            },
                        )

    return load


def _penguin(values: Values) -> Values:
    return {**values, "short": values["Species"].split(" ")[0], "sex": values["Sex"].lower()}


def _species(name: str, penguins: list[Values]) -> Values:
    full = penguins[0]["Species"]
    return {"species": name, "scientific": full.split("(")[-1].strip(")"), "count": len(penguins)}


def _island(name: str, penguins: list[Values]) -> Values:
    return {"island": name, "region": penguins[0]["Region"], "count": len(penguins)}


def _season(name: str, penguins: list[Values]) -> Values:
    dates = sorted(penguin["Date Egg"] for penguin in penguins)
    return {"study": name, "first": dates[0], "last": dates[-1], "count": len(penguins)}


_XML = "simple_icd_10_cm/data/icd10c-tabular-*.xml"
_CODES = ("diagnosis", "disease", "icd", "medical", "health", "clinic", "patient", "claim", "coding", "hospital")
_RAW = "palmerpenguins/data/penguins-raw.csv"
_FIELD = ("penguin", "species", "wildlife", "biology", "study", "measurement", "dataset", "features", "classification")
_penguins = mapped(delimited(), _penguin)
_NA = frozenset({"", "NA", "na", "."})

DATASETS = (
    Dataset(
        name="icd_chapters",
        package="simple-icd-10-cm",
        path=_XML,
        load=_icd("chapter"),
        title="ICD-10-CM chapters",
        description="Chapters of the ICD-10-CM classification of diseases and injuries.",
        topics=_CODES,
        noun="chapter",
        nouns="chapters",
        key="chapter_number",
        label="chapter_title",
        columns={
            "chapter_number": ("number", "number of the chapter"),
            "chapter_title": ("title", "title of the chapter"),
            "code_range": ("span", "first and last category"),
            "section_count": ("sections", "number of sections in it"),
        },
        transform="extract xml",
    ),
    Dataset(
        name="icd_sections",
        package="simple-icd-10-cm",
        path=_XML,
        load=_icd("section"),
        title="ICD-10-CM sections",
        description="Sections (blocks) of the ICD-10-CM classification with the chapter that they belong to.",
        topics=_CODES,
        noun="section",
        nouns="sections",
        key="section_code",
        label="section_title",
        columns={
            "section_code": ("block", "first and last category, e.g. A00-A09"),
            "section_title": ("title", "title of the section"),
            "chapter_number": ("chapter", "chapter that it belongs to"),
        },
        transform="extract xml",
    ),
    Dataset(
        name="icd_categories",
        package="simple-icd-10-cm",
        path=_XML,
        load=_icd("category"),
        title="ICD-10-CM disease categories",
        description="Three-character categories of diseases and injuries in ICD-10-CM.",
        topics=_CODES,
        noun="disease category",
        nouns="disease categories",
        key="category_code",
        label="category_title",
        columns={
            "category_code": ("code", "three-character code"),
            "category_title": ("title", "what it stands for"),
            "section_code": ("block", "section that it belongs to"),
        },
        transform="extract xml",
    ),
    Dataset(
        name="icd_diagnoses",
        package="simple-icd-10-cm",
        path=_XML,
        load=_icd("diagnosis"),
        title="ICD-10-CM diagnosis codes",
        description="Diagnosis codes below the categories of ICD-10-CM, and whether a claim can be billed with them.",
        topics=_CODES,
        noun="diagnosis",
        nouns="diagnoses",
        key="diagnosis_code",
        label="diagnosis_title",
        columns={
            "diagnosis_code": ("code", "code with one place after the point"),
            "diagnosis_title": ("title", "what it stands for"),
            "category_code": ("category", "disease category that it belongs to"),
            "is_billable": ("billable", "whether no finer code exists"),
        },
        transform="extract xml",
    ),
    Dataset(
        name="penguins",
        package="palmerpenguins",
        path=_RAW,
        load=numbered(
            _penguins,
            "penguin_id",
            lambda values: f"{values['studyName']}-{values['short'][:3].upper()}-{values['Individual ID']}",
        ),
        title="Penguins measured at Palmer Station",
        description="Bill, flipper and body measurements of penguins of three species on three islands.",
        topics=_FIELD,
        noun="penguin",
        nouns="penguins",
        key="penguin_id",
        columns={
            "penguin_id": ("penguin_id", "study, species and individual"),
            "study_code": ("studyName", "study season in which it was measured"),
            "species_name": ("short", "species"),
            "island_name": ("Island", "island where it nests"),
            "sex": ("sex", "sex"),
            "egg_date": ("Date Egg", "date on which the nest was seen with one egg"),
            "clutch_completed": ("Clutch Completion", "whether the nest had two eggs"),
            "bill_length_mm": ("Culmen Length (mm)", "length of the bill"),
            "bill_depth_mm": ("Culmen Depth (mm)", "depth of the bill"),
            "flipper_length_mm": ("Flipper Length (mm)", "length of a flipper"),
            "body_mass_g": ("Body Mass (g)", "body mass"),
        },
        missing=_NA,
        transform="derive:penguin_id; species shortened",
    ),
    Dataset(
        name="species",
        package="palmerpenguins",
        path=_RAW,
        load=grouped(_penguins, lambda values: values["short"], _species),
        title="Penguin species",
        description="The species in the Palmer penguins study with scientific names.",
        topics=_FIELD,
        noun="species",
        nouns="species",
        key="species_name",
        columns={
            "species_name": ("species", "common name"),
            "scientific_name": ("scientific", "Latin name"),
            "measured_count": ("count", "penguins measured in the source"),
        },
        transform="derive:group penguins by species",
    ),
    Dataset(
        name="islands",
        package="palmerpenguins",
        path=_RAW,
        load=grouped(_penguins, lambda values: values["Island"], _island),
        title="Islands of the penguin study",
        description="Islands of the Palmer Archipelago where penguins were measured.",
        topics=_FIELD,
        noun="island",
        nouns="islands",
        key="island_name",
        columns={
            "island_name": ("island", "name of the island"),
            "region": ("region", "region of Antarctica"),
            "measured_count": ("count", "penguins measured in the source"),
        },
        transform="derive:group penguins by island",
    ),
    Dataset(
        name="studies",
        package="palmerpenguins",
        path=_RAW,
        load=grouped(_penguins, lambda values: values["studyName"], _season),
        title="Study seasons at Palmer Station",
        description="Seasons in which penguins were measured, with first and last egg date.",
        topics=_FIELD,
        noun="study",
        nouns="studies",
        key="study_code",
        columns={
            "study_code": ("study", "code of the study season"),
            "first_egg_date": ("first", "first egg date"),
            "last_egg_date": ("last", "last egg date"),
            "measured_count": ("count", "penguins measured in the source"),
        },
        transform="derive:group penguins by study",
    ),
)
