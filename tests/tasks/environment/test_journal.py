"""The journal of touched rows and the comparison of whole states agree, whatever is written."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.environment import Differ, StateError, state_hash
from tasks.environment.runtime.engine import Engine

SCHEMA = """
CREATE TABLE teams (team TEXT NOT NULL PRIMARY KEY, size INTEGER NOT NULL CHECK (size >= 0)) STRICT;
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, team TEXT REFERENCES teams ON DELETE CASCADE
    ON UPDATE CASCADE) STRICT;
CREATE TABLE shifts (day TEXT, person INTEGER, hours REAL, PRIMARY KEY (day, person)) WITHOUT ROWID;
CREATE TABLE notes (text TEXT, weight);
CREATE TABLE audit (entry TEXT);
CREATE TABLE "odd ""name" ("the key" TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, rowid TEXT);
CREATE TRIGGER logged AFTER UPDATE ON teams BEGIN INSERT INTO audit VALUES (OLD.team); END;
"""
TOOL = """
import sqlite3
def write(ctx, *, statements: list, fail: bool) -> dict:
    for sql in statements:
        try:
            ctx.db.execute(sql)
        except sqlite3.Error:
            pass
    return ctx.refuse("NO", "as asked") if fail else {}
"""


def snapshot() -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    for number, team in enumerate("abcd"):
        connection.execute("INSERT INTO teams VALUES (?, ?)", (team, number))
        connection.execute("INSERT INTO people VALUES (?, ?, ?)", (number, f"p{number}", team))
        connection.execute("INSERT INTO shifts VALUES (?, ?, ?)", (f"d{number % 2}", number, number / 2))
        connection.execute("INSERT INTO notes VALUES (?, ?)", ("same", number // 2))
        connection.execute('INSERT INTO "odd ""name" VALUES (?, ?)', (f"K{number}", "x"))
    return connection.serialize()


SNAPSHOT = snapshot()
HEADER = {
    "tools": {"write": TOOL},
    "schemas": {"write": {"type": "object"}},
    "start_time": "2026-01-01T00:00:00",
    "journal": True,
    "log_tables": ["audit"],
}
TEAM, NUMBER = st.sampled_from("abcdef"), st.integers(0, 5)
STATEMENTS = st.one_of(
    st.builds("UPDATE teams SET size = size + {} WHERE team >= '{}'".format, st.integers(-2, 2), TEAM),
    st.builds("UPDATE teams SET team = '{}' WHERE team = '{}'".format, TEAM, TEAM),
    st.builds("DELETE FROM teams WHERE team = '{}'".format, TEAM),
    st.builds("INSERT INTO teams VALUES ('{}', {})".format, TEAM, NUMBER),
    st.builds("REPLACE INTO people VALUES ({}, 'p{}', '{}')".format, NUMBER, NUMBER, TEAM),
    st.builds("UPDATE people SET rowid = {} WHERE id = {}".format, st.integers(0, 9), NUMBER),
    st.builds("UPDATE OR REPLACE people SET name = 'p{}' WHERE id = {}".format, NUMBER, NUMBER),
    st.builds("INSERT INTO shifts VALUES ('d{}', {}, {}) ON CONFLICT DO UPDATE SET hours = hours + 1".format,
              NUMBER, NUMBER, NUMBER),
    st.builds("UPDATE OR IGNORE shifts SET person = {} WHERE hours < {}".format, NUMBER, NUMBER),
    st.builds("INSERT INTO notes VALUES ('same', {})".format, st.sampled_from(["0", "1", "1.0", "NULL"])),
    st.builds("DELETE FROM notes WHERE rowid = {}".format, NUMBER),
    st.builds("UPDATE notes SET weight = {} WHERE rowid = {}".format, NUMBER, NUMBER),
    st.builds("UPDATE notes SET rowid = rowid + 10 WHERE rowid = {}".format, NUMBER),
    st.builds("UPDATE \"odd \"\"name\" SET rowid = 'y{}' WHERE \"the key\" = 'k{}'".format, NUMBER, NUMBER),
    st.builds("UPDATE \"odd \"\"name\" SET \"the key\" = 'k{}' WHERE \"the key\" = 'k{}'".format, NUMBER, NUMBER),
    st.just("DELETE FROM notes"),
    st.just("DELETE FROM people"),
    st.just("INSERT INTO audit VALUES ('x')"),
    st.just("UPDATE teams SET size = size"),
)  # fmt: skip
EPISODE = st.lists(st.tuples(st.lists(STATEMENTS, max_size=5), st.booleans()), max_size=4)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(HEADER, SNAPSHOT, output_bytes=10_000, frozen=False)


@settings(max_examples=150, deadline=None)
@given(EPISODE)
def test_journal_and_states_tell_the_same_difference(engine, episode):
    engine.start(0)
    for statements, fail in episode:
        engine.call("write", {"statements": statements, "fail": fail})
    with closing(Differ(SNAPSHOT, ("audit",))) as differ:
        changes = differ.changes(engine.state())
        assert differ.journaled(json.loads(engine.changed())) == changes
        assert list(changes) == sorted(changes, key=lambda change: (change.table, change.operation))
    assert bool(changes) == (state_hash(engine.state(), ("audit",)) != state_hash(SNAPSHOT, ("audit",)))
    engine.start(1)
    assert state_hash(engine.state()) == state_hash(SNAPSHOT) and engine.changed() == "[]"


def test_cells_beyond_json_leave_the_difference_to_the_state(engine):
    for value in ("9e999", "x'00ff'"):
        engine.start(0)
        engine.call("write", {"statements": [f"UPDATE notes SET weight = {value}"], "fail": False})
        assert engine.changed() == "null"
        with closing(Differ(SNAPSHOT)) as differ, pytest.raises(StateError, match=r"notes\.weight.*JSON"):
            differ.changes(engine.state())
    engine.start(0)


FORGED = (
    None, 7, {}, "[]", [1], [[0]], [[0, ["a"], ["a", 1], 2]], [[-1, ["a"], None]], [[99, ["a"], None]],
    [[True, ["a"], None]], [["0", ["a"], None]], [[3, ["a"], None]], [[4, [{}], None]], [[4, [[1]], None]],
    [[4, ["a"], ["a"]]], [[4, ["a"], ["a", 1, 2]]], [[4, ["a"], {"team": "a"}]], [[4, ["a"], ["a", [1]]]],
    [[4, ["a"], ["a", True]]], [[4, ["a"], ["a", 1e999]]], [[4, [2**80], ["a", 1]]],
)  # fmt: skip


@pytest.mark.parametrize("journal", FORGED, ids=repr)
def test_journals_of_another_form_are_refused(journal):
    with closing(Differ(SNAPSHOT, ("audit",))) as differ, pytest.raises(StateError):
        differ.journaled(journal)


def test_foreign_code_is_not_believed_on_its_journal():
    with closing(Differ(SNAPSHOT, wary=True)) as differ:
        assert differ.journaled([]) == ()
        with pytest.raises(StateError, match="without the state"):
            differ.journaled([[4, ["a"], None]])
