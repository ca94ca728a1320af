"""The parts of the cross-check, each by itself."""

from __future__ import annotations

import ast
import random

import pytest

from tasks.coding import write_tools
from tasks.coding.effects import tables_used
from tasks.coding.gates import agrees_with_schema, compiles, imports_little
from tasks.coding.interpreter import MINTED, perform
from tasks.coding.mutants import mutants
from tasks.coding.proposals import find_cases
from tasks.coding.snapshot import Reader
from tasks.coding.trial import at, same
from tasks.coding.witness import altered, find_witness


@pytest.fixture(scope="module")
def state(shop):
    with Reader(shop.snapshot) as reader:
        return reader.state(shop.database)


def _action(world, name):
    return next(action for action in world.database.actions if action.name == name)


def test_the_interpreter_places_an_order(shop, state):
    product = next(row for row in state["products"].values() if row["stock"] >= 5)
    customer = next(iter(state["customers"]))
    arguments = {"customer_id": customer, "product_id": product["product_id"], "quantity": 3}
    outcome = perform(shop.database, _action(shop, "place_order"), state, arguments, "2026-03-02T09:00:00")
    assert outcome.code == "" and set(outcome.rows) == {("orders", MINTED), ("products", product["product_id"])}
    assert outcome.rows["products", product["product_id"]]["stock"] == product["stock"] - 3
    assert outcome.row["total"] == pytest.approx(3 * product["price"])
    assert outcome.row["ordered_at"] == "2026-03-02T09:00:00" and outcome.row["status"] == "pending"
    assert state["products"][product["product_id"]]["stock"] == product["stock"], "the state was changed"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"quantity": 0}, "INVALID_QUANTITY"),
        ({"quantity": 10_000}, "OUT_OF_STOCK"),
        ({"customer_id": "x"}, "NOT_FOUND"),
    ],
)
def test_the_interpreter_refuses(shop, state, changed, code):
    arguments = {"customer_id": next(iter(state["customers"])), "product_id": next(iter(state["products"]))}
    arguments = {**arguments, "quantity": 1, **changed}
    assert perform(shop.database, _action(shop, "place_order"), state, arguments, "").code == code


def test_missing_cells_and_arguments(depot):
    with Reader(depot.snapshot) as reader:
        state = reader.state(depot.database)
    retire = _action(depot, "retire_vehicle")
    young = next(k for k, v in state["vehicles"].items() if v["order"] is None and v["status"] != "retired")
    assert perform(depot.database, retire, state, {"vehicle_id": young}, "").code == "TOO_YOUNG"
    edit = _action(depot, "edit_booking")
    booking = next(iter(state["bookings"]))
    assert perform(depot.database, edit, state, {"booking_id": booking}, "").code == "NOTHING_TO_CHANGE"
    noted = perform(depot.database, edit, state, {"booking_id": booking, "note": "late"}, "")
    assert noted.row == {**state["bookings"][booking], "note": "late"}


def test_cases_reach_every_rule_and_its_edge(shop, state):
    cases = find_cases(shop.database, _action(shop, "place_order"), state, random.Random(1), edges=True)
    assert set(cases.refusals) == {"INVALID_QUANTITY", "OUT_OF_STOCK"}
    taken = [arguments for arguments, outcome in cases.boundaries if not outcome.code]
    tight = [a for a in taken if state["products"][a["product_id"]]["stock"] == a["quantity"]]
    assert tight, "no order takes exactly what is in stock"


def test_a_witness_breaks_the_rules_that_no_row_breaks(depot):
    """In the depot nobody may settle a paid booking; where none is open and paid, a cell is set so that one is."""
    with Reader(depot.snapshot) as reader:
        state = reader.state(depot.database)
    tame = {**state, "bookings": {key: {**row, "paid": 0} for key, row in state["bookings"].items()}}
    snapshot = altered(depot.snapshot, ("UPDATE bookings SET paid = 0",))
    witness = find_witness(depot.database, snapshot, tame, random.Random(0))
    settle = _action(depot, "settle_booking")
    codes = {
        perform(depot.database, settle, witness.state, arguments, "").code
        for arguments in witness.arguments["settle_booking"]
    }
    assert "ALREADY_PAID" in codes
    with Reader(altered(snapshot, witness.statements)) as reader:
        assert reader.state(depot.database) == witness.state
    assert all(row["paid"] == 0 for row in tame["bookings"].values()), "the state was changed"


