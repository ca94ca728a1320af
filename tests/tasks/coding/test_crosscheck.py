"""Every gate of the cross-check says yes to sound tools, and no to a faulty coder's, with its reason."""

from __future__ import annotations

import pytest

from schemas.database import Column, Database, Table
from schemas.tool import ToolField
from tasks.coding import crosscheck, write_tests, write_tools
from tasks.coding.crosscheck import MUTATION_FLOOR
from tasks.environment import build_snapshot


@pytest.mark.parametrize("world", ["shop", "depot"])
def test_sound_tools_are_kept_with_their_evidence(world, request, worker):
    world = request.getfixturevalue(world)
    tools = write_tools(world.database, 0, world.snapshot)
    tests = write_tests(world.database, world.snapshot, tools, 0)
    result = crosscheck(world.database, world.snapshot, tools, tests, worker, mutants_per_tool=2)
    assert result.rejections == []
    assert [tool.name for tool in result.tools] == [tool.name for tool in tools]
    assert len(result.tests) == len(tests) and all(test.passed for test in result.tests)
    scores = [tool.mutation_score for tool in result.tools if tool.mutation_score is not None]
    assert min(scores) >= MUTATION_FLOOR and sum(scores) / len(scores) > 0.85
    for tool in result.tools:
        assert tool.tests_passed == tool.tests_total > 0
        assert {"compile", "imports", "schema", "effects", "tests", "properties", "probe"} <= set(tool.evidence)


def _source(tool, old, new):
    assert old in tool.source_code, f"the fault does not fit {tool.name}"
    return tool.model_copy(update={"source_code": tool.source_code.replace(old, new)})


_FAULTS = {
    # tool: (what its writer did wrong, expected gate, words of the reason)
    "place_order": (
        lambda tool: _source(tool, 'product["stock"] < quantity', 'product["stock"] < 0'),
        "tests", "instead of OUT_OF_STOCK",
    ),
    "cancel_order": (
        lambda tool: _source(tool, 'WHERE order_id = ?", (order_id,))\n    ctx',
                             'WHERE order_id = ? OR quantity = 4", (order_id,))\n    ctx'),
        "properties", "changed, which no effect says",
    ),
    "ship_order": (
        lambda tool: _source(tool, "    order = ", "    while True:\n        pass\n    order = "), "timeout", "timeout",
    ),
    "change_price": (lambda tool: _source(tool, "(price, product_id)", "(price + 1, product_id)"), "tests", "price"),
    "get orders": (lambda tool: _source(tool, "from typing", "import socket\nfrom typing"), "imports", "socket"),
    "get products": (
        lambda tool: _source(tool, "    return product", '    ctx.db.execute("UPDATE products SET stock = stock")\n'
                             "    return product"),
        "effects", "products",
    ),
    "get customers": (
        lambda tool: _source(tool, "    return customer", '    sql = "UPD" + "ATE customers SET city = city"\n'
                             "    ctx.db.execute(sql)\n    return customer"),
        "tests", "READ_ONLY",
    ),
    "get suppliers": (lambda tool: _source(tool, "supplier_id: str", "supplier_id: int"), "schema", "annotated int"),
    "search orders": (lambda tool: _source(tool, "return {", "return {("), "compile", "does not match"),
    "search products": (
        lambda tool: _source(tool, '"total": total}', '"total": total, "cheapest": None}'), "schema", "cheapest",
    ),
    "search customers": (
        lambda tool: _source(tool, "    filters = {", "    hoard = [0] * (1 << 34)\n    filters = {"),
        "memory", "memory",
    ),
    "search suppliers": (lambda tool: _source(tool, "COUNT(*)", "COUNT(*) - 1"), "tests", "total is 3 instead of 4"),
    "read document": (
        lambda tool: _source(tool, "    document = ", "    ctx.db._connection.close()\n    document = "),
        "imports", "_connection",
    ),
}  # fmt: skip


def _kind_of(tool):
    """Name a tool by what it does, as its own name differs from environment to environment."""
    if tool.action:
        return tool.name
    if tool.kind == "document":
        return "read document" if any(field.path == "content" for field in tool.outputs) else "other document"
    return f"{tool.kind} {tool.table}"


