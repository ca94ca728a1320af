"""The world that is measured: a wholesaler of parts, always the same, with a snapshot of 2 MB at scale 1."""

from __future__ import annotations

import random
from typing import Any

from schemas.base import content_hash
from schemas.database import Action, Column, Database, Effect, Rule, Table
from tasks.environment import build_snapshot

START_TIME = "2026-03-02T09:00:00"
STATUSES = ("pending", "shipped", "delivered", "cancelled")

_CITIES = ("Aarhus", "Bergen", "Ghent", "Leeds", "Lyon", "Malmo", "Porto", "Turku")
_FAMILIES = ("bearing", "bracket", "coupling", "flange", "gasket", "nozzle", "pulley", "sensor", "spring", "valve")
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def _tables() -> tuple[Table, ...]:
    return (
        Table(
            name="customers", noun="customer", nouns="customers", key="customer_id", label="name", origin="generated",
            columns=(
                Column(name="customer_id", type="string", role="key"),
                Column(name="name", type="string", role="label", unique=True),
                Column(name="city", type="string", role="category", choices=_CITIES),
                Column(name="credit", type="number", role="measure", unit="EUR", minimum=0),
            ),
        ),
        Table(
            name="products", noun="product", nouns="products", key="product_id", label="name", origin="generated",
            columns=(
                Column(name="product_id", type="string", role="key"),
                Column(name="name", type="string", role="label", unique=True),
                Column(name="family", type="string", role="category", choices=_FAMILIES),
                Column(name="price", type="number", role="measure", unit="EUR", minimum=0),
                Column(name="stock", type="integer", role="measure", minimum=0),
            ),
        ),
        Table(
            name="orders", noun="order", nouns="orders", key="order_id", origin="generated",
            columns=(
                Column(name="order_id", type="string", role="key"),
                Column(name="customer_id", type="string", role="reference", references="customers.customer_id"),
                Column(name="product_id", type="string", role="reference", references="products.product_id"),
                Column(name="quantity", type="integer", role="measure", minimum=1),
                Column(name="total", type="number", role="measure", unit="EUR", minimum=0),
                Column(name="status", type="string", role="status", choices=STATUSES),
                Column(name="ordered_at", type="datetime", role="date"),
            ),
        ),
    )  # fmt: skip


def _actions() -> tuple[Action, ...]:
    return (
        Action(
            name="place_order", verb="place", kind="create", table="orders",
            description="Order a number of units of a product for a customer.",
            parameters=("customer_id", "product_id", "quantity"),
            initial={"status": "pending", "ordered_at": "$clock"}, status_column="status",
            rules=(
                Rule(path="product_id.stock", operator=">=", value="$quantity", code="OUT_OF_STOCK",
                     message="There are not enough units in stock."),
            ),
            effects=(
                Effect(path="product_id.stock", operation="add", value="-$quantity"),
                Effect(path="total", operation="set", value="$quantity*$product_id.price"),
            ),
        ),
        Action(
            name="cancel_order", verb="cancel", kind="transition", table="orders", status_column="status",
            description="Cancel a pending order; its units go back to stock.", from_states=("pending",),
            to_state="cancelled", effects=(Effect(path="product_id.stock", operation="add", value="$quantity"),),
        ),
    )  # fmt: skip


def wholesaler_rows(scale: float = 1.0) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by table; at scale 1 there are 1,000 customers, 2,000 products and 12,400 orders."""
    rng = random.Random("wholesaler")
    used: set[str] = set()

    def key(prefix: str) -> str:
        while (minted := f"{prefix}-" + "".join(rng.choices(_ALPHABET, k=6))) in used:
            pass
        used.add(minted)
        return minted

    customers = [
        {
            "customer_id": key("cus"),
            "name": f"Workshop {number}",
            "city": rng.choice(_CITIES),
            "credit": float(rng.randrange(5, 200) * 100),
        }
        for number in range(int(1000 * scale))
    ]
    products = [
        {
            "product_id": key("prd"),
            "name": f"{family} no. {number}",
            "family": family,
            "price": rng.randrange(50, 50_000) / 100,
            "stock": rng.randrange(10, 500),
        }
        for number, family in enumerate(rng.choices(_FAMILIES, k=int(2000 * scale)))
    ]
    orders = []
    for number in range(int(12_400 * scale)):
        product, quantity = rng.choice(products), rng.randint(1, 9)
        orders.append(
            {
                "order_id": key("ord"),
                "customer_id": customers[number % len(customers)]["customer_id"],
                "product_id": product["product_id"],
                "quantity": quantity,
                "total": round(quantity * product["price"], 2),
                "status": STATUSES[0] if number < len(customers) else rng.choice(STATUSES),
                "ordered_at": f"2026-02-{rng.randint(1, 28):02d}T{rng.randint(8, 18):02d}:00:00",
            }
        )
    return {"customers": customers, "products": products, "orders": orders}


def wholesaler(scale: float = 1.0) -> tuple[Database, bytes, dict[str, list[dict[str, Any]]]]:
    """Return the world's schema and actions, its snapshot, and its rows by table.

    Args:
        scale: size of the snapshot in units of 2 MB.
    """
    database = Database(
        env_id="env-wholesaler", theme_id="theme-wholesaler", name="Parts wholesaler", tables=_tables(),
        actions=_actions(), description="A wholesaler of parts with customers, stock and orders.", documents=(),
        start_time=START_TIME, snapshot_sha256="",
    )  # fmt: skip
    rows = wholesaler_rows(scale)
    snapshot = build_snapshot(database, rows)
    return database.model_copy(update={"snapshot_sha256": content_hash(snapshot)}), snapshot, rows
