"""Tools by scripted models over HTTP: good ones are kept and used, and whatever a model gets wrong is found out."""

from __future__ import annotations

import pytest
from chat_server import ChatServer, answer, refusal, say, status
from coding_script import PLANS, REVIEW, REVISE, SOURCES, planned, right_tests, script, shop_ids, written

from schemas.task import Call
from tasks.coding import add_tools, write_tools
from tasks.environment import EnvironmentImage
from tasks.models import Gateway, load_roles
from tasks.sandbox import Limits, SandboxWorker
from tasks.store import open_store

_CITED = "An order can be cancelled while it is pending."


@pytest.fixture(scope="module")
def rows(shop):
    """Ids of rows that the scripted tests are about."""
    return shop_ids(shop.snapshot)


@pytest.fixture(scope="module")
def kept(shop):
    return write_tools(shop.database, 0, shop.snapshot)


@pytest.fixture(scope="module")
def hasty():
    """A sandbox that does not wait long."""
    with SandboxWorker(limits=Limits(wall_s=1.0, cpu_s=5.0)) as opened:
        yield opened


@pytest.fixture
def build(shop, kept, hasty, tmp_path):
    """Build the shop's tools with a scripted server; return the result and the server."""

    def run(answers, most=3, roles=("CODER", "TESTER"), mutants=2):
        with ChatServer(answers) as server:
            environ = {f"AGENTWORLD_MODEL_{role}": "openai:scripted" for role in roles}
            environ |= {f"{name}_BASE_URL": server.base_url for name in environ}
            gateway = Gateway(load_roles(None, environ), open_store(f"file://{tmp_path}"))
            result = add_tools(shop.database, shop.snapshot, kept, hasty, gateway, most=most, mutants_per_tool=mutants)
        return result, server

    return run


def count(server, marker):
    return sum(marker in seen.text for seen in server.requests)


def told(result):
    """Return key -> (gate, reason) of what was refused; of what was kept and is used by no rule, see `unused`."""
    refused = [rejection for rejection in result.rejections if rejection.gate != "meaning"]
    return {rejection.key: (rejection.gate, rejection.reason) for rejection in refused}


def unused(result):
    return {r.key.removeprefix("use of "): r.reason for r in result.rejections if r.gate == "meaning"}


def test_three_good_tools_are_kept_and_used_in_an_episode(shop, kept, rows, hasty, build):
    names = list(PLANS)[:3]
    result, server = build(script(rows, *names))
    assert told(result) == {} and list(unused(result)) == names[1:] and not result.actions
    tools = {tool.name: tool for tool in result.tools}
    assert list(tools) == names
    assert len(server.requests) == 1 + 2 * len(names), "one call to plan, and one of each hand for each tool"
    for tool in result.tools:
        assert tool.author == "openai:scripted" and tool.tests_passed == tool.tests_total > 6
        assert {"types", "tests", "effects", "deterministic"} <= set(tool.evidence)
        assert tool.mutation_score is None or tool.mutation_score >= 0.5
    assert {test.author for test in result.tests} == {"coder", "tester"} and all(test.passed for test in result.tests)
    cancel = tools["cancel_all_pending"]
    assert cancel.cites == (f"NOTHING_PENDING: returns.md: {_CITED}",)
    assert (cancel.kind, cancel.writes) == ("write", ("orders", "products"))
    assert cancel.description.endswith("Refuses with NOTHING_PENDING if no order of the customer is pending.")
    image = EnvironmentImage.of(shop.database, [*kept, *result.tools], shop.snapshot)
    assert image.foreign
    calls = [
        Call(tool="cancel_all_pending", arguments={"customer_id": rows["pending"]}),
        Call(tool="summarize_customer", arguments={"customer_id": rows["pending"]}),
    ]
    outcome = hasty.run_episode(calls, image=image)
    assert outcome.steps[0].observation["cancelled"] >= 1 and outcome.steps[1].observation["name"]
    assert {change.table for change in outcome.changes} == {"orders", "products"}


def test_what_a_search_does_is_found_by_calling_it(rows, build):
    result, _ = build(script(rows, "find_large_orders"))
    (tool,) = result.tools
    assert (tool.kind, tool.table) == ("search", "orders")
    least, limit = tool.inputs
    assert (least.meaning, least.of, limit.meaning) == ("at_least", "orders.total", "limit")
    meanings = {field.path: (field.meaning, field.of) for field in tool.outputs}
    assert meanings["orders[].order_id"] == ("cell", "orders.order_id") and meanings["matches"] == ("matches", "orders")


