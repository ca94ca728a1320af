"""Units, physical constants, and topics of the Python language reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tasks.mining.corpus.formats import assigned, literal, only, text_of
from tasks.mining.corpus.items import Dataset, Paper, Record
from tasks.mining.corpus.packages import STANDARD_LIBRARY
from tasks.mining.corpus.shapes import Values, grouped, mapped, remembered

_UNITS = ("unit", "measurement", "conversion", "physics", "dimension", "quantity", "calculation", "mathematics")

_HELP = ("documentation", "search", "reference", "topic", "python", "library", "help", "keyword", "article")

_DEFINITION = re.compile(r"^([a-z][A-Za-z_0-9]*)\s*=\s*([^=#]+?)\s*(?:=\s*([^#]+?))?\s*(?:#\s*(.*))?$")

_NUMBER = re.compile(r"^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*\*?\s*(.*)$")

_HEADING = re.compile(r"^#### (.+?) ####")


@remembered
def _definitions(files: Mapping[str, bytes]) -> Iterator[Record]:
    section = "base"
    for number, line in enumerate(text_of(only(files)).splitlines(), start=1):
        group = re.match(r"^@group\s+(\w+)|^# ([A-Z][A-Za-z ]+)$", line)
        if group:
            section = (group[1] or group[2]).strip().lower()
        heading = _HEADING.match(line)
        if heading:
            section = heading[1].strip().lower()
        match = _DEFINITION.match(line.strip())
        if match and not line.lstrip().startswith(("#", "@")) and "-" not in match[1]:
            names = [name.strip() for name in (match[3] or "").split("=") if name.strip() and name.strip() != "_"]
            value = _NUMBER.match(match[2].split(";")[0].strip())
            yield (
                f"line {number}",
                {
                    "name": match[1],
                    "title": match[1].replace("_", " "),
                    "definition": match[2].split(";")[0].strip(),
                    "symbol": names[0] if names else None,
                    "names": len(names),
                    "section": section,
                    "value": float(value[1]) if value else None,
                    "unit": value[2].strip() or None if value else None,
                },
            )


def _constant(values: Values) -> Values | None:
    exact = values["section"] != "measured constants"
    return None if values["value"] is None else {**values, "exact": exact}


def _section(name: str, units: list[Values]) -> Values:
    return {"section": name, "count": len(units)}


def _topics(files: Mapping[str, bytes]) -> Iterator[Record]:
    for topic, text in literal(assigned(text_of(only(files)), "topics")).items():
        lines = [line for line in text.split("\n") if line.strip()]
        yield (
            f"topics[{topic!r}]",
            {
                "topic": topic,
                "title": lines[0].strip() if lines else topic,
                "words": len(text.split()),
                "lines": len(lines),
            },
        )


def _articles(files: Mapping[str, bytes]) -> Iterator[Paper]:
    for topic, text in literal(assigned(text_of(only(files)), "topics")).items():
        title = next((line.strip() for line in text.split("\n") if line.strip()), topic)
        yield Paper(f"{topic}.txt", "text/plain", title, text.strip() + "\n", f"topics[{topic!r}]")


def _keywords(files: Mapping[str, bytes]) -> Iterator[Record]:
    """Yield what the help of Python looks up: each term leads, by way of headings, to an article."""
    source = text_of(files["pydoc.py"])
    body = source[source.index("class Helper") :]
    listed: dict[str, dict[str, str]] = {}
    for name in ("topics", "keywords", "symbols"):
        found = re.search(rf"^    _?{name} = (\{{.*?^    \}})", body, re.M | re.S)
        listed[name] = dict(re.findall(r"'([^'\n]+)'\s*:\s*\(?'([\w-]+)", found[1])) if found else {}
    articles = set(literal(assigned(text_of(files["pydoc_data/topics.py"]), "topics")))
    for name, terms in listed.items():
        for term, target in terms.items():
            for _ in range(3):
                target = listed["topics"].get(target, target)
            if target in articles:
                kind = {"topics": "heading", "keywords": "keyword", "symbols": "symbol"}[name]
                yield f"Helper.{name}[{term!r}]", {"id": f"{kind}:{term}", "word": term, "kind": kind, "topic": target}


DATASETS = (
    Dataset(
        name="units",
        package="pint",
        path="pint/default_en.txt",
        load=_definitions,
        title="Units of measurement",
        description="Units with symbol, definition and the section of the registry that they stand in.",
        topics=_UNITS,
        noun="unit",
        nouns="units",
        key="unit_name",
        columns={
            "unit_name": ("name", "name of the unit"),
            "symbol": ("symbol", "its symbol"),
            "definition": ("definition", "what it equals in other units"),
            "unit_section": ("section", "section of the registry"),
            "factor": ("value", "factor in the definition"),
            "other_name_count": ("names", "other names and symbols"),
        },
        transform="parse definitions",
    ),
    Dataset(
        name="unit_sections",
        package="pint",
        path="pint/default_en.txt",
        load=grouped(_definitions, lambda values: values["section"], _section),
        title="Sections of the unit registry",
        description="Quantities and systems that units are grouped by.",
        topics=_UNITS,
        noun="unit section",
        nouns="unit sections",
        key="unit_section",
        columns={
            "unit_section": ("section", "name of the section"),
            "unit_count": ("count", "units in the section"),
        },
        transform="derive:group units by section",
    ),
    Dataset(
        name="constants",
        package="pint",
        path="pint/constants_en.txt",
        load=mapped(_definitions, _constant),
        title="Physical constants",
        description="Physical and mathematical constants with value, unit and symbol (CODATA 2018).",
        topics=(*_UNITS, "constant", "science"),
        noun="physical constant",
        nouns="physical constants",
        key="constant_name",
        columns={
            "constant_name": ("name", "name of the constant"),
            "symbol": ("symbol", "its symbol"),
            "constant_value": ("value", "its value"),
            "unit": ("unit", "unit of the value"),
            "constant_section": ("section", "exact, derived or measured"),
            "is_exact": ("exact", "whether it is exact"),
        },
        transform="parse definitions with a number",
    ),
    Dataset(
        name="topics",
        package=STANDARD_LIBRARY,
        path="pydoc_data/topics.py",
        load=_topics,
        papers=_articles,
        title="Topics of the Python language reference",
        description="Articles of the language reference with title and length.",
        topics=_HELP,
        noun="topic",
        nouns="topics",
        key="topic_name",
        label="topic_title",
        columns={
            "topic_name": ("topic", "short name"),
            "topic_title": ("title", "title of the article"),
            "word_count": ("words", "words in the article"),
            "line_count": ("lines", "lines in the article"),
        },
        transform="read the literal topics; derive:word_count,line_count",
    ),
    Dataset(
        name="index_terms",
        package=STANDARD_LIBRARY,
        path="pydoc.py|pydoc_data/topics.py",
        load=_keywords,
        title="Index of the Python help",
        description="Keywords, symbols and headings with the help topic that explains them.",
        topics=(*_HELP, "index", "term"),
        noun="index term",
        nouns="index terms",
        key="term_id",
        columns={
            "term_id": ("id", "kind and term"),
            "term": ("word", "the term that is looked up"),
            "term_kind": ("kind", "keyword, heading or symbol"),
            "topic_name": ("topic", "article that explains it"),
        },
        transform="read the literals of class Helper; headings followed to their article",
    ),
)
