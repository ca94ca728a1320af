"""Assembly: provenance of everything, the policy document, limits, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mining_example import SOURCE, airport_findings, flight_theme, opened

from schemas.base import content_hash
from tasks.mining import Findings, MinedDocument, MinedTable, MiningError, World, build
from tasks.mining.gates import sound
from tasks.mining.trim import trim


@pytest.fixture(scope="module")
def world() -> World:
    return build(flight_theme(), airport_findings(), seed=1)


def test_every_row_and_document_has_provenance(world: World) -> None:
    connection = opened(world.snapshot)
    there = {
        (table.name, str(key))
        for table in world.database.tables
        for (key,) in connection.execute(f"SELECT {table.key} FROM {table.name}")
    }
    there |= {("documents", name) for (name,) in connection.execute("SELECT name FROM documents")}
    told = [(entry.table_name, entry.row_key) for entry in world.provenance]
    assert len(told) == len(set(told)) and set(told) == there
    sources = {source.source_id: source for source in world.sources}
    assert {entry.source_id for entry in world.provenance} == set(sources)
    for entry in world.provenance:
        generated = sources[entry.source_id].uri.startswith("generator:")
        assert entry.transform.startswith("generated:") == (generated and entry.table_name != "documents")
    assert world.database.snapshot_sha256 == content_hash(world.snapshot)


def test_policies_state_every_rule_and_name_no_tool(world: World) -> None:
    (text,) = opened(world.snapshot).execute("SELECT content FROM documents WHERE name = 'policies.md'").fetchone()
    for action in world.database.actions:
        assert action.description in text
        assert action.name not in text
        for rule in action.rules:
            assert rule.message in text and rule.cites.startswith("policies.md#")
            assert f"## {rule.cites.partition('#')[2].partition(';')[0]}" in text


def test_a_rule_cites_the_source_that_states_it(world: World) -> None:
    create = next(action for action in world.database.actions if action.name == "create_flight_booking")
    cited = {rule.code: rule.cites for rule in create.rules}
    assert "file:///flight.md" in cited["NO_PLACES_LEFT"] and "not enough places left" in cited["NO_PLACES_LEFT"]
    assert "file:///flight.md" not in cited["TRAVELLER_NOT_ACTIVE"]


def without_rows(mined: MinedTable) -> MinedTable:
    return MinedTable(mined.table.model_copy(update={"rows": 0}), [], mined.source_id, [], mined.transform)


def test_broken_findings_are_left_out_with_a_reason() -> None:
    findings = airport_findings()
    countries, airports = findings.tables
    kept, rejections = sound(replace(findings, tables=[without_rows(countries), airports]))
    assert [r.gate for r in rejections] == ["empty_table"]
    assert kept[0].table.column("country_code").references == "" and len(kept[0].rows) == len(airports.rows)
    rows = [dict(row, country_code="??") if n < 30 else row for n, row in enumerate(airports.rows)]
    kept, rejections = sound(replace(findings, tables=[countries, replace(airports, rows=rows)]))
    assert [r.gate for r in rejections] == ["broken_reference"] and "30 of 200" in rejections[0].reason
    assert len(kept[1].rows) == 170
    kept, rejections = sound(replace(findings, sources=[]))
    assert kept == [] and {r.gate for r in rejections} == {"no_source"}
    double = replace(airports, rows=[airports.rows[0]] * len(airports.rows))
    assert [r.gate for r in sound(replace(findings, tables=[countries, double]))[1]] == ["duplicate_key"]


def test_a_world_without_data_is_refused() -> None:
    for findings in (Findings("flight-booking-00000000"), airport_findings(12)):
        with pytest.raises(MiningError) as caught:
            build(flight_theme(), findings, seed=1)
        assert caught.value.rejections[-1].gate == "no_resource"


def test_a_value_that_does_not_fit_is_refused() -> None:
    findings = airport_findings()
    airports = findings.tables[1]
    rows = [dict(row, elevation_feet="high") for row in airports.rows]
    with pytest.raises(MiningError, match="elevation_feet"):
        build(flight_theme(), replace(findings, tables=[findings.tables[0], replace(airports, rows=rows)]), seed=1)


def test_large_documents_and_double_names_are_left_out() -> None:
    findings = airport_findings()
    document = findings.documents[0]
    huge = MinedDocument(
        document.document.model_copy(update={"name": "huge.md"}), "x" * 600_000, SOURCE.source_id, "", "extract"
    )
    world = build(flight_theme(), replace(findings, documents=[document, document, huge]), seed=1)
    assert sorted(r.gate for r in world.rejections) == ["document_too_large", "duplicate_document"]
    assert [d.name for d in world.database.documents] == ["airports.md", "policies.md"]


def test_trim_keeps_references_whole() -> None:
    tables = airport_findings(3000).tables
    small = trim(tables, 500, 7)
    assert sum(len(mined.rows) for mined in small) <= 700
    codes = {row["country_code"] for row in small[0].rows}
    assert {row["country_code"] for row in small[1].rows} <= codes
    assert [m.rows for m in trim(tables, 500, 7)] == [m.rows for m in small]
    assert [m.rows for m in trim(tables, 500, 8)] != [m.rows for m in small]
    assert small[1].transform.endswith("sample seed 7")