def test_an_action_that_the_code_bears_out_is_kept_with_the_tool(rows, build):
    result, server = build(script(rows, _BACK), mutants=8)
    assert told(result) == {} == unused(result)
    (tool,), (action,) = result.tools, result.actions
    assert (tool.kind, tool.table, tool.action) == ("transition", "orders", _BACK) == (
        action.kind, action.table, action.name
    )  # fmt: skip
    assert [(f.path, f.meaning, f.of) for f in tool.inputs] == [("order_id", "equals", "orders.order_id")]
    assert {f.of for f in tool.outputs} == {"orders.order_id", "orders.status", "orders.total"}
    assert action.rules[0].message == "Refused if the total is above 900."
    names = {test.name for test in result.tests}
    assert {"leaves_what_the_rules_say_1", "refuses_too_dear_1", "refuses_invalid_state_1"} <= names
    assert all(test.passed for test in result.tests) and len(server.requests) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("> 900", "> 950", "refuses_too_dear"),
        ("stock = stock + ?", "stock = stock + 1 + 0 * ?", "stock"),
        ('!= "shipped"', 'not in ("shipped", "pending")', "refuses_invalid_state"),
    ],
    ids=["rule", "effect", "states"],
)
def test_code_that_does_otherwise_than_its_action_is_told_and_then_kept_without(rows, build, old, new, words):
    blunt = [test for test in right_tests(_BACK, rows) if test["name"] != "refuses_a_second_time"]
    blunt[0] = {**blunt[0], "after": []}
    blunt.append({**blunt[-1], "name": "another_unknown_order", "arguments": {"order_id": "ord-nil"}})
    bad = written(_BACK, rows, _wrong(_BACK, old, new), tests=blunt)
    answers = script(rows, _BACK, write=lambda _: bad, revise=lambda _: bad, test=lambda _: {"tests": blunt})
    result, server = build(answers, mutants=0)
    (tool,) = result.tools
    assert (tool.kind, tool.action, result.actions) == ("write", "", [])
    assert "does not do what the action of its plan says" in unused(result)[_BACK]
    assert any("a rule's test" in seen.text and words in seen.text for seen in server.requests)


def test_an_action_that_does_not_fit_the_tables_goes_back(rows, build):
    action = PLANS[_BACK]["action"]
    wrong = planned(_BACK, action={**action, "to_state": "returned", "verb": "Take back the order!"})
    result, server = build(script(rows, plan=[wrong, planned(_BACK)]), mutants=0)
    assert [tool.kind for tool in result.tools] == ["transition"]
    assert "state 'returned' is none of" in server.requests[1].text


def test_the_tester_sees_no_code(rows, build):
    _, server = build(script(rows, "summarize_customer"))
    seen = [request.text for request in server.requests if "independent tester" in request.text]
    assert len(seen) == 1 and "ctx.db" not in seen[0] and "def summarize_customer" not in seen[0]
    assert "Count a customer's orders that are not cancelled" in seen[0] and "An order can be cancelled" in seen[0]


def _wrong(name, old, new):
    assert old in SOURCES[name]
    return SOURCES[name].replace(old, new)


_FIND, _SUM, _CANCEL, _BACK = list(PLANS)[:4]
_FAULTS = {
    # what is wrong: (tool, right, wrong, what the coder is told)
    "wrong": (_SUM, "<> 'cancelled'", "<> 'pending'", "spent is"),
    "crash": (_SUM, 'customer["name"]', 'customer["nam"]', "KeyError: 'nam' (line 19 of the tool)"),
    "undefined": (_SUM, "len(standing)", "len(standings)", 'Name "standings" is not defined'),
    "none": (_SUM, "if customer is None", "if not customer_id", 'Value of type "dict[str, Any] | None"'),
    "import": (_SUM, "from typing", "import numpy\nfrom typing", "it imports numpy"),
    "loop": (_FIND, "least = 0 if", "while limit:\n        pass\n    least = 0 if", "timeout"),
    "outputs": (_FIND, '"matches": ctx', '"extra": 1, "matches": ctx', "which its outputs do not declare"),
    "writes": (
        _CANCEL, "for order in", 'ctx.db.execute("DELETE FROM suppliers")\n    for order in',
        "its SQL writes ['suppliers'], which it does not declare",
    ),
    "hidden writes": (
        _CANCEL, "for order in", "ctx.db.execute(\"UPD\" + \"ATE customers SET city = 'Graz'\")\n    for order in",
        "it changed ['customers'], which it does not declare",
    ),
    "hidden reads": (
        _FIND, "    return {", '    if ctx.db.value("SELECT 1 FR" + "OM customers"):\n        least += 0\n    return {',
        "it reads more than it declares",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "words"), _FAULTS.values(), ids=_FAULTS)
