"""A build with a model for the coder: its tools are committed beside the rules' and shown with who wrote them."""

from __future__ import annotations

import pytest
from chat_server import ChatServer, status
from coding_script import script, shop_ids
from worlds import shop_database, shop_snapshot

from flows.browse import find, listing
from flows.endings import commit
from flows.stages import code_tools, put_records
from schemas.base import canonical_json
from schemas.settings import Settings
from schemas.theme import Operation, Theme
from tasks.store import load_environment, open_store, put_blob, read_dataset

THEME = Theme(
    theme_id="theme-shop", kind="prd", name="Shop", description="A shop.", terms=("shop",), category_l1="Commerce",
    operations=(Operation(name="voidPending", description="Give up all open orders at once."),), source_id="s",
    source_uri="file:///shop.md", source_version="1", source_sha256="0" * 64, licence="MIT",
)  # fmt: skip


@pytest.fixture
def mined(tmp_path):
    """The shop as the mining stage leaves it in a store."""
    uri = f"file://{tmp_path}"
    store = open_store(uri)
    return {
        "env_id": "env-shop", "name": "Shop", "database": put_blob(store, canonical_json(shop_database()).encode()),
        "snapshot": put_blob(store, shop_snapshot()), "provenance": put_records(uri, []),
        "sources": put_records(uri, []), "rejections": [], "cost": {},
    }  # fmt: skip


@pytest.fixture
def customer():
    return shop_ids(shop_snapshot())


def _model(monkeypatch, server):
    for role in ("CODER", "TESTER"):
        monkeypatch.setenv(f"AGENTWORLD_MODEL_{role}", "openai:scripted")
        monkeypatch.setenv(f"AGENTWORLD_MODEL_{role}_BASE_URL", server.base_url)


def test_a_models_tools_are_committed_beside_the_rules(tmp_path, monkeypatch, mined, customer):
    uri = f"file://{tmp_path}"
    with ChatServer(script(customer, "summarize_customer", "move_customer")) as server:
        _model(monkeypatch, server)
        coded = code_tools(uri, mined, THEME, Settings())
        paid = len(server.requests)
        again = code_tools(uri, mined, THEME, Settings())
        assert len(server.requests) == paid == 5 and "voidPending: Give up all open orders" in server.requests[0].text
    assert {k: v for k, v in again.items() if k not in ("cost", "made_at")} == {
        k: v for k, v in coded.items() if k not in ("cost", "made_at")
    }
    assert [(r["key"], r["gate"]) for r in coded["rejections"]] == [("use of summarize_customer", "meaning")]
    assert not coded["unfinished"]
    row = commit(uri, THEME, mined, coded)
    assert row.state == "accepted" and row.authors == ("openai:scripted", "rules")
    world = load_environment(open_store(uri), "env-shop")
    tools = {tool.name: tool.author for tool in world.tools}
    assert {tools.pop(name) for name in ("summarize_customer", "move_customer")} == {"openai:scripted"}
    assert set(tools.values()) == {"rules"}
    before = {action.name for action in shop_database().actions}
    assert {action.name for action in world.database.actions} == before | {"move_customer"}
    assert listing(uri, "environments")[0]["authors"] == "openai:scripted rules"
    shown = next(tool for tool in find(uri, "env-shop")["tools"] if tool["name"] == "summarize_customer")
    assert shown["author"] == "openai:scripted"


def test_a_model_that_does_not_answer_leaves_the_rules_and_is_tried_again(tmp_path, monkeypatch, mined, customer):
    uri = f"file://{tmp_path}"
    with ChatServer([status(400)] * 9) as server:
        _model(monkeypatch, server)
        coded = code_tools(uri, mined, THEME, Settings())
    assert coded["unfinished"] and coded["n_tools"] >= 8
    commit(uri, THEME, mined, coded)
    told = [(r.stage, r.key, r.gate) for r in read_dataset(open_store(uri), "rejections")]
    assert told == [("coding", "model tools", "model_unreachable")]
    assert listing(uri, "environments")[0]["authors"] == "rules"
