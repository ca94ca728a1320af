"""Healthy foreign worlds of every shape become environments whose tools are described and do their work."""

from __future__ import annotations

import pytest

from schemas.task import Call
from tasks.environment import EnvironmentImage, difference, state_hash, verify
from tasks.synthesis import synthesize

FOLDERS = (
    "library_circulation", "fleet_dispatch", "clinic_scheduling", "warehouse_stock", "service_catalog",
    "museum_guides", "crm_pipeline", "event_ticketing", "parking_permits",
)  # fmt: skip


def image_of(done):
    return EnvironmentImage.of(done.database, done.tools, done.snapshot)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_tool_is_taken_without_a_fatal_fault(healthy, folder):
    done = healthy[folder]
    assert done.database is not None and not done.rejections and not done.benchmark
    assert len(done.tools) == len(done.world.tools)
    assert [f for f in done.findings if f.severity == "fatal"] == []
    described = [tool for tool in done.tools if tool.kind not in ("read", "write")]
    assert len(described) >= 8
    assert all(test.passed for test in done.tests) and len(done.tests) >= len(done.tools)


def test_the_schema_is_inferred(healthy):
    tables = {table.name: table for table in healthy["clinic_scheduling"].database.tables}
    assert set(tables) == {"appointments", "doctors", "patients", "visits"}
    assert tables["visits"].column("patient_id").references == "patients.patient_id"
    assert tables["patients"].column("contact_city").role == "category"
    assert tables["appointments"].column("status").choices == ("booked", "cancelled", "kept")
    zones = {table.name: table for table in healthy["parking_permits"].database.tables}["zones"]
    assert (zones.key, zones.label, zones.column("rate").role) == ("id", "name", "measure")


def test_what_tools_do_is_found_by_probing(healthy):
    tools = {tool.name: tool for done in healthy.values() for tool in done.tools}
    actions = {action.name: action for done in healthy.values() for action in done.database.actions}
    assert tools["get_vehicle"].kind == "get" and tools["get_vehicle"].table == "vehicles"
    search = {field.path: (field.of, field.meaning) for field in tools["search_items"].inputs}
    assert search["max_unit_price"] == ("items.unit_price", "at_most")
    assert search["category"] == ("items.category", "equals")
    assert any(field.path == "count" and field.meaning == "matches" for field in tools["search_items"].outputs)
    assert [field.meaning for field in tools["sum_amount_of_deals"].outputs] == ["sum"]
    assert (actions["void_movement"].from_states, actions["void_movement"].to_state) == (
        ("requested", "picked"),
        "void",
    )
    assert actions["create_booking"].initial == {"status": "held", "booked_at": "$clock"}
    assert actions["update_appointment_minutes"].parameters == ("minutes",)
    assert tools["cancel_many"].kind == "write" and tools["cancel_many"].writes == ("appointments",)


def test_reads_that_write_logs_are_repaired(healthy):
    done = healthy["event_ticketing"]
    found = [f for f in done.findings if f.fault == "reads_write_log"]
    assert {f.evidence["file"] for f in found} == {"audit_log.json"} or len(found) >= 7
    assert all(f.severity == "repaired" for f in found)
    assert not next(tool for tool in done.tools if tool.name == "get_event").writes


def test_an_episode_is_private_and_frozen_and_its_quota_is_fresh(healthy, worker):
    done = healthy["event_ticketing"]
    worker.load(image_of(done))
    arguments = {"event_id": "EVT01", "buyer": "Ada Test", "tickets": 2}
    outcomes = [worker.run_episode([Call(tool="create_booking", arguments=arguments)], seed=s) for s in (0, 0, 1)]
    first, again, other = (outcome.steps[0].observation for outcome in outcomes)
    assert first == again and first["booking_id"] != other["booking_id"]
    assert first["booked_at"] == done.database.start_time
    assert [(c.table, c.operation) for c in outcomes[0].changes] == [("bookings", "insert")]
    with worker.episode() as one, worker.episode() as two:
        one.call("create_booking", arguments)
        assert one.call("search_bookings", {"buyer": "Ada Test"})["count"] == 1
        assert two.call("search_bookings", {"buyer": "Ada Test"})["count"] == 0
    for _ in range(3):  # each episode has its own five hundred calls
        outcome = worker.run_episode([Call(tool="get_event", arguments={"event_id": "EVT01"})] * 200)
        assert "error" not in outcome.steps[-1].observation and not outcome.changes


def test_a_refused_call_leaves_files_and_rows_alone(healthy, worker):
    done = healthy["fleet_dispatch"]
    worker.load(image_of(done))
    with worker.episode() as episode:
        trip = episode.call("search_trips", {"status": "planned"})["trips"][0]["trip_id"]
        assert episode.call("finish_trip", {"trip_id": trip})["error"]["code"] == "INVALID_STATE"
        assert episode.changes() == ()
        episode.call("start_trip", {"trip_id": trip})
        assert episode.call("finish_trip", {"trip_id": trip})["trip"]["status"] == "done"
        (change,) = episode.changes()
        assert (change.key, change.after["status"], change.before["status"]) == (trip, "done", "planned")
        assert episode.query(f"SELECT status FROM trips WHERE trip_id = '{trip}'") == [{"status": "done"}]
        assert difference(done.snapshot, episode.state(), image_of(done).log_tables) == (change,)
        assert state_hash(episode.state()) != state_hash(done.snapshot)


def test_tokens_replay_with_the_seed(healthy, worker):
    worker.load(image_of(healthy["crm_pipeline"]))
    calls = [Call(tool="open_session", arguments={"user": "ada"})]
    tokens = [worker.run_episode(calls, seed=seed).steps[0].observation["token"] for seed in (3, 3, 4)]
    assert tokens[0] == tokens[1] != tokens[2]


@pytest.mark.parametrize("folder", ["library_circulation", "museum_guides", "warehouse_stock"])
def test_chains_are_verified_and_long(healthy, worker, folder):
    done = healthy[folder]
    result = synthesize(
        done.database, done.snapshot, done.tools, seed=7, n=3, kinds=("graph",), min_calls=5, worker=worker,
        lengths={9: 1, 12: 1},
    )  # fmt: skip
    assert len(result.tasks) == 3 and all(task.oracle_calls >= 5 for task in result.tasks)
    image = image_of(done)
    for task in result.tasks:
        outcome = worker.run_episode(task.oracle.calls, image=image)
        assert verify(task.verifier, task.expected_answer, outcome.changes).success
        assert task.kill_rate == 1.0
