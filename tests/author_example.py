"""A model that writes tasks for the shop, as the scripted server plays it: each step's prompt is known by its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chat_server import ChatServer, Script, Scripted, answer
from models_example import gateway_for
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.environment import Rejection
from tasks.store import LocalStore
from tasks.synthesis import SynthesisResult, synthesize

RETELL, REVIEW, SAME = "Tell it again as a person", "You review requests", "You compare two wordings"
GOALS, SOLUTION, VERIFIER = "You think up requests", "program that fulfils one request", "program that checks whether"

GOAL = {
    "request": 'Look at the orders that are "pending". Cancel the one with the smallest total, there is only one such.',
    "fields": [
        {"name": "cancelled_total", "type": "number", "meaning": "the total of the order that you cancelled"},
        {"name": "customer_name", "type": "string", "meaning": "the name of the customer who had placed it"},
    ],
    "changes_data": True,
}
SOLVED = """
def solve(call):
    orders = call("list_orders", status="pending")["orders"]
    order = min(orders, key=lambda row: row["total"])
    call("cancel_order", order_id=order["order_id"])
    customer = call("get_customer", customer_id=order["customer_id"])
    return {"cancelled_total": order["total"], "customer_name": customer["name"]}
"""
CHECKED = """
def verify(before, after, answer):
    orders = [row for row in before["orders"] if row["status"] == "pending"]
    order = min(orders, key=lambda row: row["total"])
    names = {row["customer_id"]: row["name"] for row in before["customers"]}
    stock = {row["product_id"]: row["stock"] for row in before["products"]}
    found = {(entry["table"], entry["key"]): entry["after"] for entry in changed(before, after)}
    mine = found.get(("orders", order["order_id"])) or {}
    shelf = found.get(("products", order["product_id"])) or {}
    total = answer.get("cancelled_total")
    return {
        "rows": set(found) == {("orders", order["order_id"]), ("products", order["product_id"])},
        "cancelled": mine.get("status") == "cancelled" and mine.get("quantity") == order["quantity"],
        "stock": shelf.get("stock") == stock[order["product_id"]] + order["quantity"],
        "total": isinstance(total, float) and abs(total - order["total"]) < 0.011,
        "customer": answer.get("customer_name") == names[order["customer_id"]],
    }
"""


def draft_in(body: Mapping[str, Any]) -> str:
    """Return the draft that a prompt for a retelling holds."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    return re.search(r"The draft that you tell again:\n<<<DATA\n(.*?)\nDATA>>>", text, re.DOTALL)[1]


def retelling(change: Callable[[str], str]) -> Callable[[dict[str, Any]], Scripted]:
    """Return a script that tells every draft as `change` does."""
    return lambda body: answer({"request": change(draft_in(body))})


def writer(**steps: Script) -> dict[str, Script]:
    """Return the scripts of a model that does well, with the given steps done otherwise (retell, review, same ...)."""
    good: dict[str, Script] = {
        "retell": retelling(lambda draft: f"I would like some help with this. {draft}"),
        "review": lambda body: answer({"sensible": True, "reason": "someone may want this"}),
        "same": lambda body: answer({"same": True, "difference": ""}),
        "goals": lambda body: answer({"goals": [GOAL]}),
        "solution": lambda body: answer({"script": SOLVED}),
        "verifier": lambda body: answer({"script": CHECKED}),
    }
    markers = {
        "retell": RETELL,
        "review": REVIEW,
        "same": SAME,
        "goals": GOALS,
        "solution": SOLUTION,
        "verifier": VERIFIER,
    }
    return {markers[name]: script for name, script in (good | steps).items()}


def written(folder: Path, script: Mapping[str, Script], **options: Any) -> tuple[SynthesisResult, ChatServer]:
    """Synthesise tasks of the shop with a scripted model; return the result and the server with what it was asked."""
    given: dict[str, Any] = {"seed": 11, "n": 1, "kinds": ("graph",), "min_calls": 2, **options}
    cap = given.pop("max_cost_usd", None)
    with ChatServer(script) as server:
        gateway = gateway_for(server, LocalStore(folder), max_cost_usd=cap)
        result = synthesize(shop_database(), shop_snapshot(), shop_tools(), gateway=gateway, **given)
    return result, server


def asked(server: ChatServer, marker: str) -> int:
    """Return how many requests held a prompt's words."""
    return sum(marker in seen.text for seen in server.requests)


def gates_of(notes: tuple[Rejection, ...]) -> list[str]:
    """Return the gates of rejections."""
    return [note.gate for note in notes]