def test_a_faulty_coder_is_found_out_at_every_gate(shop, worker):
    tools = write_tools(shop.database, 0, shop.snapshot)
    tests = write_tests(shop.database, shop.snapshot, tools, 0)
    faulty = [_FAULTS[_kind_of(tool)][0](tool) if _kind_of(tool) in _FAULTS else tool for tool in tools]
    result = crosscheck(shop.database, shop.snapshot, faulty, tests, worker, mutants_per_tool=0)
    told = {rejection.key: rejection for rejection in result.rejections}
    names = {_kind_of(tool): tool.name for tool in tools}
    for what, (_, gate, words) in _FAULTS.items():
        rejection = told.pop(names[what], None)
        assert rejection is not None, f"{what} passed"
        assert (rejection.gate, rejection.stage, rejection.env_id) == (gate, "coding", "env-shop"), rejection
        assert words in rejection.reason, rejection.reason
    assert not told
    assert len(result.tools) == len(tools) - len(_FAULTS)
    rejected = {names[what] for what in _FAULTS}
    for name in rejected - {names["cancel_order"], names["search products"]}:
        assert any(test.passed is False and test.message for test in result.tests if test.tool == name)
    assert all(test.passed for test in result.tests if test.tool not in rejected)


def test_tests_that_notice_nothing_are_found_out(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if _kind_of(tool) == "search orders"]
    tests = write_tests(shop.database, shop.snapshot, tools, 0)
    lazy = [test.model_copy(update={"observation": {}}) for test in tests if not test.arguments][:1]
    result = crosscheck(shop.database, shop.snapshot, tools, lazy, worker)
    gates = {rejection.key: rejection.gate for rejection in result.rejections}
    assert gates[tools[0].name] == "mutation"
    assert gates["cancel_order"] == "specification"
    assert "notice only" in result.rejections[-1].reason


def test_refusals_alone_prove_nothing(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if tool.kind == "get"]
    tests = [test for test in write_tests(shop.database, shop.snapshot, tools, 0) if test.error]
    result = crosscheck(shop.database, shop.snapshot, tools, tests, worker, mutants_per_tool=0)
    assert not result.tools
    assert {r.gate for r in result.rejections if r.key in {tool.name for tool in tools}} == {"probe"}


def test_untested_and_doubled_tools_are_refused(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if tool.kind == "get"][:1]
    result = crosscheck(shop.database, shop.snapshot, [*tools, *tools], [], worker)
    reasons = [rejection.reason for rejection in result.rejections if rejection.key == tools[0].name]
    assert any("same name" in reason for reason in reasons) and any("no tests" in reason for reason in reasons)


def test_undeclared_outputs_are_refused(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if tool.kind == "get"][:1]
    tests = write_tests(shop.database, shop.snapshot, tools, 0)
    more = tools[0].model_copy(update={"outputs": (*tools[0].outputs, ToolField(path="mood", type="string"))})
    result = crosscheck(shop.database, shop.snapshot, [more], tests, worker, mutants_per_tool=0)
    assert any(r.gate == "schema" and "mood" in r.reason for r in result.rejections)


def test_a_bare_world_needs_no_special_care(worker):
    """No documents, no actions, an empty table, a table that is only a key, a reference that nothing fills."""
    tables = (
        Table(
            name="ships", noun="ship", nouns="ships", key="ship_id", origin="mined",
            columns=(
                Column(name="ship_id", type="string", role="key"),
                Column(name="port_id", type="string", role="reference", references="ports.port_id", nullable=True),
                Column(name="tons", type="number", role="measure", nullable=True),
            ),
        ),
        Table(name="ports", noun="port", nouns="ports", key="port_id", origin="mined",
              columns=(Column(name="port_id", type="string", role="key"),)),
    )  # fmt: skip
    database = Database(
        env_id="env-bare", theme_id="t", name="Bare", description="", tables=tables, start_time="2026-01-01T00:00:00",
        snapshot_sha256="",
    )  # fmt: skip
    fleet = [{"ship_id": f"s-{n}", "port_id": None, "tons": tons} for n, tons in enumerate((3.5, None, 8.0, 8.0))]
    for ships, kept in (([], set()), (fleet, {"get", "search", "aggregate"})):
        snapshot = build_snapshot(database, {"ships": ships, "ports": []}, [])
        tools = write_tools(database, 0, snapshot)
        tests = write_tests(database, snapshot, tools, 0)
        result = crosscheck(database, snapshot, tools, tests, worker, mutants_per_tool=2)
        told = {rejection.key: rejection.gate for rejection in result.rejections}
        assert {tool.kind for tool in result.tools if tool.table == "ships"} >= kept, told
        assert len(result.tools) + len(told) == len(tools)
        assert set(told.values()) <= {"probe", "mutation", "tests"}, "an empty table shows nothing, but breaks nothing"


def test_a_tool_that_crashes_is_refused_with_what_it_said(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if _kind_of(tool) == "get orders"]
    tests = write_tests(shop.database, shop.snapshot, tools, 0)
    broken = [_source(tools[0], "    return order", "    return order['no_such_column']")]
    result = crosscheck(shop.database, shop.snapshot, broken, tests, worker, mutants_per_tool=0)
    reasons = [rejection.reason for rejection in result.rejections if rejection.key == tools[0].name]
    assert len(reasons) == 1 and "TOOL_CRASHED" in reasons[0] and "no_such_column" in reasons[0]
