"""Worlds as models write them: what can be described is, the rest is taken as it is, and chains come of it."""

from __future__ import annotations

import pytest
from foreign_rough import ROUGH
from foreign_worlds import write_release

from tasks.imports import import_world, read_release
from tasks.imports.layout import identifier
from tasks.imports.words import plural, singular
from tasks.imports.world import snake
from tasks.synthesis import synthesize


@pytest.fixture(scope="module")
def rough(tmp_path_factory, worker):
    folder = write_release(tmp_path_factory.mktemp("rough"), [world() for world in ROUGH])
    return {world.folder: import_world(world, worker) for world in read_release(folder)}


def test_one_file_of_several_collections(rough):
    done = rough["project_tracker"]
    tables = {table.name: table for table in done.database.tables}
    assert set(tables) == {"users", "projects", "tasks", "comments"}
    assert tables["tasks"].column("assignee_id").references == "users.id"
    assert {document.name for document in done.database.documents} == {"README.md", "database.json"}
    tools = {tool.name: tool for tool in done.tools}
    kinds = {name: tool.kind for name, tool in tools.items()}
    assert kinds == {
        "get_user": "get", "get_project": "get", "get_task": "get", "list_tasks": "search",
        "search_projects": "search", "find_users": "search", "update_task": "update", "complete_task": "transition",
        "assign_task": "update", "create_task": "create", "delete_comment": "write", "get_project_stats": "aggregate",
    }  # fmt: skip
    assert {f.path for f in tools["get_task"].outputs} >= {"data.id", "data.title", "data.status"}
    assert ("page_size", "limit") in {(f.path, f.meaning) for f in tools["list_tasks"].inputs}
    assert tools["search_projects"].inputs[0].of == "projects.title"
    assert not [f for f in done.findings if f.severity == "fatal"]


def test_camel_case_and_nested_states(rough):
    done = rough["smart_home"]
    tools = {tool.name: tool for tool in done.tools}
    assert tools["list_devices"].kind == "search"
    assert ("maxWatts", "devices.watts", "at_most") in {(f.path, f.of, f.meaning) for f in tools["list_devices"].inputs}
    assert tools["set_device_power"].kind == "update" and tools["activate_scene"].kind == "write"
    assert {table.name: table.label for table in done.database.tables}["rooms"] == "roomName"


@pytest.mark.parametrize("folder", ["project_tracker", "smart_home"])
def test_they_give_chains(rough, worker, folder):
    done = rough[folder]
    result = synthesize(
        done.database, done.snapshot, done.tools, seed=7, n=2, kinds=("graph",), min_calls=5, worker=worker,
        lengths={9: 1, 12: 1},
    )  # fmt: skip
    assert len(result.tasks) == 2 and not any("roomName" in task.prompt for task in result.tasks)


@pytest.mark.parametrize(
    ("name", "found"),
    [("getOrder", "get_order"), ("get-order", "get_order"), ("HTMLBody", "html_body"), ("2fa", "tool_2fa"),
     ("total_USD", "total_usd"), ("Get Order!", "get_order")],
)  # fmt: skip
def test_names_become_native(name, found):
    assert snake(name) == found


def test_words():
    assert [singular(w) for w in ("order_items", "categories", "addresses", "boxes", "status", "series")] == [
        "order_item", "category", "address", "box", "status", "series",
    ]  # fmt: skip
    assert [plural(w) for w in ("order item", "category", "box", "person", "day")] == [
        "order items", "categories", "boxes", "people", "days",
    ]  # fmt: skip
    assert [identifier(w) for w in ("Unit Price", "rowid", "2nd", "roomName")] == [
        "unit_price", "rowid_", "c_2nd", "roomName",
    ]  # fmt: skip
