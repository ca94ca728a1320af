"""Domains of tau2-bench become test-only environments; the stand-in for pydantic does as pydantic does."""

from __future__ import annotations

import json
import types

import pytest
from foreign_domain import DATA_MODEL, database, write_domain

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.environment.runtime.files.standins import models, toolkit
from tasks.imports import ImportFailed, import_world, read_domains


@pytest.fixture(scope="module", params=[False, True], ids=["repository", "one_folder"])
def bakery(request, tmp_path_factory, worker):
    folder = write_domain(tmp_path_factory.mktemp("tau2"), flat=request.param)
    (world,) = read_domains(folder)
    return import_world(world, worker)


def test_a_domain_is_whole_and_for_measuring_only(bakery):
    assert bakery.test_only and bakery.world.licence == "MIT" and not bakery.rejections
    assert {tool.name: tool.kind for tool in bakery.tools} == {
        "get_order_details": "get", "get_customer_details": "get", "list_cakes": "search",
        "cancel_pending_order": "write", "order_cakes": "write", "calculate": "read",
        "transfer_to_human_agents": "read",
    }  # fmt: skip
    lines = next(tool for tool in bakery.tools if tool.name == "order_cakes").parameters["properties"]["lines"]
    assert lines["items"]["properties"] == {"cake_id": {"type": "string"}, "quantity": {"type": "integer"}}
    assert [document.name for document in bakery.database.documents] == ["policy.md"]
    assert {table.name for table in bakery.database.tables} >= {"customers", "cakes", "orders", "lines"}


def test_its_tasks_replay(bakery):
    (question,) = bakery.questions
    assert question.usable and question.calls_done == 2
    assert json.loads(question.recomputed_answer)["status"] == "cancelled"


def test_its_tools_change_the_data_row_by_row(bakery, worker):
    worker.load(EnvironmentImage.of(bakery.database, bakery.tools, bakery.snapshot))
    arguments = {"customer_id": "c1", "lines": [{"cake_id": "k5", "quantity": 2}]}
    outcome = worker.run_episode([Call(tool="order_cakes", arguments=arguments)])
    assert outcome.steps[0].observation["order_id"] == "B-013"
    changed = {(change.table, change.operation, change.key) for change in outcome.changes}
    assert changed == {
        ("cakes", "update", "k5"), ("customers", "update", "c1"), ("orders", "insert", "B-013"),
        ("lines", "insert", "B-013/1"),
    }  # fmt: skip
    refused = worker.run_episode([Call(tool="order_cakes", arguments={**arguments, "customer_id": "nobody"})])
    assert refused.steps[0].observation["error"]["code"] == "REFUSED" and not refused.changes
    short = {"customer_id": "c1", "lines": [{"cake_id": "k5", "quantity": 3}, {"cake_id": "k1", "quantity": 9}]}
    undone = worker.run_episode([Call(tool="order_cakes", arguments=short)])
    assert "Not enough" in undone.steps[0].observation["error"]["message"] and not undone.changes


def test_a_folder_without_domains_is_refused(tmp_path):
    with pytest.raises(ImportFailed, match="holds no domain"):
        list(read_domains(tmp_path))


def _module(base, name):
    """Execute the bakery's data model over a pydantic."""
    source = DATA_MODEL.split("def get_db")[0]
    lines = [line for line in source.splitlines() if not line.startswith(("from pydantic", "from tau2"))]
    module = types.ModuleType(name)
    import sys

    sys.modules[name] = module
    module.__dict__.update({n: getattr(base, n) for n in ("BaseModel", "Field", "field_validator")})
    module.__dict__["DB"] = base.BaseModel
    exec("\n".join(lines), module.__dict__)
    return module


def test_the_stand_in_fills_models_as_pydantic_does():
    import pydantic

    ours, theirs = _module(models, "bakery_ours"), _module(pydantic, "bakery_theirs")
    data = database()
    data["orders"]["B-001"]["note"] = "ring twice"
    data["customers"]["c1"]["payments"]["pay1"] = {"source": "card", "method_id": "pay1", "last_four": "0042"}
    first, second = ours.BakeryDB.model_validate(data), theirs.BakeryDB.model_validate(data)
    for options in ({}, {"exclude_unset": True}, {"exclude_none": True}, {"exclude_defaults": True}):
        assert first.model_dump(mode="json", **options) == second.model_dump(mode="json", **options)
    assert first.model_dump_json() == second.model_dump_json()
    assert type(first.customers["c1"].payments["pay1"]).__name__ == "Card"
    for made in (first, second):
        made.orders["B-002"].status = "baked"
        made.cakes["k1"] = made.cakes["k1"].model_copy(update={"stock": 0})
    assert first.model_dump(exclude_unset=True, mode="json") == second.model_dump(exclude_unset=True, mode="json")


@pytest.mark.parametrize(
    ("model", "values"),
    [
        ("Cake", {"cake_id": "k", "title": "t", "price": "x", "stock": 1}),
        ("Cake", {"cake_id": "k", "title": "t", "price": 1, "stock": -1}),
        ("Cake", {"cake_id": "k", "title": "t", "price": 1}),
        ("Cake", {"cake_id": "k", "title": "t", "price": 1, "stock": 1, "size": "huge"}),
        ("Order", {"order_id": "B", "customer_id": "c", "status": "lost", "lines": [], "total": 1}),
        ("Customer", {"customer_id": "c", "name": {"first_name": "A", "last_name": "B"}, "email": "nobody"}),
        ("Customer", {"customer_id": "c", "name": "Ana", "email": "a@b"}),
    ],
)
def test_the_stand_in_refuses_what_pydantic_refuses(model, values):
    import pydantic

    with pytest.raises(ValueError):
        getattr(_module(models, "bakery_ours"), model)(**values)
    with pytest.raises(ValueError):
        getattr(_module(pydantic, "bakery_theirs"), model)(**values)


def test_databases_refuse_unknown_fields():
    class Small(toolkit.DB):
        rows: dict

    with pytest.raises(ValueError, match="unknown fields"):
        Small(rows={}, more=1)
