"""The tool graph and the walk over it."""

from __future__ import annotations

import random

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.synthesis.atlas import Atlas
from tasks.synthesis.graph import starts, tool_graph
from tasks.synthesis.walk import ordered


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return Atlas(shop_database(), shop_snapshot(), shop_tools())


def test_edges_are_strong_where_only_the_output_gives_the_key(atlas: Atlas) -> None:
    graph = tool_graph(atlas)
    assert graph["find_customers"]["place_order"] == {"kind": "strong", "weight": 3}
    assert graph["list_orders"]["cancel_order"]["kind"] == "strong"
    assert graph["search_products"]["get_supplier"]["kind"] == "strong"  # by the reference in its rows
    assert graph["find_customers"]["list_orders"]["kind"] == "weak"  # optional filter
    assert graph["count_products"]["find_customers"]["kind"] == "independent"


def test_strong_edges_go_one_way_and_the_graph_is_complete(atlas: Atlas) -> None:
    graph = tool_graph(atlas)
    assert graph.number_of_edges() == len(atlas.tools) ** 2
    assert graph["cancel_order"]["find_customers"]["kind"] != "strong"


def test_walks_begin_where_nothing_is_needed(atlas: Atlas) -> None:
    names = starts(tool_graph(atlas))
    assert "find_customers" in names
    assert not {"cancel_order", "get_order", "place_order", "read_document"} & set(names)


def test_the_walk_prefers_heavy_edges_and_favoured_tools(atlas: Atlas) -> None:
    graph = tool_graph(atlas)

    def share(favoured: tuple[str, ...]) -> float:
        firsts = [next(ordered(graph, "list_orders", random.Random(seed), favoured)) for seed in range(600)]
        return firsts.count("cancel_order") / len(firsts)

    weights = {name: data["weight"] for name, data in graph["list_orders"].items()}
    expected = weights["cancel_order"] / sum(weights.values())
    assert share(()) == pytest.approx(expected, abs=0.04)
    assert share(("cancel_order",)) > 2 * share(())


def test_every_tool_comes_up_once(atlas: Atlas) -> None:
    graph = tool_graph(atlas)
    assert sorted(ordered(graph, "list_orders", random.Random(1))) == sorted(atlas.tools)
