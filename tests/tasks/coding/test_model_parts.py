"""The parts that judge and explain what models write, each by itself."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace

import pytest

from schemas.task import Call
from schemas.tool import ToolField
from tasks.coding import write_tools
from tasks.coding.answers import PlannedParameter, WrittenTest
from tasks.coding.briefing import make_briefing, tool_lines
from tasks.coding.citations import citation_fault
from tasks.coding.effects import tables_used
from tasks.coding.gaps import effect_lines, unfound_tables
from tasks.coding.handwritten import make_tests, written_faults
from tasks.coding.meanings import explain
from tasks.coding.query import Queries
from tasks.coding.samples import MOST_ROWS, sample_rows
from tasks.coding.snapshot import Reader
from tasks.coding.typecheck import type_fault
from tasks.environment import EnvironmentImage

_DOCUMENTS = {"rules.html": "<p>A member may rent <b>one</b> locker&nbsp;at a\n time.</p>"}


@pytest.mark.parametrize(
    ("document", "quote", "fault"),
    [
        ("rules.html", "a member may rent one locker at a time", ""),
        ("rules.html", "A member may rent two lockers at a time.", "does not stand in it"),
        ("rules.html", "one.", "too short"),
        ("other.md", "A member may rent one locker at a time.", "the documents are rules.html"),
    ],
)
def test_a_citation_must_stand_in_its_document(document, quote, fault):
    found = citation_fault(document, quote, _DOCUMENTS)
    assert fault in found and bool(fault) == bool(found)


def test_names_of_subqueries_words_and_upserts_are_no_tables():
    source = '''
def tool(ctx):
    """Select rows from nowhere."""
    if ctx.db.value("WITH a AS (SELECT 1 FROM x), b(n) AS (SELECT n FROM a JOIN y) SELECT * FROM b"):
        return ctx.refuse("NO", "Update it from the list.")
    ctx.db.execute("INSERT INTO z (k) VALUES (1) ON CONFLICT (k) DO UPDATE SET k = 2")
'''
    assert tables_used(source) == ({"x", "y"}, {"z"})


def test_tables_joined_by_commas_are_seen_and_other_commas_are_not():
    query = (
        'SELECT a.n, (SELECT 1 FROM "my s" s), y FROM a, b AS c , d e JOIN f ON f.k = e.k WHERE y IN (SELECT y FROM g)'
    )
    assert tables_used(f"def tool(ctx):\n    return ctx.db.rows({query!r})\n") == (set("abdfg") | {"my s"}, set())
    ordered = "SELECT a.x, a.y FROM a ORDER BY a.x, a.y LIMIT 1, 2"
    assert tables_used(f"def tool(ctx):\n    return ctx.db.rows({ordered!r})\n") == ({"a"}, set())


def test_a_tool_may_end_with_the_row_that_it_reads_back_but_not_use_it_unseen(shop):
    tool = write_tools(shop.database, 0, shop.snapshot)[0]
    head = f"from typing import Any\ndef {tool.name}(ctx: Any) -> dict[str, Any]:\n"
    back = f"{head}    return ctx.db.row('SELECT 1')\n"
    assert type_fault(tool.model_copy(update={"source_code": back})) == ""
    unseen = f"{head}    return {{'n': ctx.db.row('SELECT 1')['n']}}\n"
    assert "is not indexable" in type_fault(tool.model_copy(update={"source_code": unseen}))


def test_what_a_reading_tool_means_is_found_out_by_calling_it(shop, worker):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if tool.kind in ("get", "search")]
    with Reader(shop.snapshot) as reader:
        state = reader.state(shop.database)
    image = EnvironmentImage.of(shop.database, tools, shop.snapshot)
    told = 0
    for tool in tools:
        bare = tool.model_copy(
            update={
                "kind": "read", "table": "", "inputs": tuple(_bare(f) for f in tool.inputs),
                "outputs": tuple(_bare(f) for f in tool.outputs),
            }
        )  # fmt: skip

        def ask(arguments, name=tool.name):
            return worker.run_episode([Call(tool=name, arguments=arguments)], image=image).steps[0].observation

        found = explain(bare, shop.database, state, ask, 0)
        assert (found.kind, found.table) == (tool.kind, tool.table), tool.name
        assert found.outputs == tool.outputs, tool.name
        for field, own in zip(found.inputs, tool.inputs, strict=True):
            if field.meaning and field.of:
                assert (field.meaning, field.of, field.entity) == (own.meaning, own.of, own.entity), tool.name
                told += 1
    assert told >= 12


def _bare(field: ToolField) -> ToolField:
    return ToolField(path=field.path, type=field.type)


def test_rules_reading_tools_pass_the_type_check_too(shop):
    tools = [tool for tool in write_tools(shop.database, 0, shop.snapshot) if not tool.writes]
    faults = {tool.name: type_fault(tool) for tool in tools[::5]}
    assert faults and not any(faults.values()), faults


def test_comments_do_not_switch_the_type_check_off(shop):
    tool = write_tools(shop.database, 0, shop.snapshot)[0]
    name = tool.name
    source = f"# mypy: ignore-errors\ndef {name}(ctx):\n    return ctx.db.fetch('é')  # type: ignore\n"
    assert 'line 3: "Db" has no attribute "fetch"' in type_fault(tool.model_copy(update={"source_code": source}))


def test_one_tools_briefing_holds_its_tables_and_the_rules(shop):
    brief = make_briefing(shop.database, shop.snapshot, None)
    narrow = brief.narrowed({"orders"}, [])
    assert set(narrow.tables) == {"orders", "customers", "products"} and narrow.others == ("suppliers",)
    assert set(narrow.excerpts) == {"returns.md"} and set(brief.excerpts) == {"returns.md", "tiers.csv"}
    assert set(brief.narrowed({"documents"}, []).excerpts) == set(brief.excerpts)


def test_a_plans_briefing_outlines_what_does_not_fit(shop):
    brief = make_briefing(shop.database, shop.snapshot, None)
    whole = brief.sketched()
    assert set(whole.tables) == set(brief.tables) and not whole.outlines and set(whole.excerpts) == {"returns.md"}
    wide = {
        "orders": brief.tables["orders"],
        "customers": "TABLE customers (9 rows, key customer_id): who\n  a  x" * 400,
    }
    cut = replace(brief, tables=wide).sketched()
    assert set(cut.tables) == {"orders"} and cut.others == ("customers",)
    assert cut.outlines[0].startswith("TABLE customers (9 rows, key customer_id): a")


def test_outside_a_plan_tools_are_told_whole(shop):
    tools = write_tools(shop.database, 0, shop.snapshot)
    place = next(tool for tool in tools if tool.name == "place_order")
    (short,), (whole,) = tool_lines([place], short=True), tool_lines([place])
    assert short.startswith("place_order(customer_id, product_id, quantity)") and "Refuses with" not in short
    assert "quantity: integer" in whole and "Refuses with" in whole


def test_other_tools_are_told_with_what_they_answer_and_write(shop):
    tools = {tool.name: tool for tool in write_tools(shop.database, 0, shop.snapshot)}
    (line,) = tool_lines([tools["place_order"]])
    assert "(writes orders, products)" in line and re.search(r"It answers [^.]*\border_id\b", line)
    (effect,) = effect_lines(shop.database, [tools["cancel_order"]])
    assert "status from pending" in effect and "product_id.stock" in effect


def test_tables_that_no_tool_finds_rows_of_are_told_the_topics_own_first(shop):
    tools = write_tools(shop.database, 0, shop.snapshot)
    served = {field.entity for tool in tools for field in tool.outputs if tool.kind in ("search", "list")}
    missing = {table.name for table in unfound_tables(shop.database, tools)}
    assert missing == {t.name for t in shop.database.tables if not t.log and f"{t.name}.{t.key}" not in served}
    takers = [tool for tool in tools if tool.kind == "get" or tool.writes]
    told = unfound_tables(shop.database, takers)
    assert len(told) == sum(not table.log for table in shop.database.tables)
    origins = [table.origin for table in told]
    assert origins == sorted(origins, key=lambda origin: origin != "mined")


def test_rows_that_are_shown_differ_and_belong_together(depot):
    with Reader(depot.snapshot) as reader:
        state = reader.state(depot.database)
    shown = sample_rows(depot.database, state, ["bookings", "vehicles", "depots"])
    assert shown == sample_rows(depot.database, state, ["depots", "vehicles", "bookings"])
    assert {row["status"] for row in shown["bookings"]} == {"open", "settled", "void"}
    assert {row["status"] for row in shown["vehicles"]} == {"free", "booked", "retired"}
    assert {row["class"] for row in shown["vehicles"]} == {"bus", "tram", "van"}
    assert {row["parent_id"] is None for row in shown["vehicles"]} == {True, False}
    assert {row["vehicle_id"] for row in shown["bookings"]} <= {row["vehicle_id"] for row in shown["vehicles"]}
    assert all(len(rows) <= MOST_ROWS for rows in shown.values())


def test_documents_are_cut_at_a_sentence_and_left_out_where_they_repeat_tables(shop):
    with sqlite3.connect(":memory:") as base:
        base.deserialize(shop.snapshot)
        base.execute("UPDATE documents SET content = ? WHERE name = 'returns.md'", ("Orders go back. " * 999,))
        base.execute("UPDATE documents SET name = 'products_record.json' WHERE name = 'tiers.csv'")
        base.commit()
        brief = make_briefing(shop.database, base.serialize(), None)
    assert brief.excerpts.keys() == {"returns.md"} and brief.excerpts["returns.md"].endswith("Orders go back.\n[cut]")
    assert not brief.narrowed({"suppliers"}, []).excerpts, "it says nothing of suppliers"
    assert not brief.logs


def test_bounds_of_integers_are_told_as_integers():
    bounded = PlannedParameter.model_validate_json(
        '{"name": "year", "type": "integer", "description": "x", "minimum": 2024}'
    )
    assert '"minimum":2024' in bounded.model_dump_json(exclude_defaults=True)


def test_arguments_may_be_looked_up_by_a_query(shop, worker):
    queries = Queries(shop.database, shop.snapshot, worker)
    tool = next(t for t in write_tools(shop.database, 0, shop.snapshot) if t.name == "cancel_order")
    looked = {"$sql": "SELECT order_id FROM orders WHERE status = 'pending' ORDER BY order_id LIMIT 1"}
    test = WrittenTest(
        name="x", kind="normal", arguments={"order_id": looked}, expect=[{"path": "status", "value": "cancelled"}],
        setup=[{"tool": tool.name, "arguments": {"order_id": {"$sql": "SELECT nothing FROM orders"}}}],
    )  # fmt: skip
    faults = written_faults([test], tool, [tool.name], queries)
    assert any("'SELECT nothing FROM orders' cannot be run" in fault for fault in faults)
    assert not any("status = 'pending'" in fault for fault in faults)
    (made,) = make_tests([test.model_copy(update={"setup": []})], tool, "coder", queries)
    assert made.arguments == {"order_id": queries.run([looked["$sql"]])[0][0][0]}