def test_wrong_code_goes_back_with_the_trace_and_is_mended(rows, build, name, old, new, words):
    result, server = build(script(rows, name, write=lambda _: written(name, rows, _wrong(name, old, new))), mutants=0)
    assert [tool.name for tool in result.tools] == [name] and told(result) == {}
    assert result.tools[0].source_code == SOURCES[name]
    (revision,) = [request.text for request in server.requests if REVISE in request.text]
    assert words in revision and new.partition("\n")[0] in revision and count(server, REVIEW) == 0


def test_a_wrong_test_of_the_tester_is_reviewed_by_it_alone(rows, build):
    wrong = right_tests("summarize_customer", rows)
    wrong[0]["expect"] = [{"path": "order_count", "value": 99}]
    review = {"tests": [{"name": wrong[0]["name"], "verdict": "correct", "reason": "I had guessed the number.",
                         "corrected": right_tests("summarize_customer", rows)[0]}]}  # fmt: skip
    answers = script(rows, "summarize_customer", test=lambda _: {"tests": wrong}, review=lambda _: review)
    result, server = build(answers)
    assert len(result.tools) == 1 and count(server, REVISE) == 0
    (asked,) = [request.text for request in server.requests if REVIEW in request.text]
    assert "instead of 99" in asked and "ctx.db" not in asked


def test_a_test_that_the_tester_keeps_goes_to_the_coder(rows, build):
    source = _wrong("summarize_customer", "<> 'cancelled'", "<> 'pending'")
    own = [{**right_tests("summarize_customer", rows)[-1], "name": f"unknown_{n}"} for n in range(2)]
    named = f"SELECT name FROM customers WHERE customer_id = '{rows['pending']}'"
    own.append({"name": "has_a_name", "kind": "normal", "arguments": {"customer_id": rows["pending"]},
                "expect": [{"path": "name", "sql": named}]})  # fmt: skip
    keep = [{"name": test["name"], "verdict": "keep", "reason": "The description says so."}
            for test in right_tests("summarize_customer", rows)[:2]]  # fmt: skip

    def review(body):
        text = body["messages"][-1]["content"]
        return {"tests": [one for one in keep if f'"name": "{one["name"]}"' in text]}

    answers = script(rows, "summarize_customer", write=lambda _: written("summarize_customer", rows, source, tests=own))
    answers[REVIEW] = lambda body: answer(review(body))
    result, server = build(answers, mutants=0)
    assert len(result.tools) == 1 and (count(server, REVIEW), count(server, REVISE)) == (1, 1)


_NAMES = {
    "name": "list_cities", "kind": "read", "reads": ["customers"], "purpose": "List the cities of customers, by name.",
    "returns": [{"path": "cities", "type": "array", "description": "The cities."}],
}  # fmt: skip
_CITIES = '''"""The tool list_cities."""

from typing import Any


def list_cities(ctx: Any) -> dict[str, Any]:
    """List the cities of customers."""
    found = ctx.db.rows("SELECT DISTINCT city FROM customers ORDER BY city")
    return {"cities": [row["city"] for row in found]}
'''
_ITEMS = {"path": "cities[]", "type": "string", "description": "A city."}
_CITY_TESTS = [
    *({"name": f"lists_them_{n}", "kind": "normal",
       "expect": [{"path": "cities[]", "sql": "SELECT DISTINCT city FROM customers ORDER BY city"}]} for n in (1, 2)),
    {"name": "takes_nothing", "kind": "refusal", "arguments": {"city": "Graz"}, "error": "INVALID_ARGUMENTS"},
]  # fmt: skip


def _cities(**more):
    return {"source_code": _CITIES, "reads": ["customers"], "writes": [], "tests": _CITY_TESTS, **more}


