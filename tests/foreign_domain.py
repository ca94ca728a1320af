"""Writes a domain in the shape of tau2-bench: a bakery with customers, cakes and orders."""

from __future__ import annotations

import json
from pathlib import Path

DATA_MODEL = '''
"""Data model of the bakery."""
from enum import Enum
from typing import Annotated, Any, Dict, List, Literal, Optional, Union

from pydantic import BaseModel, Field, field_validator

from tau2.domains.bakery.utils import BAKERY_DB_PATH
from tau2.environment.db import DB

OrderStatus = Literal["pending", "baked", "collected", "cancelled"]


class Size(str, Enum):
    small = "small"
    large = "large"


class Name(BaseModel):
    first_name: str = Field(description="First name")
    last_name: str


class Card(BaseModel):
    source: Literal["card"]
    method_id: str
    last_four: str


class Voucher(BaseModel):
    source: Literal["voucher"]
    method_id: str
    amount: float


Payment = Union[Card, Voucher]


class Customer(BaseModel):
    customer_id: str
    name: Name
    email: str
    payments: Dict[str, Payment] = Field(default_factory=dict)
    orders: List[str] = Field(default_factory=list)

    @field_validator("email")
    @classmethod
    def has_at(cls, value: str) -> str:
        if "@" not in value:
            raise ValueError("no email")
        return value.lower()


class Cake(BaseModel):
    cake_id: str
    title: str
    price: float
    stock: int = Field(ge=0)
    size: Size = Size.small


class Line(BaseModel):
    cake_id: str
    quantity: int = 1


class Order(BaseModel):
    order_id: str
    customer_id: str
    status: OrderStatus
    lines: List[Line]
    total: float
    note: Optional[str] = None


class BakeryDB(DB):
    customers: Dict[str, Customer]
    cakes: Dict[str, Cake]
    orders: Dict[str, Order]

    def get_statistics(self) -> dict[str, Any]:
        return {"num_orders": len(self.orders)}


def get_db() -> BakeryDB:
    return BakeryDB.load(BAKERY_DB_PATH)
'''

TOOLS = '''
"""Toolkit of the bakery."""
from copy import deepcopy
from typing import List, Optional

from loguru import logger

from tau2.domains.bakery.data_model import BakeryDB, Cake, Customer, Line, Order, OrderStatus
from tau2.domains.bakery.utils import rounded
from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool


class BakeryTools(ToolKitBase):
    """All tools of the bakery."""

    db: BakeryDB

    def __init__(self, db: BakeryDB) -> None:
        super().__init__(db)

    def _order(self, order_id: str) -> Order:
        if order_id not in self.db.orders:
            raise ValueError(f"Order {order_id} not found")
        return self.db.orders[order_id]

    @is_tool(ToolType.READ)
    def get_order_details(self, order_id: str) -> Order:
        """Get an order.

        Args:
            order_id: The order's id, such as 'B-001'.

        Returns:
            The order.

        Raises:
            ValueError: If it is not found.
        """
        return self._order(order_id)

    @is_tool(ToolType.READ)
    def get_customer_details(self, customer_id: str) -> Customer:
        """Get a customer.

        Args:
            customer_id: The customer's id.
        """
        if customer_id not in self.db.customers:
            raise ValueError("Customer not found")
        return self.db.customers[customer_id]

    @is_tool(ToolType.READ)
    def list_cakes(self, size: Optional[str] = None) -> List[Cake]:
        """List the cakes, of one size if given."""
        return [cake for cake in self.db.cakes.values() if size is None or cake.size == size]

    @is_tool(ToolType.WRITE)
    def cancel_pending_order(self, order_id: str, reason: str) -> Order:
        """Cancel a pending order.

        Args:
            order_id: The order's id.
            reason: Why, for example 'changed my mind'.
        """
        order = self._order(order_id)
        if order.status != "pending":
            raise ValueError("Only pending orders can be cancelled")
        logger.debug(order.model_dump_json(indent=4))
        order.status = "cancelled"
        order.note = reason
        for line in order.lines:
            self.db.cakes[line.cake_id].stock += line.quantity
        return order

    @is_tool(ToolType.WRITE)
    def order_cakes(self, customer_id: str, lines: List[Line | dict]) -> Order:
        """Order cakes for a customer."""
        if all(isinstance(line, dict) for line in lines):
            lines = [Line(**line) for line in lines]
        customer = self.get_customer_details(customer_id)
        total = 0.0
        for line in lines:
            cake = self.db.cakes[line.cake_id]
            if cake.stock < line.quantity:
                raise ValueError("Not enough in stock")
            cake.stock -= line.quantity
            total += cake.price * line.quantity
        order_id = f"B-{len(self.db.orders) + 1:03d}"
        order = Order(order_id=order_id, customer_id=customer_id, status="pending", lines=deepcopy(lines),
                      total=rounded(total))
        self.db.orders[order_id] = order
        customer.orders.append(order_id)
        return order

    @is_tool(ToolType.GENERIC)
    def calculate(self, expression: str) -> str:
        """Calculate an expression, such as '2 + 2'."""
        return str(round(float(eval(expression, {"__builtins__": None}, {})), 2))

    @is_tool(ToolType.GENERIC)
    def transfer_to_human_agents(self, summary: str) -> str:
        """Transfer the customer to a person."""
        return "Transfer successful"


if __name__ == "__main__":
    from tau2.domains.bakery.utils import BAKERY_DB_PATH

    print(BakeryTools(BakeryDB.load(BAKERY_DB_PATH)).get_statistics())
'''

