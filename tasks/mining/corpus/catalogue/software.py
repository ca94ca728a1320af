"""Licences, programming languages, installed packages and language models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from typing import Any

from tasks.mining.corpus.formats import assigned, json_records, literal, only, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.packages import INSTALLED
from tasks.mining.corpus.shapes import Values, exploded, grouped, mapped, remembered

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?\s*\(?([^;()]*)\)?\s*(;.*)?$")
_INDEX = "license_expression/data/scancode-licensedb-index.json"
_LICENCES = ("licence", "license", "spdx", "open", "source", "compliance", "software", "legal")
_PACKAGES = ("package", "python", "pypi", "dependency", "version", "release", "repository", "artifact", "software")
_LANGUAGES = ("programming", "language", "source", "code", "file", "syntax", "editor", "developer", "software")
_MODELS = ("model", "llm", "language", "token", "price", "context", "provider", "inference", "machine", "learning")


def _licence(values: Values) -> Values | None:
    if values["is_deprecated"] or values["spdx_license_key"].startswith("LicenseRef"):
        return None
    return values


def _licence_category(name: str, licences: list[Values]) -> Values:
    exceptions = sum(bool(licence["is_exception"]) for licence in licences)
    return {"category": name, "count": len(licences), "exceptions": exceptions}


@remembered
def _lexers(files: Mapping[str, bytes]) -> Iterator[Record]:
    for lexer, (module, name, aliases, patterns, media) in literal(assigned(text_of(only(files)), "LEXERS")).items():
        if aliases:
            yield (
                f"LEXERS[{lexer!r}]",
                {
                    "alias": aliases[0],
                    "name": name,
                    "family": module.rsplit(".", 1)[-1],
                    "patterns": patterns,
                    "media": media[0] if media else None,
                    "aliases": len(aliases),
                },
            )


def _patterns(values: Values) -> Iterator[Values]:
    for pattern in values["patterns"]:
        yield {"id": f"{values['alias']}:{pattern}", "pattern": pattern, "alias": values["alias"]}


def _family(name: str, languages: list[Values]) -> Values:
    return {"family": name, "count": len(languages), "patterns": sum(len(item["patterns"]) for item in languages)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@remembered
def _distributions(files: Mapping[str, bytes]) -> Iterator[Record]:
    for path, raw in files.items():
        headers = HeaderParser().parsestr(raw.decode("utf-8", errors="replace").split("\n\n", 1)[0])
        name = headers["Name"]
        if name:
            yield (
                path,
                {
                    "name": _normal(name),
                    "version": headers["Version"],
                    "summary": (headers["Summary"] or "").strip() or None,
                    "licence": headers["License-Expression"],
                    "python": headers["Requires-Python"],
                    "requires": headers.get_all("Requires-Dist") or [],
                },
            )


def _requirements(values: Values) -> Iterator[Values]:
    for requirement in values["requires"]:
        match = _REQUIREMENT.match(requirement)
        if match and "extra ==" not in (match[4] or ""):
            needed = _normal(match[1])
            yield {
                "id": f"{values['name']}>{needed}",
                "package": values["name"],
                "needed": needed,
                "versions": match[3].strip() or None,
            }


def _once(values: Iterator[Record]) -> Iterator[Record]:
    seen = set()
    for locator, record in values:
        if record["id"] not in seen:
            seen.add(record["id"])
            yield locator, record


def _dependencies(files: Mapping[str, bytes]) -> Iterator[Record]:
    return _once(exploded(_distributions, _requirements)(files))


@remembered
def _providers(files: Mapping[str, bytes]) -> Iterator[Record]:
    for index, provider in enumerate(literal(assigned(text_of(only(files)), "providers"))):
        yield f"providers[{index}]", {**provider, "count": len(provider.get("models") or [])}


def _model(provider: Values) -> Iterator[Values]:
    for model in provider.get("models") or []:
        prices: Any = model.get("prices") or {}
        prices = prices[-1].get("prices", {}) if isinstance(prices, list) else prices
        amounts = {name: prices.get(name) for name in ("input_mtok", "output_mtok")}
        if all(isinstance(amount, str) for amount in amounts.values()):
            yield {
                "id": f"{provider['id']}/{model['id']}",
                "name": model.get("name") or model["id"],
                "provider": provider["id"],
                "context": model.get("context_window"),
                "deprecated": bool(model.get("deprecated")),
                **{name: float(amount) for name, amount in amounts.items()},
            }


DATASETS = (
    Dataset(
        name="licences",
        package="license-expression",
        path=_INDEX,
        load=mapped(json_records(), _licence),
        title="Software licences with SPDX identifiers",
        description="Licences and exceptions of the ScanCode LicenseDB that have an SPDX identifier.",
        topics=_LICENCES,
        noun="licence",
        nouns="licences",
        key="spdx_identifier",
        columns={
            "spdx_identifier": ("spdx_license_key", "SPDX identifier"),
            "licence_key": ("license_key", "ScanCode key"),
            "licence_category": ("category", "kind of obligations"),
            "is_exception": ("is_exception", "whether it is an exception to another licence"),
        },
        transform="filter current licences with an SPDX identifier",
    ),
    Dataset(
        name="licence_categories",
        package="license-expression",
        path=_INDEX,
        load=grouped(mapped(json_records(), _licence), lambda values: values["category"], _licence_category),
        title="Categories of software licences",
        description="Copyleft, permissive and other categories of licences with counts.",
        topics=_LICENCES,
        noun="licence category",
        nouns="licence categories",
        key="licence_category",
        columns={
            "licence_category": ("category", "name of the category"),
            "licence_count": ("count", "licences of the category in the source"),
            "exception_count": ("exceptions", "how many of them are exceptions"),
        },
        transform="derive:group licences by category",
    ),
    Dataset(
        name="programming_languages",
        package="pygments",
        path="pygments/lexers/_mapping.py",
        load=_lexers,
        title="Programming languages and file formats",
        description="Languages that a syntax highlighter knows, with family and media type.",
        topics=_LANGUAGES,
        noun="programming language",
        nouns="programming languages",
        key="language_alias",
        label="language_name",
        columns={
            "language_alias": ("alias", "short name"),
            "language_name": ("name", "name of the language"),
            "language_family": ("family", "family that it is grouped with"),
            "media_type": ("media", "internet media type"),
            "alias_count": ("aliases", "number of short names"),
        },
        transform="read the literal LEXERS",
    ),
    Dataset(
        name="language_families",
        package="pygments",
        path="pygments/lexers/_mapping.py",
        load=grouped(_lexers, lambda values: values["family"], _family),
        title="Families of programming languages",
        description="Groups of related programming languages and file formats.",
        topics=_LANGUAGES,
        noun="language family",
        nouns="language families",
        key="language_family",
        columns={
            "language_family": ("family", "name of the family"),
            "language_count": ("count", "languages in the family"),
            "pattern_count": ("patterns", "file name patterns of the family"),
        },
        transform="derive:group languages by module",
    ),
    Dataset(
        name="file_patterns",
        package="pygments",
        path="pygments/lexers/_mapping.py",
        load=exploded(_lexers, _patterns),
        title="File name patterns of programming languages",
        description="File name patterns such as *.py with the language that they belong to.",
        topics=_LANGUAGES,
        noun="file pattern",
        nouns="file patterns",
        key="pattern_id",
        columns={
            "pattern_id": ("id", "language and pattern"),
            "file_pattern": ("pattern", "file name pattern"),
            "language_alias": ("alias", "language of such files"),
        },
        transform="read the literal LEXERS; one row a pattern",
    ),
    Dataset(
        name="packages",
        package=INSTALLED,
        path="*.dist-info/METADATA",
        load=_distributions,
        title="Python packages of this installation",
        description="Names, versions, summaries and licences from the metadata of installed Python packages.",
        topics=_PACKAGES,
        noun="package",
        nouns="packages",
        key="package_name",
        columns={
            "package_name": ("name", "normalized name"),
            "version": ("version", "installed version"),
            "summary": ("summary", "one line about it"),
            "spdx_identifier": ("licence", "SPDX licence expression"),
            "requires_python": ("python", "Python versions that it runs on"),
        },
    ),
    Dataset(
        name="dependencies",
        package=INSTALLED,
        path="*.dist-info/METADATA",
        load=_dependencies,
        title="Dependencies between Python packages",
        description="Which installed Python package requires which other, with the version range.",
        topics=(*_PACKAGES, "requirement"),
        noun="dependency",
        nouns="dependencies",
        key="dependency_id",
        columns={
            "dependency_id": ("id", "both package names"),
            "package_name": ("package", "package that requires"),
            "required_package_name": ("needed", "package that is required"),
            "version_range": ("versions", "versions that it accepts"),
        },
    ),
    Dataset(
        name="model_providers",
        package="genai-prices",
        path="genai_prices/data.py",
        load=_providers,
        title="Providers of language models",
        description="Companies and services that offer language models.",
        topics=_MODELS,
        noun="provider",
        nouns="providers",
        key="provider_id",
        label="provider_name",
        columns={
            "provider_id": ("id", "short name"),
            "provider_name": ("name", "name of the provider"),
            "listed_model_count": ("count", "models listed in the source"),
        },
        transform="read the literal providers",
    ),
    Dataset(
        name="language_models",
        package="genai-prices",
        path="genai_prices/data.py",
        load=exploded(_providers, _model),
        title="Language models with prices",
        description="Language models with context window and price of input and output tokens.",
        topics=_MODELS,
        noun="model",
        nouns="models",
        key="model_id",
        label="",
        columns={
            "model_id": ("id", "provider and model"),
            "model_name": ("name", "name of the model"),
            "provider_id": ("provider", "provider that offers it"),
            "context_window_tokens": ("context", "longest input"),
            "input_usd_per_million": ("input_mtok", "price of a million input tokens"),
            "output_usd_per_million": ("output_mtok", "price of a million output tokens"),
            "is_deprecated": ("deprecated", "whether the provider calls it deprecated"),
        },
        transform="read the literal providers; one row a model with flat prices",
    ),
)