def test_a_list_of_plain_values_must_say_what_is_in_it_when_it_is_planned(rows, build):
    whole = {**_NAMES, "returns": [_ITEMS]}  # the list around the items is added
    plans = [{"tools": [_NAMES]}, {"tools": [whole]}]
    answers = script(rows, plan=plans, write=lambda _: _cities(), test=lambda _: {"tests": _CITY_TESTS})
    result, server = build(answers, mutants=0)
    assert "add 'cities[]' for plain values" in server.requests[1].text
    assert [field.path for field in result.tools[0].outputs] == ["cities", "cities[]"] and told(result) == {}


def test_a_repair_may_mend_what_the_plan_says_of_the_answer(rows, build):
    wrong = {**_NAMES, "returns": [{**_ITEMS, "type": "integer"}]}
    mended = [{**_NAMES["returns"][0]}, _ITEMS]
    answers = script(rows, plan=[{"tools": [wrong]}], write=lambda _: _cities(),
                     revise=lambda _: _cities(returns=mended), test=lambda _: {"tests": _CITY_TESTS})  # fmt: skip
    result, server = build(answers, mutants=0)
    assert [field.type for field in result.tools[0].outputs] == ["array", "string"] and count(server, REVISE) == 1


def test_code_that_comes_back_unchanged_is_told_and_has_its_other_attempts(rows, build):
    bad = written("summarize_customer", rows, _wrong("summarize_customer", "<> 'cancelled'", "<> 'pending'"))
    replies = [bad, bad, written("summarize_customer", rows)]
    answers = script(rows, "summarize_customer", write=lambda _: bad, revise=replies)
    result, server = build(answers, mutants=0, roles=("CODER",))
    asked = [request.text for request in server.requests if REVISE in request.text]
    assert len(result.tools) == 1 and ["you sent the same" in text for text in asked] == [False, True, True]


def test_endless_repair_ends_and_the_gate_is_told(rows, build):
    source = _wrong("summarize_customer", "<> 'cancelled'", "<> 'pending'")
    bad = written("summarize_customer", rows, source)
    answers = script(rows, "summarize_customer", "find_large_orders", write=lambda name: bad if name in source else
                     written(name, rows), revise=lambda _: bad)  # fmt: skip
    result, server = build(answers)
    assert [tool.name for tool in result.tools] == ["find_large_orders"], "the next tool is made all the same"
    gate, reason = told(result)["summarize_customer"]
    assert gate == "tests" and "spent is" in reason
    assert count(server, REVISE) <= 3
    assert any(test.tool == "summarize_customer" and test.passed is False for test in result.tests)


@pytest.mark.parametrize(
    "attack",
    [
        "().__class__.__base__.__subclasses__()",
        "ctx.db._connection.close()",
        "open('/etc/passwd').read()",
        "__import__('os').system('true')",
        "ctx.db.execute(\"ATTACH DATABASE '/tmp/x' AS x\")",
        "str('{0.__class__}').format(ctx) and ctx.db.rows('SELECT load_extension(1)')",
        "[0] * (1 << 36)",
    ],
)
def test_code_that_attacks_the_sandbox_is_never_kept(rows, build, attack):
    source = _wrong("summarize_customer", "    customer = ", f"    found = {attack}\n    customer = ")
    bad = written("summarize_customer", rows, source)
    result, _ = build(script(rows, "summarize_customer", write=lambda _: bad, revise=lambda _: bad), mutants=0)
    assert result.tools == [] and told(result)["summarize_customer"][0] in ("imports", "types", "tests", "memory")


