"""Property tests: whatever the seed, a chain's arguments are bound to earlier outputs or to what the prompt says."""

from __future__ import annotations

import random
from functools import lru_cache

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.database import Rule
from tasks.synthesis.atlas import Atlas, required
from tasks.synthesis.chain import build_chain
from tasks.synthesis.draft import Condition, references, renumber
from tasks.synthesis.filters import matching
from tasks.synthesis.graph import tool_graph
from tasks.synthesis.prompt import chain_prompt
from tasks.synthesis.rules import allowed, first_broken


@lru_cache(maxsize=1)
def world() -> tuple[Atlas, nx.DiGraph]:
    atlas = Atlas(shop_database(), shop_snapshot(), shop_tools())
    return atlas, tool_graph(atlas)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), length=st.integers(1, 9))
def test_references_point_back_and_required_arguments_are_given(seed: int, length: int) -> None:
    atlas, graph = world()
    draft = build_chain(atlas, graph, random.Random(seed), length)
    if draft is None:
        return
    for number, call in enumerate(draft.calls):
        assert set(required(atlas.tools[call.tool])) <= set(call.arguments)
        assert set(call.arguments) <= set(atlas.tools[call.tool].parameters["properties"])
        assert all(int(text.partition(".")[0]) < number for text in references(call.arguments))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**9), length=st.integers(2, 9))
def test_every_call_matters_and_every_literal_is_in_the_prompt(seed: int, length: int) -> None:
    atlas, graph = world()
    rng = random.Random(seed)
    draft = build_chain(atlas, graph, rng, length)
    if draft is None:
        return
    prompt, fields = chain_prompt(draft, rng, "any")
    used = {int(text.partition(".")[0]) for call in draft.calls for text in references(call.arguments)}
    used |= {ask.step for ask in draft.asks}
    for number, call in enumerate(draft.calls):
        assert number in used or atlas.tools[call.tool].writes, call
        for name, value in call.arguments.items():
            if isinstance(value, str) and value not in atlas.tools[call.tool].parameters["properties"][name].get(
                "enum", ()
            ):
                assert f'"{value}"' in prompt
    assert 1 <= len(fields) <= 4
    assert len({field.name for field in fields}) == len(fields)
    assert all(f'"{field.name}"' in prompt for field in fields)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_the_same_seed_gives_the_same_chain_and_prompt(seed: int) -> None:
    atlas, graph = world()

    def make() -> tuple[object, ...]:
        rng = random.Random(seed)
        draft = build_chain(atlas, graph, rng, 5)
        return () if draft is None else (tuple(draft.calls), chain_prompt(draft, rng, "train"))

    assert make() == make()


def test_picks_of_a_superlative_are_the_only_extreme_row() -> None:
    atlas, graph = world()
    found = 0
    for seed in range(150):
        draft = build_chain(atlas, graph, random.Random(seed), 5)
        for pick in draft.picks if draft else ():
            if pick.same_as is None and pick.mention.how == "filter" and pick.mention.order is not None:
                column, descending = pick.mention.order
                values = [row[column] for row in matching(atlas.rows[pick.table], pick.mention.conditions)]
                best = max(values) if descending else min(values)
                assert pick.row[column] == best
                assert values.count(best) == 1
                found += 1
    assert found > 20


def test_rules_are_read_as_the_engine_means_them() -> None:
    atlas, _ = world()
    ship, change = atlas.actions["ship_order"], atlas.actions["change_price"]
    order = {**atlas.rows["orders"][0], "status": "pending"}
    assert allowed(atlas, ship, order)
    assert not allowed(atlas, ship, {**order, "status": "shipped"})
    broken = first_broken(atlas, change, {"product_id": "x", "stock": 0}, {"price": 3})
    assert broken is not None and broken.code == "NOT_ON_SALE"
    place = atlas.actions["place_order"]
    product = next(row for row in atlas.rows["products"] if row["stock"] == 2)
    assert first_broken(atlas, place, {"product_id": product["product_id"], "quantity": 2}) is None
    too_many = first_broken(atlas, place, {"product_id": product["product_id"], "quantity": 3})
    assert too_many is not None and too_many.code == "OUT_OF_STOCK"


def test_a_rule_over_an_absent_value_does_not_hold() -> None:
    atlas, _ = world()
    rule = Rule(path="shipped_at", operator="<", value="2030-01-01", code="X_Y", message="")
    action = atlas.actions["ship_order"].model_copy(update={"rules": (rule,)})
    assert first_broken(atlas, action, {"shipped_at": None}) == rule


def test_renumbering_moves_every_reference() -> None:
    value = {"a": [{"$ref": "2.orders[0].order_id"}], "b": {"$ref": "0.name"}, "c": "2.kept"}
    assert renumber(value, {0: 1, 2: 5}) == {
        "a": [{"$ref": "5.orders[0].order_id"}],
        "b": {"$ref": "1.name"},
        "c": "2.kept",
    }


def test_conditions_narrow_like_sql() -> None:
    atlas, _ = world()
    rows = atlas.rows["products"]
    conditions = [Condition("category", "equals", "lamps"), Condition("price", "at_most", 200)]
    sql = "SELECT product_id FROM products WHERE category = 'lamps' AND price <= 200 ORDER BY product_id"
    assert [r["product_id"] for r in matching(rows, conditions)] == [r[0] for r in atlas.connection.execute(sql)]
