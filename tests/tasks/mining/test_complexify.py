"""Complexification: connected tables, added round by round, with what was there left as it is."""

from __future__ import annotations

import pytest
from mining_example import airport_findings, check_invariants, flight_theme, is_connected, opened

from schemas.actions import check_actions
from tasks.mining import World, build
from tasks.mining.complexify import preferred
from tasks.mining.connectors import CONNECTORS

GUIDELINES = (
    {"skills": ["aggregate"], "kinds": ["graph"], "needs_data": True},
    {"skills": ["update", "loop"], "kinds": ["program"], "needs_data": True},
    {"skills": ["get"], "kinds": ["graph"], "needs_data": False},
)


def world(rounds: int, guideline: dict | None = None) -> World:
    return build(flight_theme(), airport_findings(), seed=5, rounds=rounds, guideline=guideline)


def rows(of: World, table: str) -> list[tuple]:
    names = ", ".join(column.name for column in of.database.table(table).columns)
    return opened(of.snapshot).execute(f"SELECT {names} FROM {table} ORDER BY 1").fetchall()


def test_each_round_adds_connected_tables_and_leaves_the_rest() -> None:
    worlds = [world(rounds) for rounds in range(4)]
    assert worlds[0].database.added_tables == () and worlds[0].database.complexified == 0
    for before, after in zip(worlds, worlds[1:], strict=False):
        new = set(after.database.added_tables) - set(before.database.added_tables)
        assert after.database.complexified == before.database.complexified + 1
        assert new == {t.name for t in after.database.tables} - {t.name for t in before.database.tables}
        assert len(after.database.actions) > len(before.database.actions)
        for table in before.database.tables:
            assert rows(after, table.name) == rows(before, table.name)
        old = {table.name for table in before.database.tables}
        targets = {
            column.references.partition(".")[0]
            for name in new
            for column in after.database.table(name).columns
            if column.references
        }
        assert len(targets & old) >= 2, "added tables must join tables that were there"
        assert is_connected(after) and check_invariants(after) == [] and check_actions(after.database) == []


def test_rounds_end_with_a_reason_when_nothing_is_left_to_connect() -> None:
    many = world(9)
    assert many.database.complexified < 9
    assert {entry.gate for entry in many.rejections} == {"no_connector"}
    assert check_invariants(many) == []


@pytest.mark.parametrize("guideline", GUIDELINES)
def test_a_guideline_steers_what_is_added(guideline: dict) -> None:
    first = preferred(flight_theme(), guideline, 1)[0]
    assert first.skills & set(guideline["skills"])
    directed = world(1, guideline)
    assert check_invariants(directed) == [] and is_connected(directed)
    plain = world(1)
    assert directed.database.env_id != plain.database.env_id
    if guideline["needs_data"]:
        assert len(directed.database.added_tables) > len(plain.database.added_tables)


def test_all_connectors_are_used_somewhere() -> None:
    marks = {entry.transform for entry in world(9).provenance}
    used = {connector.name for connector in CONNECTORS if any(f"generated:{connector.name} " in mark for mark in marks)}
    assert used == {connector.name for connector in CONNECTORS}
