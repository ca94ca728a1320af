"""The work that the engine and the stand-ins do alike: lookups one after the other, and an oracle of eight calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.database import Database
from schemas.task import Call
from schemas.tool import Tool
from tasks.environment import EnvironmentImage
from tasks.sandbox.benchmark.world import wholesaler

LOOKUPS = 400
CHAINS = 40


@dataclass(frozen=True)
class Roles:
    """The names that a coder gave to the tools that the work needs."""

    customer: str
    product: str
    order: str
    orders_of_customer: str
    search_products: str
    cancel: str
    place: str

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> Roles:
        """Find the tools by what they do.

        Raises:
            StopIteration: if one is missing.
        """

        def name(kind: str, table: str, parameter: str = "", action: str = "") -> str:
            return next(
                tool.name
                for tool in tools
                if (tool.kind, tool.table) == (kind, table)
                and tool.action == action
                and (not parameter or parameter in tool.parameters["required"])
            )

        return cls(
            customer=name("get", "customers"),
            product=name("get", "products"),
            order=name("get", "orders"),
            orders_of_customer=name("list", "orders", "customer_id"),
            search_products=name("search", "products"),
            cancel=name("transition", "orders", action="cancel_order"),
            place=name("create", "orders", action="place_order"),
        )


@dataclass(frozen=True)
class Work:
    """The measured world and what is done in it.

    Attributes:
        image: the environment with tools that rules wrote.
        roles: the names of the tools used.
        rows: the initial rows by table.
        lookups: get-by-key calls, each for another order.
        chains: oracles of eight calls (list, three lookups, cancel, search, place, lookup), each for another customer;
            their arguments refer to earlier observations.
    """

    database: Database
    tools: tuple[Tool, ...]
    image: EnvironmentImage
    roles: Roles
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    lookups: tuple[Call, ...]
    chains: tuple[tuple[Call, ...], ...]

    @classmethod
    def of(cls, write_tools: Any, scale: float = 1.0) -> Work:
        """Return the work in a world of that scale (1 is 2 MB), with the tools of `write_tools(database, seed)`."""
        database, snapshot, rows = wholesaler(scale)
        tools = tuple(write_tools(database, 0))
        roles = Roles.of(tools)
        orders = [row["order_id"] for row in rows["orders"]]
        step = max(1, len(orders) // LOOKUPS)
        families = sorted({row["family"] for row in rows["products"]})
        return cls(
            database=database,
            tools=tools,
            image=EnvironmentImage.of(database, tools, snapshot),
            roles=roles,
            rows=rows,
            lookups=tuple(Call(tool=roles.order, arguments={"order_id": key}) for key in orders[::step][:LOOKUPS]),
            chains=tuple(
                _chain(roles, row["customer_id"], families[number % len(families)])
                for number, row in enumerate(rows["customers"][:CHAINS])
            ),
        )


def _ref(place: str) -> dict[str, str]:
    return {"$ref": place}


def _chain(roles: Roles, customer: str, family: str) -> tuple[Call, ...]:
    """Return the oracle of: cancel the customer's first pending order, and order one unit of another family instead."""
    order, product = _ref("0.orders[0].order_id"), _ref("5.products[0].product_id")
    place = {"customer_id": customer, "product_id": product, "quantity": 1}
    calls = (
        (roles.orders_of_customer, {"customer_id": customer, "status": "pending", "limit": 5}),
        (roles.order, {"order_id": order}),
        (roles.customer, {"customer_id": _ref("1.customer_id")}),
        (roles.product, {"product_id": _ref("1.product_id")}),
        (roles.cancel, {"order_id": order}),
        (roles.search_products, {"family": family, "limit": 5}),
        (roles.place, place),
        (roles.order, {"order_id": _ref("6.order_id")}),
    )
    return tuple(Call(tool=tool, arguments=arguments) for tool, arguments in calls)
