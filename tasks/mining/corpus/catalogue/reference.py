"""Units, constants, HTTP status codes, media types, language reference topics, devices, indicators."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.formats import assigned, delimited, literal, only, text_of
from tasks.mining.corpus.items import Dataset, Paper, Record
from tasks.mining.corpus.packages import STANDARD_LIBRARY
from tasks.mining.corpus.shapes import Values, exploded, grouped, mapped, remembered

_UNITS = ("unit", "measurement", "conversion", "physics", "dimension", "quantity", "calculation", "mathematics")
_HTTP = ("http", "status", "web", "browser", "request", "response", "network", "protocol", "test", "page")
_HELP = ("documentation", "search", "reference", "topic", "python", "library", "help", "keyword", "article")
_DEVICES = ("browser", "device", "viewport", "screen", "mobile", "emulation", "automation", "test", "playwright")
_TREND = ("indicator", "trend", "development", "population", "income", "life", "statistics", "news", "report")
_JOBS = ("employment", "jobs", "sector", "industry", "economy", "labour", "statistics", "news", "trend")
_BUNDLE = "playwright/driver/package/lib/coreBundle.js"
_BROWSERS = "playwright/driver/package/browsers.json"
_SYSTEM = re.compile(r"(Android|iPhone OS|CPU OS|Windows NT|Mac OS X|Windows Phone|Tizen|BB10|KAIOS)")
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


@remembered
def _statuses(files: Mapping[str, bytes]) -> Iterator[Record]:
    for match in re.finditer(
        r"^    ([A-Z_]+) = (?:\()?(\d{3}), '([^']+)'(?:,\s*'([^']*)')?", text_of(only(files)), re.M
    ):
        code = int(match[2])
        yield (
            f"HTTPStatus.{match[1]}",
            {
                "code": code,
                "phrase": match[3],
                "about": match[4] or None,
                "class": f"{code // 100}xx",
                "error": code >= 400,
            },
        )


def _status_class(name: str, statuses: list[Values]) -> Values:
    codes = [status["code"] for status in statuses]
    return {"class": name, "count": len(codes), "error": name >= "4"}


@remembered
def _media(files: Mapping[str, bytes]) -> Iterator[Record]:
    source = text_of(only(files))
    for match in re.finditer(r"^\s+'(\.[\w.+-]+)'\s*:\s*'([\w.+-]+/[\w.+-]+)'", source, re.M):
        if source.rfind("common_types", 0, match.start()) < source.rfind("types_map", 0, match.start()):
            yield (
                f"mimetypes.types_map[{match[1]!r}]",
                {
                    "extension": match[1],
                    "media_type": match[2],
                    "family": match[2].split("/")[0],
                },
            )


def _family(name: str, types: list[Values]) -> Values:
    return {"family": name, "count": len(types)}


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


@remembered
def _devices(files: Mapping[str, bytes]) -> Iterator[Record]:
    source = text_of(files[_BUNDLE])
    start = source.find("deviceDescriptorsSource_default = {")
    if start < 0:
        raise ValueError("holds no device descriptors")
    body = source[source.index("{", start) :]
    text = re.sub(r"^(\s*)(\w+):", r'\1"\2":', body[: body.index("\n    };") + 6], flags=re.M)
    devices: dict[str, Any] = json.loads(text)
    for name, device in devices.items():
        agent = _SYSTEM.search(device["userAgent"])
        yield (
            f"deviceDescriptorsSource[{name!r}]",
            {
                "name": name,
                "browser": device["defaultBrowserType"],
                "width": device["viewport"]["width"],
                "height": device["viewport"]["height"],
                "scale": device["deviceScaleFactor"],
                "mobile": device["isMobile"],
                "touch": device["hasTouch"],
                "landscape": "landscape" in name,
                "system": agent[1] if agent else None,
            },
        )


def _engines(files: Mapping[str, bytes]) -> Iterator[Record]:
    counts = Counter(values["browser"] for _, values in _devices(files))
    for index, browser in enumerate(json.loads(files[_BROWSERS])["browsers"]):
        if "browserVersion" in browser:
            yield (
                f"$.browsers[{index}]",
                {
                    "browser": browser["name"],
                    "version": browser["browserVersion"],
                    "revision": browser["revision"],
                    "default": browser["installByDefault"],
                    "count": counts[browser["name"]],
                },
            )


def _land(values: Values) -> Values:
    return {**values, "id": f"{values['country']}-{values['year']}", "income": round(float(values["gdpPercap"]), 2)}


def _land_summary(name: str, years: list[Values]) -> Values:
    return {"country": name, "continent": years[0]["continent"], "years": len(years)}


def _sectors(values: Values) -> Iterator[Values]:
    for sector, count in values.items():
        if sector not in ("month", "nonfarm_change"):
            yield {
                "id": f"{sector}-{values['month'][:7]}",
                "sector": sector,
                "title": sector.replace("_", " "),
                "month": values["month"],
                "jobs": float(count),
            }


def _sector(name: str, months: list[Values]) -> Values:
    jobs = [month["jobs"] for month in months]
    return {"sector": name, "title": months[0]["title"], "lowest": min(jobs), "highest": max(jobs)}


_employment = exploded(delimited(), _sectors)


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
        name="http_statuses",
        package=STANDARD_LIBRARY,
        path="http/__init__.py",
        load=_statuses,
        title="HTTP status codes",
        description="Status codes of HTTP with phrase, explanation and class.",
        topics=_HTTP,
        noun="http status",
        nouns="http statuses",
        key="status_code",
        label="phrase",
        columns={
            "status_code": ("code", "three-digit code"),
            "phrase": ("phrase", "standard phrase"),
            "status_class": ("class", "class of the code, e.g. 4xx"),
            "is_error": ("error", "whether it says that something failed"),
            "about": ("about", "explanation"),
        },
        transform="read the enumeration HTTPStatus",
    ),
    Dataset(
        name="http_classes",
        package=STANDARD_LIBRARY,
        path="http/__init__.py",
        load=grouped(_statuses, lambda values: values["class"], _status_class),
        title="Classes of HTTP status codes",
        description="The five classes of HTTP status codes.",
        topics=_HTTP,
        noun="status class",
        nouns="status classes",
        key="status_class",
        columns={
            "status_class": ("class", "class of the codes"),
            "status_count": ("count", "codes of the class"),
            "is_error": ("error", "whether its codes say that something failed"),
        },
        transform="derive:group statuses by first digit",
    ),
    Dataset(
        name="media_types",
        package=STANDARD_LIBRARY,
        path="mimetypes.py",
        load=_media,
        title="Internet media types",
        description="File extensions with their internet media type (MIME).",
        topics=(*_HTTP, "mime", "file", "format", "document", "data"),
        noun="file extension",
        nouns="file extensions",
        key="extension",
        columns={
            "extension": ("extension", "file name extension"),
            "media_type": ("media_type", "internet media type"),
            "media_family": ("family", "part before the slash"),
        },
        transform="read the literal types_map",
    ),
    Dataset(
        name="media_families",
        package=STANDARD_LIBRARY,
        path="mimetypes.py",
        load=grouped(_media, lambda values: values["family"], _family),
        title="Families of media types",
        description="Application, audio, image, text and other families of media types.",
        topics=(*_HTTP, "mime", "file", "format"),
        noun="media family",
        nouns="media families",
        key="media_family",
        columns={
            "media_family": ("family", "name of the family"),
            "extension_count": ("count", "extensions of the family"),
        },
        transform="derive:group media types by family",
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
    Dataset(
        name="devices",
        package="playwright",
        path="playwright/driver/package/*",
        keep=(_BUNDLE, _BROWSERS).__contains__,
        load=_devices,
        title="Devices for browser tests",
        description="Phones, tablets and desktops that a test browser can imitate, with viewport and engine.",
        topics=_DEVICES,
        noun="device",
        nouns="devices",
        key="device_name",
        columns={
            "device_name": ("name", "name of the device"),
            "browser_name": ("browser", "browser engine that it uses"),
            "operating_system": ("system", "system in the user agent"),
            "viewport_width_pixels": ("width", "width of the page"),
            "viewport_height_pixels": ("height", "height of the page"),
            "scale_factor": ("scale", "physical pixels for a page pixel"),
            "is_mobile": ("mobile", "whether it is a mobile device"),
            "has_touch": ("touch", "whether it has a touch screen"),
            "is_landscape": ("landscape", "whether it is turned sideways"),
        },
        transform="read the device descriptors; derive:operating_system,is_landscape",
    ),
    Dataset(
        name="browsers",
        package="playwright",
        path="playwright/driver/package/*",
        keep=(_BUNDLE, _BROWSERS).__contains__,
        load=_engines,
        title="Browsers for tests with versions",
        description="Browsers that tests run in, with version, revision and the number of devices that use them.",
        topics=(*_DEVICES, "version"),
        noun="browser",
        nouns="browsers",
        key="browser_name",
        columns={
            "browser_name": ("browser", "name of the browser"),
            "browser_version": ("version", "version that tests run in"),
            "revision": ("revision", "revision of the build"),
            "is_default": ("default", "whether it is installed by default"),
            "device_count": ("count", "devices in the source that use it"),
        },
        transform="extract json; derive:device_count",
    ),
    Dataset(
        name="indicators",
        package="gapminder",
        path="gapminder/gapminder.csv",
        load=mapped(delimited(), _land),
        title="Development indicators",
        description="Life expectancy, population and income of countries, every five years from 1952 to 2007.",
        topics=_TREND,
        noun="indicator",
        nouns="indicators",
        key="indicator_id",
        columns={
            "indicator_id": ("id", "country and year"),
            "nation_name": ("country", "country that was measured"),
            "year": ("year", "year of the figures"),
            "life_expectancy_years": ("lifeExp", "life expectancy at birth"),
            "population": ("pop", "number of people"),
            "income_usd_per_person": ("income", "gross domestic product per person"),
        },
        transform="derive:indicator_id; income rounded",
    ),
    Dataset(
        name="nations",
        package="gapminder",
        path="gapminder/gapminder.csv",
        load=grouped(delimited(), lambda values: values["country"], _land_summary),
        title="Countries with development indicators",
        description="Countries and the continents that they lie on.",
        topics=_TREND,
        noun="nation",
        nouns="nations",
        key="nation_name",
        columns={
            "nation_name": ("country", "name of the country"),
            "continent": ("continent", "continent"),
            "year_count": ("years", "years with figures in the source"),
        },
        transform="derive:group indicators by country",
    ),
    Dataset(
        name="employment",
        package="vega_datasets",
        path="vega_datasets/_data/us-employment.csv",
        load=_employment,
        title="Employment in the USA by sector",
        description="Jobs in thousands by sector and month, 2006 to 2015 (BLS).",
        topics=_JOBS,
        noun="employment figure",
        nouns="employment figures",
        key="figure_id",
        columns={
            "figure_id": ("id", "sector and month"),
            "sector_code": ("sector", "sector of the economy"),
            "month_date": ("month", "first day of the month"),
            "jobs_thousands": ("jobs", "thousands of jobs, seasonally adjusted"),
        },
        transform="melt one row a sector and month",
    ),
    Dataset(
        name="sectors",
        package="vega_datasets",
        path="vega_datasets/_data/us-employment.csv",
        load=grouped(_employment, lambda values: values["sector"], _sector),
        title="Sectors of the economy",
        description="Sectors with the lowest and highest number of jobs between 2006 and 2015.",
        topics=_JOBS,
        noun="sector",
        nouns="sectors",
        key="sector_code",
        label="sector_title",
        columns={
            "sector_code": ("sector", "short name"),
            "sector_title": ("title", "name of the sector"),
            "lowest_jobs_thousands": ("lowest", "fewest jobs in a month"),
            "highest_jobs_thousands": ("highest", "most jobs in a month"),
        },
        transform="derive:group employment by sector",
    ),
)
