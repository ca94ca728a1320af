"""Every archetype on real rows: a schema that its actions fit, a state that holds, actions that can be done."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from random import Random

import pytest
from mining_example import airport_findings, flight_theme, opened

from schemas.actions import check_actions
from schemas.database import Action, Database
from tasks.environment import build_snapshot
from tasks.mining.workflows import ARCHETYPES, Draft, Match, choose, compose
from tasks.mining.workflows.draft import with_counts
from tasks.mining.workflows.nouns import Noun, stem
from tasks.mining.workflows.plan import Archetype, Moment
from tasks.mining.workflows.simulate import Simulator

START = datetime(2024, 5, 6, 9)


def composed(first: Archetype, second: Archetype, wording: int = -1, seed: int = 3) -> Draft:
    draft = Draft(START)
    for mined in airport_findings().tables:
        draft.add_mined(mined)
    airports = draft.tables["airports"]
    matches = [Match(one, airports, one.wordings[wording], 1.0, ()) for one in (first, second)]
    compose(draft, flight_theme(), matches, seed)
    return draft


def record(draft: Draft) -> Database:
    return Database(
        env_id="e",
        theme_id="t",
        name="n",
        description="d",
        tables=tuple(with_counts(draft)),
        actions=tuple(draft.actions),
        start_time=START.strftime("%Y-%m-%dT%H:%M:%S"),
        snapshot_sha256="",
    )


PAIRS = [
    (first, ARCHETYPES[(place + step) % len(ARCHETYPES)]) for place, first in enumerate(ARCHETYPES) for step in (1, 5)
]


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda one: one.name)
def test_a_pair_of_processes_makes_a_coherent_state(first: Archetype, second: Archetype) -> None:
    draft = composed(first, second)
    database = record(draft)
    assert check_actions(database) == []
    snapshot = build_snapshot(database, {name: list(rows.values()) for name, rows in draft.rows.items()})
    connection = opened(snapshot)
    assert len(draft.invariants) >= 4
    for invariant in draft.invariants:
        assert connection.execute(invariant.violations).fetchall() == [], invariant.meaning
    generated = [table for table in database.tables if table.origin == "generated" and not table.log]
    assert 3 <= len(generated) <= 9
    assert 8 <= len(database.actions) <= 12
    assert any(40 <= table.rows <= 150 for table in generated)


@pytest.mark.parametrize("archetype", ARCHETYPES, ids=lambda one: one.name)
def test_history_spreads_over_states_and_people(archetype: Archetype) -> None:
    draft = composed(archetype, ARCHETYPES[0] if archetype is not ARCHETYPES[0] else ARCHETYPES[1])
    workflow = archetype.build(_names(archetype, draft))
    states = Counter(row["status"] for row in draft.rows[workflow.record].values())
    assert len(states) >= 3 and max(states.values()) < 0.85 * states.total()
    references = [c.name for c in draft.tables[workflow.record].columns if c.references]
    busiest = [
        Counter(row[name] for row in draft.rows[workflow.record].values()).most_common(1)[0][1] for name in references
    ]
    assert max(busiest) > 3, "some rows must come more often than others"


@pytest.mark.parametrize("archetype", ARCHETYPES, ids=lambda one: one.name)
def test_every_offered_action_can_be_done_from_the_start(archetype: Archetype) -> None:
    draft = composed(archetype, ARCHETYPES[3] if archetype is not ARCHETYPES[3] else ARCHETYPES[4])
    workflow = archetype.build(_names(archetype, draft))
    for action in draft.actions:
        if action.table not in {seed.table.name for seed in workflow.seeds}:
            continue
        outcomes = Counter(_attempt(draft, action, workflow.samples.get(action.name, {}), n) for n in range(400))
        assert outcomes[""], f"{action.name} was always refused: {dict(outcomes)}"


def _names(archetype: Archetype, draft: Draft):
    from tasks.mining.workflows.plan import Names

    wording = archetype.wordings[-1]
    nouns = [
        Noun(text.replace("{resource}", "airport") or "unit") for text in (wording.party, wording.unit, wording.record)
    ]
    return Names(draft.tables["airports"], *nouns)


def _attempt(draft: Draft, action: Action, samples: dict, n: int) -> str:
    """Try an action on copies of the rows, so that nothing changes; return '' or why it was refused."""
    rng = Random(n)
    table = draft.tables[action.table]
    keys = sorted(draft.rows[table.name], key=str)
    row = {} if action.kind == "create" else dict(draft.rows[table.name][rng.choice(keys)])
    moment = Moment(draft, rng, table, dict(row), 1000 + n, START)
    try:
        filled = draft.fill(moment, [table.column(name) for name in action.parameters], samples)
    except ValueError:
        return "NO_VALUE"
    arguments = {name: filled[name] for name in action.parameters}
    simulator = Simulator(_Frozen(draft), rng)
    return simulator.perform(action, row, arguments, START)


class _Frozen(Draft):
    """A draft that hands out copies of its rows."""

    def __init__(self, draft: Draft) -> None:
        rows = {name: dict(there) for name, there in draft.rows.items()}
        super().__init__(draft.start, draft.tables, rows)

    def target(self, table, row, column):
        return dict(super().target(table, row, column))


@pytest.mark.parametrize("archetype", ARCHETYPES, ids=lambda one: one.name)
def test_invariants_survive_any_sequence_of_actions(archetype: Archetype) -> None:
    draft = composed(archetype, ARCHETYPES[9] if archetype is not ARCHETYPES[9] else ARCHETYPES[10], seed=11)
    workflow = archetype.build(_names(archetype, draft))
    rng = Random(5)
    simulator = Simulator(draft, rng)
    own = [action for action in workflow.actions if action.name not in ("suspend", "reinstate")]
    done = 0
    for n in range(600):
        action = rng.choice(own)
        table = draft.tables[action.table]
        row = {} if action.kind == "create" else draft.rows[table.name][draft.some_key(table.name, rng, 1.0)]
        moment = Moment(draft, rng, table, dict(row), 2000 + n, START)
        try:
            columns = [table.column(name) for name in action.parameters]
            filled = draft.fill(moment, columns, workflow.samples.get(action.name, {}))
        except (ValueError, KeyError):
            continue
        done += simulator.perform(action, row, {name: filled[name] for name in action.parameters}, START) == ""
    assert done > 60
    connection = opened(build_snapshot(record(draft), {name: list(rows.values()) for name, rows in draft.rows.items()}))
    for invariant in draft.invariants:
        assert connection.execute(invariant.violations).fetchall() == [], invariant.meaning


def test_a_refusal_changes_nothing_and_names_its_rule() -> None:
    draft = composed(ARCHETYPES[0], ARCHETYPES[1])
    create = next(a for a in draft.actions if a.name == "create_session_booking")
    units = draft.rows["airport_sessions"]
    full = next(k for k, row in units.items() if row["status"] == "open")
    units[full]["places_left"] = 1
    guest = next(k for k, row in draft.rows["guests"].items() if row["status"] == "active")
    before = {name: {k: dict(r) for k, r in rows.items()} for name, rows in draft.rows.items()}
    simulator = Simulator(draft, Random(0))
    arguments = {"airport_session_id": full, "guest_id": guest, "places": 2}
    assert simulator.perform(create, {}, arguments, START) == "NO_PLACES_LEFT"
    assert draft.rows == before
    row: dict = {}
    assert simulator.perform(create, row, {**arguments, "places": 1}, START) == ""
    assert units[full]["places_left"] == 0
    assert row["total_price"] == units[full]["price"] and row["status"] == "pending"


def test_the_theme_decides_the_process_and_its_nouns() -> None:
    tables = [mined.table for mined in airport_findings().tables]
    first, second = choose(flight_theme(), tables)
    assert first.archetype.name == "booking" and first.resource.name == "airports"
    assert first.wording.record == "flight booking" and "flight" in first.words
    assert second.archetype.name != "booking"
    assert choose(flight_theme(), [tables[0].model_copy(update={"rows": 5})]) == []


def test_nouns() -> None:
    assert Noun("flight booking").table == "flight_bookings" and Noun("flight booking").key == "flight_booking_id"
    assert Noun("city").many == "cities" and Noun("dish").many == "dishes" and Noun("opening").a == "an opening"
    assert stem("bookings") == stem("booked") == stem("booking")