def test_mutants_are_different_faults(shop):
    tool = next(tool for tool in write_tools(shop.database, 0, shop.snapshot) if tool.name == "place_order")
    made = mutants(tool.source_code, tool.name, 0, most=12)
    assert len({mutant.source for mutant in made}) == len(made) >= 10
    assert made == mutants(tool.source_code, tool.name, 0, most=12)
    assert made != mutants(tool.source_code, tool.name, 1, most=12)
    kinds = {mutant.change.split(": ")[1].split()[0] for mutant in made}
    assert {"rule", "comparison", "statement"} <= kinds
    for mutant in made:
        functions = [node.name for node in ast.parse(mutant.source).body if isinstance(node, ast.FunctionDef)]
        assert functions == [mutant.name]
        assert '"""' in mutant.source


@pytest.mark.parametrize(
    ("line", "reads", "writes"),
    [
        ('ctx.db.rows("SELECT * FROM a JOIN b ON a.x = b.x")', {"a", "b"}, set()),
        ('ctx.db.execute("DELETE FROM a WHERE x IN (SELECT x FROM b)")', {"b"}, {"a"}),
        ('ctx.db.execute("INSERT INTO \\"order\\" VALUES (1)")', set(), {"order"}),
        ('ctx.db.rows(f"SELECT * FROM {table}")', {"{"}, set()),
        ('ctx.documents.read("x")', {"documents"}, set()),
    ],
)
def test_tables_are_found_in_sql(line, reads, writes):
    assert tables_used(f"def f(ctx):\n    {line}\n") == (reads, writes)


@pytest.fixture(scope="module")
def tool(shop):
    return next(tool for tool in write_tools(shop.database, 0) if tool.kind == "get" and tool.table == "orders")


@pytest.mark.parametrize(
    "line",
    [
        "import os", "from subprocess import run", "import urllib.request", "from . import x", "x = eval('1')",
        "x = __import__('os')", "x = ().__class__", "x = open('/etc/passwd')", "import json\njson.loads = None",
        "print('hello')", "for _ in []:\n    pass", "x = getattr(1, 'real')",
    ],
)  # fmt: skip
def test_what_a_tool_may_not_do(tool, line):
    assert imports_little(tool.model_copy(update={"source_code": f"{line}\n{tool.source_code}"}))


def test_what_a_tool_may_import(tool):
    source = f"import math\nfrom collections import Counter\n{tool.source_code}"
    assert imports_little(tool.model_copy(update={"source_code": source})) == ""


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"name": "reset"}, "reserved"),
        ({"parameters": {"type": "object", "properties": {}, "required": []}}, "additionalProperties"),
        ({"inputs": ()}, "inputs"),
        ({"outputs": ()}, "no output"),
        ({"writes": ("orders",)}, "declares the writes"),
    ],
)
def test_where_schema_and_tool_disagree(tool, update, words):
    changed = tool.model_copy(update=update)
    assert words in agrees_with_schema(changed)


def test_sources_that_are_no_tool(tool):
    assert "line" in compiles(tool.model_copy(update={"source_code": "def f(:\n"}))
    assert "instead of" in compiles(tool.model_copy(update={"source_code": "x = 1\n"}))
    assert compiles(tool.model_copy(update={"source_code": "x = '\0'\n"}))


def test_paths_and_equality():
    value = {"orders": [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}], "total": 2, "a.b": 3}
    assert at(value, "orders[1].id") == 2 and at(value, "orders[].id") == [1, 2] and at(value, "a.b") == 3
    with pytest.raises(IndexError):
        at(value, "orders[5].id")
    assert same(0.1 + 0.2, 0.3) and same([1, {"x": None}], [1, {"x": None}]) and same(3, 3.0)
    assert not same(3, 4) and not same("3", 3) and not same([1], [1, 2]) and not same(None, 0)
    assert not same(3.001, 3)
