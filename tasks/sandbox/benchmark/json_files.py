"""Stand-in: the same world as a folder of JSON files, loaded and saved by each call, with the tool's source executed.

This is how the official release's environments work: a tool is the text of one self-contained function, which finds its
files through the environment variable MCP_DB_DIR, swallows unknown arguments, and returns errors. There is no sandbox,
no check of arguments, and nothing is undone when a call fails. An episode is a copy of the folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.task import Call, Change, Verifier
from tasks.environment import resolve_references, verify
from tasks.sandbox.benchmark.meter import rate
from tasks.sandbox.benchmark.work import Work
from tasks.sandbox.benchmark.world import START_TIME

_KEYS = {"customers": "customer_id", "products": "product_id", "orders": "order_id"}

_FILES = """
    import json
    import os

    def load(table):
        with open(os.path.join(os.environ["MCP_DB_DIR"], table + ".json")) as file:
            return json.load(file)

    def save(table, rows):
        with open(os.path.join(os.environ["MCP_DB_DIR"], table + ".json"), "w") as file:
            json.dump(rows, file)

    def missing(what):
        return {"error": {"code": "NOT_FOUND", "message": "There is no such " + what + "."}}
"""

_LOOK_UP = """
def {name}({key}, **kwargs):{files}
    for row in load("{table}"):
        if row["{key}"] == {key}:
            return row
    return missing("{table}")
"""

_ORDERS_OF_CUSTOMER = """
def {name}(customer_id, status=None, limit=20, **kwargs):{files}
    if not any(row["customer_id"] == customer_id for row in load("customers")):
        return missing("customer")
    found = [row for row in load("orders") if row["customer_id"] == customer_id and status in (None, row["status"])]
    found.sort(key=lambda row: row["order_id"])
    return {{"orders": found[:limit], "total": len(found)}}
"""

_SEARCH_PRODUCTS = """
def {name}(family=None, limit=20, **kwargs):{files}
    found = [row for row in load("products") if family in (None, row["family"])]
    found.sort(key=lambda row: row["product_id"])
    return {{"products": found[:limit], "total": len(found)}}
"""

_CANCEL = """
def {name}(order_id, **kwargs):{files}
    orders, products = load("orders"), load("products")
    order = next((row for row in orders if row["order_id"] == order_id), None)
    if order is None:
        return missing("order")
    if order["status"] != "pending":
        return {{"error": {{"code": "INVALID_STATE", "message": "The order is not pending."}}}}
    order["status"] = "cancelled"
    next(row for row in products if row["product_id"] == order["product_id"])["stock"] += order["quantity"]
    save("orders", orders)
    save("products", products)
    return order
"""

_PLACE = """
def {name}(customer_id, product_id, quantity, **kwargs):{files}
    import uuid

    orders, products = load("orders"), load("products")
    product = next((row for row in products if row["product_id"] == product_id), None)
    if product is None or not any(row["customer_id"] == customer_id for row in load("customers")):
        return missing("customer or product")
    if product["stock"] < quantity:
        return {{"error": {{"code": "OUT_OF_STOCK", "message": "There are not enough units in stock."}}}}
    product["stock"] -= quantity
    order = {{
        "order_id": "ord-" + uuid.uuid4().hex[:6], "customer_id": customer_id, "product_id": product_id,
        "quantity": quantity, "total": round(quantity * product["price"], 6), "status": "pending",
        "ordered_at": "{now}",
    }}
    orders.append(order)
    save("orders", orders)
    save("products", products)
    return order
"""


def tool_sources(work: Work) -> dict[str, str]:
    """Return the tools' sources by name, in the release's manner; they return what the engine's tools return."""
    roles = work.roles
    texts = {
        roles.orders_of_customer: _ORDERS_OF_CUSTOMER, roles.search_products: _SEARCH_PRODUCTS, roles.cancel: _CANCEL,
        roles.place: _PLACE,
    }  # fmt: skip
    sources = {name: text.format(name=name, files=_FILES, now=START_TIME) for name, text in texts.items()}
    for name, table in ((roles.customer, "customers"), (roles.product, "products"), (roles.order, "orders")):
        sources[name] = _LOOK_UP.format(name=name, table=table, key=_KEYS[table], files=_FILES)
    return sources


class JsonFiles:
    """A world in a folder of JSON files."""

    def __init__(self, work: Work, folder: Path) -> None:
        self._sources = tool_sources(work)
        self._initial, self._live = folder / "initial", folder / "live"
        self._initial.mkdir()
        for table, rows in work.rows.items():
            (self._initial / f"{table}.json").write_text(json.dumps(list(rows)))
        self.reset()

    def reset(self) -> None:
        """Begin an episode: copy the folder anew."""
        shutil.rmtree(self._live, ignore_errors=True)
        shutil.copytree(self._initial, self._live)
        os.environ["MCP_DB_DIR"] = str(self._live)

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Execute a tool's source, call it, and return its result as JSON text."""
        namespace: dict[str, Any] = {}
        exec(self._sources[tool], namespace)
        return json.dumps(namespace[tool](**arguments))

    def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run calls whose references see the earlier observations, and return the observations."""
        observations: list[Any] = []
        for call in calls:
            observations.append(json.loads(self.call(call.tool, resolve_references(call.arguments, observations))))
        return observations

    def changes(self) -> tuple[Change, ...]:
        """Return the difference to the initial files."""
        found = []
        for table, key in sorted(_KEYS.items()):
            before, after = (
                {row[key]: row for row in json.loads((folder / f"{table}.json").read_text())}
                for folder in (self._initial, self._live)
            )
            for place in before.keys() | after.keys():
                old, new = before.get(place), after.get(place)
                if old != new:
                    operation = "insert" if old is None else "delete" if new is None else "update"
                    found.append(Change(table=table, operation=operation, key=place, before=old, after=new))
        return tuple(found)


def measure_json_files(work: Work, verifiers: Sequence[Verifier], folder: Path, seconds: float) -> dict[str, float]:
    """Return lookups and judged oracle episodes a CPU second.

    Args:
        work: what is done.
        verifiers: one for each of its chains.
        folder: an empty folder.
        seconds: how long to measure each.

    Raises:
        AssertionError: if an oracle's episode is not verified.
    """
    before = os.environ.get("MCP_DB_DIR")
    files = JsonFiles(work, folder)
    lookups, chains = iter(work.lookups * 100_000), iter(list(zip(work.chains, verifiers, strict=True)) * 100_000)

    def one_call() -> int:
        call = next(lookups)
        files.call(call.tool, call.arguments)
        return 1

    def one_episode() -> int:
        chain, verifier = next(chains)
        files.reset()
        files.run(chain)
        if not verify(verifier, {}, files.changes()).success:
            raise AssertionError("an oracle's episode was not verified")
        return 1

    try:
        return {"calls_s": rate(one_call, seconds), "episodes_s": rate(one_episode, seconds)}
    finally:
        os.environ.pop("MCP_DB_DIR")
        if before is not None:
            os.environ["MCP_DB_DIR"] = before
