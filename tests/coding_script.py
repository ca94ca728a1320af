"""What a scripted model answers as coder and as tester of the shop: plans, sources and tests that are right."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from chat_server import Scripted, answer

from tasks.coding.snapshot import Reader

Answers = dict[str, Any]

PLAN, WRITE, REVISE = "You plan tools for", "You write one tool for", "You wrote a tool for"
TEST, REVIEW = "is being\nwritten by someone else", "You wrote tests of a tool"
"""A line of each step's prompt that no other step's prompt holds."""

LIMIT = {"name": "limit", "type": "integer", "description": "The most rows; 20 when left out.", "required": False,
         "minimum": 1, "maximum": 50, "default": 20}  # fmt: skip
CUSTOMER = {"name": "customer_id", "type": "string", "description": "The id of the customer."}
UNKNOWN = {"code": "NOT_FOUND", "when": "there is no customer with this id"}

PLANS: dict[str, Answers] = {
    "find_large_orders": {
        "name": "find_large_orders", "kind": "read", "reads": ["orders"],
        "purpose": "Find orders whose total is at least an amount, by order id, and say how many there are.",
        "parameters": [
            {"name": "min_total", "type": "number", "description": "The least total in EUR.", "required": False}, LIMIT,
        ],
        "returns": [
            {"path": "orders", "type": "array", "description": "The orders."},
            {"path": "orders[].order_id", "type": "string", "description": "The id."},
            {"path": "orders[].total", "type": "number", "description": "The total."},
            {"path": "matches", "type": "integer", "description": "How many orders match, beyond the limit too."},
        ],
    },
    "summarize_customer": {
        "name": "summarize_customer", "kind": "read", "reads": ["customers", "orders"],
        "purpose": "Count a customer's orders that are not cancelled and add up their totals, to 2 decimals.",
        "parameters": [CUSTOMER],
        "returns": [
            {"path": "name", "type": "string", "description": "The customer's name."},
            {"path": "order_count", "type": "integer", "description": "How many orders are not cancelled."},
            {"path": "spent", "type": "number", "description": "The sum of their totals, 0 if there is none."},
        ],
        "refusals": [UNKNOWN],
    },
    "cancel_all_pending": {
        "name": "cancel_all_pending", "kind": "write",
        "reads": ["customers", "orders"], "writes": ["orders", "products"],
        "purpose": "Cancel all pending orders of a customer; their units go back to the stock of their products.",
        "parameters": [CUSTOMER],
        "returns": [
            {"path": "customer_id", "type": "string", "description": "The customer."},
            {"path": "cancelled", "type": "integer", "description": "How many orders were cancelled."},
        ],
        "refusals": [
            UNKNOWN,
            {"code": "NOTHING_PENDING", "when": "no order of the customer is pending", "document": "returns.md",
             "quote": "An order can be cancelled while it is pending."},
        ],
    },
    "take_back_order": {
        "name": "take_back_order", "kind": "write", "reads": ["orders", "products"], "writes": ["orders", "products"],
        "purpose": "Take back an order that was shipped: it becomes cancelled and its units go back to the stock.",
        "parameters": [{"name": "order_id", "type": "string", "description": "The id of the order."}],
        "returns": [
            {"path": "order_id", "type": "string", "description": "The order."},
            {"path": "status", "type": "string", "description": "Its status now."},
            {"path": "total", "type": "number", "description": "Its total in EUR."},
        ],
        "refusals": [
            {"code": "NOT_FOUND", "when": "there is no order with this id"},
            {"code": "INVALID_STATE", "when": "the order was not shipped"},
            {"code": "TOO_DEAR", "when": "the total is above 900"},
        ],
        "action": {
            "verb": "take back", "kind": "transition", "table": "orders", "status_column": "status",
            "from_states": ["shipped"], "to_state": "cancelled",
            "rules": [{"path": "total", "operator": "<=", "value": 900, "code": "TOO_DEAR"}],
            "effects": [{"path": "product_id.stock", "operation": "add", "value": "$quantity"}],
        },
    },
    "move_customer": {
        "name": "move_customer", "kind": "write", "reads": ["customers"], "writes": ["customers"],
        "purpose": "Note that a customer has moved to another city.",
        "parameters": [
            CUSTOMER,
            {"name": "city", "type": "string", "description": "The new city.",
             "enum": ["Lyon", "Porto", "Graz", "Turku"]},
        ],
        "returns": [
            {"path": "customer_id", "type": "string", "description": "The customer."},
            {"path": "name", "type": "string", "description": "The customer's name."},
            {"path": "city", "type": "string", "description": "The city now."},
            {"path": "tier", "type": "string", "description": "The customer's tier."},
        ],
        "refusals": [UNKNOWN],
        "action": {"verb": "move", "kind": "update", "table": "customers", "parameters": ["city"]},
    },
    "sum_order_totals": {
        "name": "sum_order_totals", "kind": "read", "reads": ["orders"],
        "purpose": "Add up the totals of a customer's orders, of all or of those with one status, to 2 decimals.",
        "parameters": [CUSTOMER, {"name": "status", "type": "string", "description": "Only these.", "required": False,
                                  "enum": ["pending", "shipped", "delivered", "cancelled"]}],
        "returns": [
            {"path": "turnover", "type": "number", "description": "The sum in EUR, 0 if there is none."},
            {"path": "orders", "type": "integer", "description": "How many orders were added up."},
        ],
    },
}  # fmt: skip

SOURCES = {
    "find_large_orders": '''"""The tool find_large_orders."""

from __future__ import annotations

from typing import Any


def find_large_orders(ctx: Any, *, min_total: float | None = None, limit: int = 20) -> dict[str, Any]:
    """Find orders whose total is at least an amount."""
    least = 0 if min_total is None else min_total
    found = ctx.db.rows(
        "SELECT order_id, total FROM orders WHERE total >= ? ORDER BY order_id LIMIT ?", (least, limit)
    )
    return {"orders": found, "matches": ctx.db.value("SELECT COUNT(*) FROM orders WHERE total >= ?", (least,))}
''',
    "summarize_customer": '''"""The tool summarize_customer."""

from __future__ import annotations

from typing import Any


def summarize_customer(ctx: Any, *, customer_id: str) -> dict[str, Any]:
    """Select what a customer spent from the orders that stand."""
    customer = ctx.db.row("SELECT name FROM customers WHERE customer_id = ?", (customer_id,))
    if customer is None:
        return ctx.refuse("NOT_FOUND", f"There is no customer with the id {customer_id!r}.")
    standing = ctx.db.rows(
        "WITH mine AS (SELECT status, total FROM orders WHERE customer_id = ?) "
        "SELECT total FROM mine WHERE status <> 'cancelled'",
        (customer_id,),
    )
    spent = round(sum(order["total"] for order in standing), 2)
    return {"name": customer["name"], "order_count": len(standing), "spent": spent}
''',
    "cancel_all_pending": '''"""The tool cancel_all_pending."""

from __future__ import annotations

from typing import Any


def cancel_all_pending(ctx: Any, *, customer_id: str) -> dict[str, Any]:
    """Cancel all pending orders of a customer."""
    if ctx.db.row("SELECT customer_id FROM customers WHERE customer_id = ?", (customer_id,)) is None:
        return ctx.refuse("NOT_FOUND", f"There is no customer with the id {customer_id!r}.")
    pending = ctx.db.rows(
        "SELECT order_id, product_id, quantity FROM orders WHERE customer_id = ? AND status = 'pending'", (customer_id,)
    )
    if not pending:
        return ctx.refuse("NOTHING_PENDING", "No order of this customer is pending.")
    for order in pending:
        ctx.db.execute(
            "UPDATE products SET stock = stock + ? WHERE product_id = ?", (order["quantity"], order["product_id"])
        )
        ctx.db.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = ?", (order["order_id"],))
    return {"customer_id": customer_id, "cancelled": len(pending)}
''',
    "take_back_order": '''"""The tool take_back_order."""

from __future__ import annotations

from typing import Any


def take_back_order(ctx: Any, *, order_id: str) -> dict[str, Any]:
    """Take back an order that was shipped."""
    found = ctx.db.rows("SELECT o.status, o.total, o.quantity, p.product_id FROM orders o, products AS p "
                        "WHERE p.product_id = o.product_id AND o.order_id = ?", (order_id,))
    if not found:
        return ctx.refuse("NOT_FOUND", f"There is no order with the id {order_id!r}.")
    order = found[0]
    if order["status"] != "shipped":
        return ctx.refuse("INVALID_STATE", f"The order is {order['status']}; it must be shipped.")
    if order["total"] > 900:
        return ctx.refuse("TOO_DEAR", "The total is above 900.")
    ctx.db.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = ?", (order_id,))
    ctx.db.execute("UPDATE products SET stock = stock + ? WHERE product_id = ?",
                   (order["quantity"], order["product_id"]))
    return ctx.db.row("SELECT order_id, status, total FROM orders WHERE order_id = ?", (order_id,))
''',
    "move_customer": '''"""The tool move_customer."""

from __future__ import annotations

from typing import Any


def move_customer(ctx: Any, *, customer_id: str, city: str) -> dict[str, Any]:
    """Note that a customer has moved to another city."""
    ctx.db.execute("UPDATE customers SET city = ? WHERE customer_id = ?", (city, customer_id))
    row = ctx.db.row("SELECT customer_id, name, city, tier FROM customers WHERE customer_id = ?", (customer_id,))
    return row or ctx.refuse("NOT_FOUND", f"There is no customer with the id {customer_id!r}.")
''',
    "sum_order_totals": '''"""The tool sum_order_totals."""

from __future__ import annotations

from typing import Any


def sum_order_totals(ctx: Any, *, customer_id: str, status: str | None = None) -> dict[str, Any]:
    """Add up the totals of a customer's orders."""
    totals = ctx.db.rows(
        "SELECT total FROM orders WHERE customer_id = ? AND (? IS NULL OR status = ?)", (customer_id, status, status)
    )
    return {"turnover": round(sum(order["total"] for order in totals), 2), "orders": len(totals)}