def test_a_query_of_a_test_cannot_do_more_than_read(rows, build):
    tests = right_tests("summarize_customer", rows)
    tests[0]["expect"] = [{"path": "spent", "sql": "DELETE FROM orders RETURNING total"}]
    tests[1]["expect"] = [{"path": "spent", "sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                                   "SELECT MAX(i) FROM n"}]  # fmt: skip
    result, server = build(script(rows, "summarize_customer", test=lambda _: {"tests": tests}))
    assert len(result.tools) == 1, "without a tester, rules are the other hand"
    gate, reason = told(result)["tests of summarize_customer"]
    assert gate == "model_output" and "READ_ONLY" not in reason
    assert any("changed rows" in seen.text and "interrupted" in seen.text for seen in server.requests)


def test_a_citation_that_no_document_holds_goes_back_and_then_costs_the_tool(rows, build):
    invented = {"code": "NOTHING_PENDING", "when": "nothing is pending", "document": "returns.md",
                "quote": "Cancelling costs five euros after the first hour."}  # fmt: skip
    false = planned("cancel_all_pending", refusals=[invented])
    both = {"tools": [*false["tools"], *planned("summarize_customer")["tools"]]}
    result, server = build(script(rows, plan=[both, both, both]))
    assert [tool.name for tool in result.tools] == ["summarize_customer"]
    gate, reason = told(result)["cancel_all_pending"]
    assert gate == "citation" and "does not stand in it" in reason
    assert "which does not stand in it" in server.requests[1].text


def test_a_citation_that_is_mended_counts(rows, build):
    invented = [{**refusal_, "quote": refusal_.get("quote", "") and "An order can be cancelled at any time."}
                for refusal_ in PLANS["cancel_all_pending"]["refusals"]]  # fmt: skip
    false = planned("cancel_all_pending", refusals=invented)
    result, _ = build(script(rows, plan=[false, planned("cancel_all_pending")]))
    assert [tool.cites for tool in result.tools] == [(f"NOTHING_PENDING: returns.md: {_CITED}",)] and not told(result)


def test_a_name_that_rules_have_taken_is_no_new_tool(rows, kept, build):
    taken = planned("summarize_customer", name=kept[0].name)
    result, server = build(script(rows, plan=[taken, taken, taken]))
    assert result.tools == [] and told(result)[kept[0].name][0] == "plan"
    assert "there is a tool of this name already" in server.requests[1].text


@pytest.mark.parametrize(
    ("replies", "gate"),
    [
        ([say('{"tools": [')] * 3, "model_output"),
        ([refusal()], "model_refused"),
        ([status(400)], "model_unreachable"),
    ],
    ids=["malformed", "refused", "error"],
)
def test_a_coder_that_fails_leaves_the_rules_tools_alone(rows, build, replies, gate):
    result, _ = build(script(rows, plan=replies))
    assert result.tools == [] and [r.gate for r in result.rejections] == [gate]
    assert result.rejections[0].key == "model tools"


def test_one_step_that_fails_costs_one_tool(rows, build):
    answers = script(rows, "summarize_customer", "find_large_orders",
                     write=lambda name: refusal() if name == "summarize_customer" else written(name, rows))  # fmt: skip
    result, _ = build(answers)
    assert [tool.name for tool in result.tools] == ["find_large_orders"]
    assert told(result)["summarize_customer"][0] == "model_refused"


def test_without_a_tester_rules_write_the_other_hands_tests(rows, build):
    result, server = build(script(rows, "summarize_customer"), roles=("CODER",))
    assert len(result.tools) == 1 and len(server.requests) == 2
    names = {test.name for test in result.tests if test.author == "tester"}
    assert "property_refuses_missing_arguments" in names and "property_again_adds_up_for_pending" in names


def test_weak_tests_of_both_hands_are_told_what_they_miss(rows, build):
    first = [{"path": "orders[0].order_id", "sql": "SELECT MIN(order_id) FROM orders"}]
    blunt = [{"name": f"shows_one_{n}", "kind": "normal", "arguments": {"limit": n}, "expect": first} for n in (1, 2)]
    blunt.append(right_tests(_FIND, rows)[-1])
    answers = script(rows, _FIND, test=lambda _: {"tests": blunt}, write=lambda _: written(_FIND, rows, tests=blunt))
    result, server = build(answers, mutants=6)
    assert len(result.tools) == 1 and count(server, REVISE) == 1
    assert any("its tests notice only" in request.text for request in server.requests)


def test_below_the_floor_no_model_is_asked(shop, kept, rows, tmp_path):
    weak = SandboxWorker(bubblewrap=False, landlock=False)
    with ChatServer(script(rows, "summarize_customer")) as server, weak:
        environ = {"AGENTWORLD_MODEL_ALL": "openai:scripted", "AGENTWORLD_MODEL_ALL_BASE_URL": server.base_url}
        gateway = Gateway(load_roles(None, environ), open_store(f"file://{tmp_path}"))
        result = add_tools(shop.database, shop.snapshot, kept, weak, gateway)
    assert result.tools == [] and [r.gate for r in result.rejections] == ["sandbox"] and not server.requests