UTILS = """
from tau2.utils.utils import DATA_DIR

BAKERY_DB_PATH = DATA_DIR / "tau2" / "domains" / "bakery" / "db.json"


def rounded(value: float) -> float:
    return round(value, 2)
"""


def database() -> dict:
    """Return the bakery's data."""
    customers = {
        f"c{n}": {
            "customer_id": f"c{n}", "name": {"first_name": first, "last_name": "Rey"},
            "email": f"{first}@example.com".lower(),
            "payments": {f"pay{n}": {"source": "voucher", "method_id": f"pay{n}", "amount": 10.0 * n}},
            "orders": [f"B-{n:03d}", f"B-{n + 6:03d}"],
        }
        for n, first in enumerate(["Ana", "Ben", "Cem", "Dan", "Eva", "Fay"], 1)
    }  # fmt: skip
    cakes = {
        f"k{n}": {
            "cake_id": f"k{n}",
            "title": title,
            "price": 9.5 + n,
            "stock": n,
            "size": "large" if n % 2 else "small",
        }
        for n, title in enumerate(["Plum", "Lemon", "Cherry", "Nut", "Poppy"], 1)
    }
    orders = {
        f"B-{n:03d}": {
            "order_id": f"B-{n:03d}", "customer_id": f"c{(n - 1) % 6 + 1}",
            "status": ["pending", "baked", "pending", "collected"][n % 4],
            "lines": [{"cake_id": f"k{n % 5 + 1}", "quantity": 1}], "total": 9.5 + n,
        }
        for n in range(1, 13)
    }  # fmt: skip
    return {"customers": customers, "cakes": cakes, "orders": orders}


TASKS = [
    {
        "id": "0",
        "user_scenario": {"instructions": {"task_instructions": "You are Ben. Cancel your pending order B-002."}},
        "evaluation_criteria": {
            "actions": [
                {"name": "get_order_details", "arguments": {"order_id": "B-002"}},
                {"name": "cancel_pending_order", "arguments": {"order_id": "B-002", "reason": "ordered by mistake"}},
            ],
            "communicate_info": ["11.5"],
        },
    }
]


def asked(number: int, *actions: tuple[str, dict], said: str = "Please help.", **others: object) -> dict:
    """Return a task; `others` are its initial_state and further criteria."""
    criteria = {"actions": [{"name": name, "arguments": arguments} for name, arguments in actions]}
    row = {
        "id": str(number),
        "user_scenario": {"instructions": {"reason_for_call": said, "known_info": "You are Cem."}},
    }
    return {**row, "initial_state": others.pop("initial_state", None), "evaluation_criteria": {**criteria, **others}}


_CANCEL = ("cancel_pending_order", {"order_id": "B-004", "reason": "changed my mind"})
MORE_TASKS = [
    *TASKS,
    asked(1, ("list_cakes", {"size": "small"}), communicate_info=["Lemon", "13.5"]),
    asked(2, ("order_cakes", {"customer_id": "c3", "lines": [{"cake_id": "k5", "quantity": 2}]})),
    asked(3, _CANCEL, initial_state={"initialization_actions": [{"env_type": "user", "func_name": "break_oven"}]}),
    asked(4, _CANCEL, env_assertions=[{"func_name": "assert_oven", "arguments": {}}]),
    asked(5, _CANCEL, reward_basis=["DB", "NL_ASSERTION"], nl_assertions=["The agent is polite."]),
    asked(6, ("refund_order", {"order_id": "B-004"})),
    asked(7, ("cancel_pending_order", {"order_id": "B-005", "reason": "it is baked already"})),
    asked(8),
    asked(9, ("get_order_details", {"order_id": "B-004"}), communicate_info=["seventeen"]),
    asked(10, ("get_order_details", {"order_id": "B-004"})),
]
"""One task for each way in which it may be taken or left out."""


def write_domain(folder: Path, flat: bool = False, tasks: list = TASKS) -> Path:
    """Write the domain as in the benchmark's repository, or with all its files in one folder."""
    code = folder / "bakery" if flat else folder / "src" / "tau2" / "domains" / "bakery"
    data = folder / "bakery" if flat else folder / "data" / "tau2" / "domains" / "bakery"
    for place in {code, data}:
        place.mkdir(parents=True)
    for name, text in (("data_model", DATA_MODEL), ("tools", TOOLS), ("utils", UTILS)):
        (code / f"{name}.py").write_text(text)
    (data / "db.json").write_text(json.dumps(database(), indent=2))
    (data / "policy.md").write_text("# Bakery policy\n\nOnly pending orders can be cancelled.\n")
    (data / "tasks.json").write_text(json.dumps(tasks))
    (folder / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person ...\n")
    return folder
