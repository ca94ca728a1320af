"""From every embedded theme to a world over the real corpus."""

from __future__ import annotations

import time

import pytest
from mining_example import check_invariants, is_connected, opened

from schemas.actions import check_actions
from schemas.theme import Theme
from tasks.mining import STAGE_VERSION, Corpus, World, mine, open_corpus, variant
from tasks.themes import collect

THEMES: list[Theme] = collect().themes


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    corpus = open_corpus()
    mine(THEMES[0], corpus, seed=0)
    return corpus


@pytest.fixture(scope="module")
def worlds(corpus: Corpus) -> dict[str, tuple[World, float]]:
    made = {}
    for theme in THEMES:
        start = time.process_time()
        made[theme.theme_id] = mine(theme, corpus, seed=1), time.process_time() - start
    return made


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.theme_id)
def test_a_theme_becomes_a_world(theme: Theme, worlds: dict[str, tuple[World, float]]) -> None:
    world, _ = worlds[theme.theme_id]
    database = world.database
    assert check_actions(database) == []
    assert check_invariants(world) == []
    assert is_connected(world)
    mined = [table for table in database.tables if table.origin == "mined"]
    generated = [table for table in database.tables if table.origin == "generated"]
    assert max(table.rows for table in mined) >= 20 and len(generated) >= 5
    assert sum(table.rows for table in database.tables) <= 2500 and len(world.snapshot) <= 1_500_000
    assert 10 <= len(database.actions) <= 14
    assert {action.kind for action in database.actions} == {"create", "transition", "update"}
    assert sum(bool(action.rules) for action in database.actions) >= len(database.actions) // 2
    assert len({document.media_type for document in database.documents}) >= 3
    assert database.complexified == 1 and set(database.added_tables) <= {table.name for table in database.tables}
    assert opened(world.snapshot).execute("PRAGMA foreign_key_check").fetchall() == []


def test_mining_is_quick(worlds: dict[str, tuple[World, float]]) -> None:
    seconds = sorted(spent for _, spent in worlds.values())
    assert seconds[len(seconds) // 2] < 1.0 and seconds[-1] < 2.5


def test_processes_differ_between_themes(worlds: dict[str, tuple[World, float]]) -> None:
    processes = {
        entry.transform.partition(" ")[0]
        for world, _ in worlds.values()
        for entry in world.provenance
        if entry.transform.startswith("generated:")
    }
    assert len(processes) >= 12


def test_the_same_seed_gives_the_same_bytes_and_another_a_variant(
    corpus: Corpus, worlds: dict[str, tuple[World, float]]
) -> None:
    for theme in THEMES[::7]:
        world, _ = worlds[theme.theme_id]
        again = mine(theme, corpus, seed=1)
        assert again.snapshot == world.snapshot and again.database == world.database
        assert again.provenance == world.provenance
        other = variant(theme, corpus, world, seed=2)
        assert other.snapshot != world.snapshot
        assert other.database.env_id != world.database.env_id
        assert other.database.start_time == world.database.start_time
        shape = [(table.name, [c.name for c in table.columns]) for table in world.database.tables]
        assert [(table.name, [c.name for c in table.columns]) for table in other.database.tables] == shape
        assert other.database.actions == world.database.actions


def test_the_stage_has_a_version() -> None:
    assert STAGE_VERSION
