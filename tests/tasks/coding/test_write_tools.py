"""What the rule-based coder writes."""

from __future__ import annotations

import ast

import pytest
from jsonschema import Draft202012Validator

from tasks.coding import write_tests, write_tools
from tasks.coding.effects import tables_used
from tasks.coding.gates import agrees_with_schema, compiles, imports_little
from tasks.coding.words import RESERVED_NAMES, Voice, identifier, parameter_name


@pytest.mark.parametrize("world", ["shop", "depot"])
def test_an_environment_gets_a_sensible_set_of_tools(world, request):
    database, snapshot = request.getfixturevalue(world).database, request.getfixturevalue(world).snapshot
    tools = write_tools(database, 0, snapshot)
    assert 12 <= len(tools) <= 25
    assert len({tool.name for tool in tools}) == len(tools)
    assert not {tool.name for tool in tools} & RESERVED_NAMES
    assert {tool.action for tool in tools if tool.action} == {action.name for action in database.actions}
    assert {tool.kind for tool in tools} >= {"get", "search", "list", "aggregate", "document", "create", "update"}
    for tool in tools:
        assert not compiles(tool) and not imports_little(tool) and not agrees_with_schema(tool)
        Draft202012Validator.check_schema(tool.parameters)
        assert ast.get_docstring(ast.parse(tool.source_code))
        assert tables_used(tool.source_code) == (set(tool.reads), set(tool.writes))


def test_the_same_inputs_give_the_same_tools_and_tests(shop):
    first, second = (write_tools(shop.database, 3, shop.snapshot) for _ in range(2))
    assert first == second
    tests = [write_tests(shop.database, shop.snapshot, first, 3) for _ in range(2)]
    assert tests[0] == tests[1]


def test_environments_speak_with_different_verbs():
    verbs = {Voice.of(f"env-{n}", 0).search for n in range(40)}
    assert len(verbs) >= 4
    assert Voice.of("env-1", 0) == Voice.of("env-1", 0)


def test_fields_name_what_stands_there(shop):
    tools = {tool.name: tool for tool in write_tools(shop.database, 0, shop.snapshot)}
    place = tools["place_order"]
    assert {field.path: field.entity for field in place.inputs} == {
        "customer_id": "customers.customer_id", "product_id": "products.product_id", "quantity": "orders.quantity",
    }  # fmt: skip
    assert place.writes == ("orders", "products") and place.reads == ("customers", "orders", "products")
    search = next(tool for tool in tools.values() if tool.kind == "search" and tool.table == "orders")
    outputs = {field.path: field for field in search.outputs}
    assert outputs["orders[].product_id"].entity == "products.product_id"
    assert outputs["orders[].product_id"].of == "orders.product_id"
    assert outputs["total"].meaning == "matches"


def test_a_rule_answers_before_the_schema_does(shop, depot):
    """Bounds that a rule judges stay out of the schema, so that the telling code comes through."""
    place = next(tool for tool in write_tools(shop.database, 0) if tool.name == "place_order")
    assert "minimum" not in place.parameters["properties"]["quantity"]
    assert "INVALID_QUANTITY" in place.description and "OUT_OF_STOCK" in place.description
    book = next(tool for tool in write_tools(depot.database, 0) if tool.name == "book_vehicle")
    assert book.parameters["properties"]["days"]["minimum"] == 1


def test_new_keys_look_like_the_old_ones(depot):
    tools = {tool.name: tool for tool in write_tools(depot.database, 0, depot.snapshot)}
    assert 'ctx.ids.new("bkg")' in tools["book_vehicle"].source_code
    assert "MAX(depot_no)" in tools["open_depot"].source_code
    without = {tool.name: tool for tool in write_tools(depot.database, 0)}
    assert 'ctx.ids.new("boo")' in without["book_vehicle"].source_code


def test_an_action_that_fits_no_table_gets_no_tool(shop):
    broken = shop.database.actions[0].model_copy(update={"parameters": ("customer_id", "no_such_column")})
    database = shop.database.model_copy(update={"actions": (broken, *shop.database.actions[1:])})
    assert broken.name not in {tool.name for tool in write_tools(database, 0)}


def test_names_stay_python_and_sql():
    assert parameter_name("class") == "class_value"
    assert parameter_name("limit") == "limit_value"
    assert identifier("order") == '"order"' and identifier("orders") == "orders"
    assert identifier('a"b') == '"a""b"'


def test_each_tool_is_tested_from_all_sides(shop, depot):
    for world in (shop, depot):
        tools = write_tools(world.database, 0, world.snapshot)
        tests = write_tests(world.database, world.snapshot, tools, 0)
        for tool in tools:
            own = [test for test in tests if test.tool == tool.name]
            assert {test.author for test in own} == {"coder", "tester"}, tool.name
            assert len({(test.author, test.name) for test in own}) == len(own)
            assert any(not test.error for test in own) and any(test.error for test in own)
            assert all(test.unchanged for test in own if test.error)
            if tool.kind in ("search", "list"):
                assert any(test.kind == "boundary" for test in own)
        assert {test.kind for test in tests} == {"normal", "boundary", "refusal", "property"}