''',
}


def shop_ids(snapshot: bytes) -> Answers:
    """Return ids of the shop's rows that tests are about, see `right_tests`."""
    with Reader(snapshot) as reader:
        pending, product = reader.rows(
            "SELECT customer_id, product_id FROM orders WHERE status = 'pending' ORDER BY order_id LIMIT 1"
        )[0].values()
        settled = reader.value(
            "SELECT customer_id FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE status = "
            "'pending') ORDER BY order_id LIMIT 1"
        )
        total = reader.value("SELECT total FROM orders ORDER BY total DESC LIMIT 1 OFFSET 9")
        shipped = reader.value("SELECT order_id FROM orders WHERE status = 'shipped' AND total < 900 ORDER BY order_id")
    return {"pending": pending, "product": product, "settled": settled, "total": total, "shipped": shipped}


_SPENT = "SELECT ROUND(COALESCE(SUM(total), 0), 2)"
_STANDING = "FROM orders WHERE customer_id = '{}' AND status <> 'cancelled'"


def right_tests(name: str, shop: Answers) -> list[Answers]:
    """Return tests of one of the tools that are right and sharp.

    Args:
        shop: ids of rows: a customer with pending orders (pending), one without (settled), a product, a shipped order
            below 900 EUR.
    """
    unknown = {"name": "unknown_customer", "kind": "refusal", "arguments": {"customer_id": "cus-none"},
               "error": "NOT_FOUND"}  # fmt: skip
    if name == "find_large_orders":
        ids = "SELECT order_id FROM orders WHERE total >= {} ORDER BY order_id LIMIT {}"
        return [
            {"name": "all_above", "kind": "normal", "arguments": {"min_total": 300, "limit": 50},
             "expect": [{"path": "orders[].order_id", "sql": ids.format(300, 50)},
                        {"path": "matches", "sql": "SELECT COUNT(*) FROM orders WHERE total >= 300"}]},
            {"name": "exactly_at_one", "kind": "boundary", "arguments": {"min_total": shop["total"], "limit": 50},
             "expect": [{"path": "orders[].order_id", "sql": ids.format(shop["total"], 50)},
                        {"path": "matches", "sql": f"SELECT COUNT(*) FROM orders WHERE total >= {shop['total']}"}]},
            {"name": "all_by_default", "kind": "boundary",
             "expect": [{"path": "orders[].order_id", "sql": ids.format(0, 20)},
                        {"path": "matches", "sql": "SELECT COUNT(*) FROM orders"}]},
            {"name": "no_limit_of_zero", "kind": "refusal", "arguments": {"limit": 0}, "error": "INVALID_ARGUMENTS"},
        ]  # fmt: skip
    if name == "summarize_customer":
        return [
            *(
                {"name": f"adds_up_for_{what}", "kind": "normal", "arguments": {"customer_id": shop[what]},
                 "expect": [
                     {"path": "spent", "sql": f"{_SPENT} {_STANDING.format(shop[what])}"},
                     {"path": "order_count", "sql": f"SELECT COUNT(*) {_STANDING.format(shop[what])}"},
                     {"path": "name", "sql": f"SELECT name FROM customers WHERE customer_id = '{shop[what]}'"}]}
                for what in ("pending", "settled")
            ),
            unknown,
        ]  # fmt: skip
    if name == "take_back_order":
        order = f"FROM orders WHERE order_id = '{shop['shipped']}'"
        arguments = {"order_id": shop["shipped"]}
        product = f"FROM products WHERE product_id = (SELECT product_id {order})"
        return [
            {"name": "takes_it_back", "kind": "normal", "arguments": arguments,
             "expect": [{"path": "status", "value": "cancelled"}, {"path": "total", "sql": f"SELECT total {order}"}],
             "after": [{"query": f"SELECT stock {product}",
                        "sql": f"SELECT stock + (SELECT quantity {order}) {product}"}]},
            {"name": "refuses_a_second_time", "kind": "refusal", "arguments": arguments, "error": "INVALID_STATE",
             "setup": [{"tool": "take_back_order", "arguments": arguments}]},
            {"name": "unknown_order", "kind": "refusal", "arguments": {"order_id": "ord-none"}, "error": "NOT_FOUND"},
        ]  # fmt: skip
    if name == "move_customer":
        moved = f"SELECT city FROM customers WHERE customer_id = '{shop['pending']}'"
        others = f"SELECT COUNT(*) FROM customers WHERE city = 'Graz' AND customer_id <> '{shop['pending']}'"
        return [
            {"name": "moves", "kind": "normal", "arguments": {"customer_id": shop["pending"], "city": "Graz"},
             "expect": [{"path": "city", "value": "Graz"}],
             "after": [{"query": moved, "value": "Graz"}, {"query": others, "sql": others}]},
            {"name": "no_such_city", "kind": "refusal", "arguments": {"customer_id": shop["pending"], "city": "Rome"},
             "error": "INVALID_ARGUMENTS"},
            {**unknown, "arguments": {"customer_id": "cus-none", "city": "Graz"}},
        ]  # fmt: skip
    if name == "sum_order_totals":
        mine = f"FROM orders WHERE customer_id = '{shop['pending']}'"
        return [
            {"name": "adds_up_all", "kind": "normal", "arguments": {"customer_id": shop["pending"]},
             "expect": [{"path": "turnover", "sql": f"{_SPENT} {mine}"},
                        {"path": "orders", "sql": f"SELECT COUNT(*) {mine}"}]},
            {"name": "adds_up_pending", "kind": "normal",
             "arguments": {"customer_id": shop["pending"], "status": "pending"},
             "expect": [{"path": "turnover", "sql": f"{_SPENT} {mine} AND status = 'pending'"}]},
            {"name": "nobody", "kind": "boundary", "arguments": {"customer_id": "cus-none"},
             "expect": [{"path": "turnover", "value": 0}, {"path": "orders", "value": 0}]},
            {"name": "needs_a_customer", "kind": "refusal", "arguments": {}, "error": "INVALID_ARGUMENTS"},
        ]  # fmt: skip
    pending = f"FROM orders WHERE customer_id = '{shop['pending']}' AND status = 'pending'"
    product = f"FROM products WHERE product_id = '{shop['product']}'"
    back = f"SELECT SUM(quantity) {pending} AND product_id = '{shop['product']}'"
    arguments = {"customer_id": shop["pending"]}
    return [
        {"name": "cancels_all", "kind": "normal", "arguments": arguments,
         "expect": [{"path": "cancelled", "sql": f"SELECT COUNT(*) {pending}"}],
         "after": [{"query": f"SELECT COUNT(*) {pending}", "value": 0},
                   {"query": f"SELECT stock {product}", "sql": f"SELECT stock + ({back}) {product}"},
                   {"query": "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'",
                    "sql": f"SELECT COUNT(*) + (SELECT COUNT(*) {pending}) FROM orders WHERE status = 'cancelled'"}]},
        {"name": "refuses_a_second_time", "kind": "refusal", "arguments": arguments, "error": "NOTHING_PENDING",
         "setup": [{"tool": "cancel_all_pending", "arguments": arguments}]},
        {"name": "refuses_without_any", "kind": "refusal", "arguments": {"customer_id": shop["settled"]},
         "error": "NOTHING_PENDING"},
        unknown,
    ]  # fmt: skip


def written(name: str, shop: Answers, source: str | None = None, **changes: Any) -> Answers:
    """Return the coder's answer that writes one of the tools."""
    plan = PLANS[name]
    return {
        "source_code": source or SOURCES[name], "reads": plan.get("reads", []), "writes": plan.get("writes", []),
        "tests": right_tests(name, shop), **changes,
    }  # fmt: skip


def planned(*names: str, **changes: Any) -> Answers:
    """Return the coder's answer that plans tools, each with the changes."""
    return {"tools": [{**copy.deepcopy(PLANS[name]), **changes} for name in names]}


def asked_for(body: dict[str, Any]) -> str:
    """Return the name of the tool that a request's prompt is about: that of the last plan in it."""
    text = "\n".join(str(message.get("content") or "") for message in body["messages"])
    return re.findall(r'^ "name": "(\w+)"', text, re.MULTILINE)[-1]


def script(shop: Answers, *names: str, **steps: Any) -> dict[str, Any]:
    """Return a script for `ChatServer` in which both hands are right, but for the steps that are given.

    Args:
        names: the tools that are planned.
        steps: plan, write, revise, test, review -> a function of the tool's name, or a list of replies.
    """
    usual: dict[str, Callable[[str], Any]] = {
        "plan": lambda name: planned(*names), "write": lambda name: written(name, shop),
        "revise": lambda name: written(name, shop), "test": lambda name: {"tests": right_tests(name, shop)},
        "review": lambda name: {"tests": []},
    }  # fmt: skip
    markers = {"plan": PLAN, "write": WRITE, "revise": REVISE, "test": TEST, "review": REVIEW}

    def reply(step: str) -> Any:
        given = steps.get(step, usual[step])
        if isinstance(given, list):
            return [item if isinstance(item, Scripted) else answer(item) for item in given]
        return lambda body: _scripted(given("" if step == "plan" else asked_for(body)))

    return {markers[step]: reply(step) for step in usual}


def _scripted(found: Any) -> Scripted:
    return found if isinstance(found, Scripted) else answer(json.loads(json.dumps(found)))
