"""A small hand-written world for tests: a shop with suppliers, customers, products and orders."""

from __future__ import annotations

import random
from typing import Any

from schemas.base import content_hash
from schemas.database import Action, Column, Database, Document, Effect, Rule, Table
from schemas.tool import Tool, ToolField

ENV_ID = "env-shop"
START_TIME = "2026-03-02T09:00:00"

_CITIES = ("Lyon", "Porto", "Graz", "Turku")
_TIERS = ("basic", "plus", "gold")
_CATEGORIES = ("lamps", "chairs", "desks", "shelves", "rugs")
_STATUSES = ("pending", "shipped", "delivered", "cancelled")
_COUNTRIES = ("France", "Portugal", "Austria", "Finland")
_FIRST = ("Ada", "Bela", "Cleo", "Dario", "Edda", "Faye", "Goran", "Hilda", "Ivo", "Jana", "Kofi", "Lena")
_LAST = ("Adler", "Braga", "Costa", "Dahl", "Eder", "Fonseca", "Gruber", "Heino")
_MODELS = ("Alto", "Brio", "Cima", "Dune", "Elan", "Fjord", "Glow", "Haze", "Iris", "Juno", "Kite", "Luma")


def _tables() -> tuple[Table, ...]:
    return (
        Table(
            name="suppliers",
            noun="supplier",
            nouns="suppliers",
            key="supplier_id",
            label="name",
            origin="mined",
            description="Companies that make the products.",
            rows=4,
            columns=(
                Column(name="supplier_id", type="string", role="key"),
                Column(name="name", type="string", role="label", unique=True),
                Column(name="country", type="string", role="category", choices=_COUNTRIES),
            ),
        ),
        Table(
            name="customers",
            noun="customer",
            nouns="customers",
            key="customer_id",
            label="name",
            origin="mined",
            description="People who buy.",
            rows=24,
            columns=(
                Column(name="customer_id", type="string", role="key"),
                Column(name="name", type="string", role="label"),
                Column(name="city", type="string", role="category", choices=_CITIES),
                Column(name="tier", type="string", role="category", choices=_TIERS),
                Column(name="newsletter", type="boolean", role="flag"),
            ),
        ),
        Table(
            name="products",
            noun="product",
            nouns="products",
            key="product_id",
            label="name",
            origin="mined",
            description="What the shop sells, with the units in stock.",
            rows=40,
            columns=(
                Column(name="product_id", type="string", role="key"),
                Column(name="name", type="string", role="label", unique=True),
                Column(name="category", type="string", role="category", choices=_CATEGORIES),
                Column(name="supplier_id", type="string", role="reference", references="suppliers.supplier_id"),
                Column(name="price", type="number", role="measure", unit="EUR", minimum=0),
                Column(name="stock", type="integer", role="measure", minimum=0),
            ),
        ),
        Table(
            name="orders",
            noun="order",
            nouns="orders",
            key="order_id",
            origin="generated",
            description="Orders of one product each.",
            rows=60,
            columns=(
                Column(name="order_id", type="string", role="key"),
                Column(name="customer_id", type="string", role="reference", references="customers.customer_id"),
                Column(name="product_id", type="string", role="reference", references="products.product_id"),
                Column(name="quantity", type="integer", role="measure", minimum=1),
                Column(name="total", type="number", role="measure", unit="EUR", minimum=0),
                Column(name="status", type="string", role="status", choices=_STATUSES),
                Column(name="ordered_at", type="datetime", role="date"),
                Column(name="shipped_at", type="datetime", role="date", nullable=True),
            ),
        ),
    )


def _documents() -> tuple[tuple[Document, str], ...]:
    return (
        (
            Document(name="returns.md", media_type="text/markdown", title="Returns and cancellation"),
            "# Returns\n\nAn order can be cancelled while it is pending. Its units go back to stock.\n",
        ),
        (
            Document(name="tiers.csv", media_type="text/csv", title="Customer tiers"),
            "tier,discount_percent\nbasic,0\nplus,5\ngold,10\n",
        ),
    )


def _actions() -> tuple[Action, ...]:
    return (
        Action(
            name="place_order",
            verb="place",
            kind="create",
            table="orders",
            description="Order a number of units of one product for a customer.",
            parameters=("customer_id", "product_id", "quantity"),
            initial={"status": "pending", "ordered_at": "$clock", "shipped_at": None},
            status_column="status",
            rules=(
                Rule(
                    path="quantity",
                    operator=">=",
                    value=1,
                    code="INVALID_QUANTITY",
                    message="The quantity must be at least 1.",
                ),
                Rule(
                    path="product_id.stock",
                    operator=">=",
                    value="$quantity",
                    code="OUT_OF_STOCK",
                    message="There are not enough units in stock.",
                ),
            ),
            effects=(
                Effect(path="product_id.stock", operation="add", value="-$quantity"),
                Effect(path="total", operation="set", value="$quantity*$product_id.price"),
            ),
        ),
        Action(
            name="cancel_order",
            verb="cancel",
            kind="transition",
            table="orders",
            description="Cancel a pending order; its units go back to stock.",
            status_column="status",
            from_states=("pending",),
            to_state="cancelled",
            effects=(Effect(path="product_id.stock", operation="add", value="$quantity"),),
        ),
        Action(
            name="ship_order",
            verb="ship",
            kind="transition",
            table="orders",
            description="Mark a pending order as shipped now.",
            status_column="status",
            from_states=("pending",),
            to_state="shipped",
            effects=(Effect(path="shipped_at", operation="set", value="$clock"),),
        ),
        Action(
            name="change_price",
            verb="change",
            kind="update",
            table="products",
            parameters=("price",),
            description="Set the price of a product.",
            rules=(
                Rule(
                    path="stock",
                    operator=">",
                    value=0,
                    code="NOT_ON_SALE",
                    message="A product without stock keeps its price.",
                ),
            ),
        ),
    )


def shop_rows(seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the four tables; another seed gives other rows of the same shape."""
    rng = random.Random(f"shop-{seed}")
    used: set[str] = set()

    def key(prefix: str) -> str:
        while True:
            minted = f"{prefix}-" + "".join(rng.choices("23456789abcdefghjkmnpqrstuvwxyz", k=5))
            if minted not in used:
                used.add(minted)
                return minted

    suppliers = [
        {"supplier_id": key("sup"), "name": f"{last} & Co", "country": country}
        for last, country in zip(_LAST[:4], _COUNTRIES, strict=True)
    ]
    customers = [
        {
            "customer_id": key("cus"),
            "name": f"{first} {last}",
            "city": rng.choice(_CITIES),
            "tier": rng.choice(_TIERS),
            "newsletter": rng.random() < 0.5,
        }
        for first, last in rng.sample([(first, last) for first in _FIRST for last in _LAST], 24)
    ]
    products = [
        {
            "product_id": key("prd"),
            "name": f"{model} {category[:-1]}",
            "category": category,
            "supplier_id": rng.choice(suppliers)["supplier_id"],
            "price": rng.randint(900, 39900) / 100,
            "stock": rng.choice((0, 0, 1, 2, 3, 5, 8, 13, 21)),
        }
        for model, category in rng.sample([(model, cat) for model in _MODELS for cat in _CATEGORIES], 40)
    ]
    orders = []
    for _ in range(60):
        product, status, quantity = rng.choice(products), rng.choice(_STATUSES), rng.randint(1, 4)
        day = rng.randint(1, 27)
        orders.append(
            {
                "order_id": key("ord"),
                "customer_id": rng.choice(customers)["customer_id"],
                "product_id": product["product_id"],
                "quantity": quantity,
                "total": round(quantity * product["price"], 2),
                "status": status,
                "ordered_at": f"2026-02-{day:02d}T{rng.randint(8, 18):02d}:00:00",
                "shipped_at": f"2026-02-{day + 1:02d}T12:00:00" if status in ("shipped", "delivered") else None,
            }
        )
    return {"suppliers": suppliers, "customers": customers, "products": products, "orders": orders}


def _without_hash() -> Database:
    return Database(
        env_id=ENV_ID,
        theme_id="theme-shop",
        name="Furniture shop",
        tables=_tables(),
        actions=_actions(),
        description="A shop for furniture with customers, products, stock and orders.",
        documents=tuple(document for document, _ in _documents()),
        start_time=START_TIME,
        snapshot_sha256="",
    )


def shop_snapshot(seed: int = 0) -> bytes:
    """Return the shop's initial state as the bytes of a SQLite file."""
    from tasks.environment import build_snapshot

    return build_snapshot(_without_hash(), shop_rows(seed), list(_documents()))


def shop_database(seed: int = 0) -> Database:
    """Return the shop's schema, documents and actions."""
    return _without_hash().model_copy(update={"snapshot_sha256": content_hash(shop_snapshot(seed))})


def _schema(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _row_fields(table: Table, prefix: str = "") -> tuple[ToolField, ...]:
    kinds = {"integer": "integer", "number": "number", "boolean": "integer"}
    return tuple(
        ToolField(
            path=prefix + column.name,
            type=kinds.get(column.type, "string"),
            entity=column.references or f"{table.name}.{column.name}",
            meaning="cell",
            of=f"{table.name}.{column.name}",
        )
        for column in table.columns
    )


_LIMIT = {"type": "integer", "description": "The most rows to return.", "minimum": 1, "maximum": 100, "default": 20}

_GET = '''
def get_{noun}(ctx, *, {key}: str) -> dict:
    """Return one {noun} by its id."""
    row = ctx.db.row("SELECT * FROM {table} WHERE {key} = ?", ({key},))
    if row is None:
        return ctx.refuse("NOT_FOUND", f"There is no {noun} {{{key}}}.")
    return row
'''

_SEARCH_PRODUCTS = '''
def search_products(
    ctx, *, text: str | None = None, category: str | None = None, max_price: float | None = None,
    in_stock: bool | None = None, sort: str | None = None, limit: int = 20,
) -> dict:
    """Search products by name, category, price and stock."""
    where, values = ["1"], []
    if text is not None:
        where.append("name LIKE '%' || ? || '%'")
        values.append(text)
    if category is not None:
        where.append("category = ?")
        values.append(category)
    if max_price is not None:
        where.append("price <= ?")
        values.append(max_price)
    if in_stock is not None:
        where.append("stock > 0" if in_stock else "stock = 0")
    order = {"price": "price, product_id", "stock": "stock, product_id"}.get(sort, "product_id")
    condition = " AND ".join(where)
    rows = ctx.db.rows(f"SELECT * FROM products WHERE {condition} ORDER BY {order} LIMIT ?", (*values, limit))
    return {"products": rows, "total": ctx.db.value(f"SELECT count(*) FROM products WHERE {condition}", values)}
'''

_FIND_CUSTOMERS = '''
def find_customers(ctx, *, name: str | None = None, city: str | None = None, tier: str | None = None,
                   limit: int = 20) -> dict:
    """Find customers by name, city and tier."""
    where, values = ["1"], []
    for column, value in (("name", name), ("city", city), ("tier", tier)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    condition = " AND ".join(where)
    rows = ctx.db.rows(f"SELECT * FROM customers WHERE {condition} ORDER BY customer_id LIMIT ?", (*values, limit))
    return {"customers": rows, "total": ctx.db.value(f"SELECT count(*) FROM customers WHERE {condition}", values)}
'''

_LIST_ORDERS = '''
def list_orders(ctx, *, customer_id: str | None = None, status: str | None = None, limit: int = 20) -> dict:
    """List orders, optionally of one customer or in one status."""
    where, values = ["1"], []
    for column, value in (("customer_id", customer_id), ("status", status)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    condition = " AND ".join(where)
    rows = ctx.db.rows(f"SELECT * FROM orders WHERE {condition} ORDER BY order_id LIMIT ?", (*values, limit))
    return {"orders": rows, "total": ctx.db.value(f"SELECT count(*) FROM orders WHERE {condition}", values)}
'''

_SUM_ORDERS = '''
def sum_order_totals(ctx, *, status: str | None = None, customer_id: str | None = None) -> dict:
    """Add up the totals of orders, optionally of one status or one customer."""
    value = ctx.db.value(
        "SELECT round(coalesce(sum(total), 0), 2) FROM orders"
        " WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR customer_id = ?2)",
        (status, customer_id),
    )
    return {"value": value}
'''

_COUNT_PRODUCTS = '''
def count_products(ctx, *, in_stock: bool | None = None) -> dict:
    """Count products by category."""
    condition = "1" if in_stock is None else ("stock > 0" if in_stock else "stock = 0")
    groups = ctx.db.rows(
        f"SELECT category, count(*) AS value FROM products WHERE {condition} GROUP BY category ORDER BY category"
    )
    return {"groups": groups}
'''

_PLACE_ORDER = '''
def place_order(ctx, *, customer_id: str, product_id: str, quantity: int) -> dict:
    """Order units of a product for a customer."""
    if ctx.db.row("SELECT 1 FROM customers WHERE customer_id = ?", (customer_id,)) is None:
        return ctx.refuse("NOT_FOUND", f"There is no customer {customer_id}.")
    product = ctx.db.row("SELECT * FROM products WHERE product_id = ?", (product_id,))
    if product is None:
        return ctx.refuse("NOT_FOUND", f"There is no product {product_id}.")
    if quantity < 1:
        return ctx.refuse("INVALID_QUANTITY", "The quantity must be at least 1.")
    if product["stock"] < quantity:
        return ctx.refuse("OUT_OF_STOCK", "There are not enough units in stock.")
    order_id = ctx.ids.new("ord")
    ctx.db.execute("UPDATE products SET stock = stock - ? WHERE product_id = ?", (quantity, product_id))
    ctx.db.execute(
        "INSERT INTO orders (order_id, customer_id, product_id, quantity, total, status, ordered_at, shipped_at)"
        " VALUES (?, ?, ?, ?, ?, 'pending', ?, NULL)",
        (order_id, customer_id, product_id, quantity, round(quantity * product["price"], 2), ctx.clock.now()),
    )
    return ctx.db.row("SELECT * FROM orders WHERE order_id = ?", (order_id,))
'''

_TRANSITION = '''
def {verb}_order(ctx, *, order_id: str) -> dict:
    """{doc}"""
    order = ctx.db.row("SELECT * FROM orders WHERE order_id = ?", (order_id,))
    if order is None:
        return ctx.refuse("NOT_FOUND", f"There is no order {{order_id}}.")
    if order["status"] != "pending":
        return ctx.refuse("INVALID_STATE", f"The order is {{order['status']}}, not pending.")
    {effect}
    ctx.db.execute("UPDATE orders SET status = '{state}' WHERE order_id = ?", (order_id,))
    return ctx.db.row("SELECT * FROM orders WHERE order_id = ?", (order_id,))
'''

_CHANGE_PRICE = '''
def change_price(ctx, *, product_id: str, price: float) -> dict:
    """Set the price of a product that is in stock."""
    product = ctx.db.row("SELECT * FROM products WHERE product_id = ?", (product_id,))
    if product is None:
        return ctx.refuse("NOT_FOUND", f"There is no product {product_id}.")
    if product["stock"] <= 0:
        return ctx.refuse("NOT_ON_SALE", "A product without stock keeps its price.")
    ctx.db.execute("UPDATE products SET price = ? WHERE product_id = ?", (price, product_id))
    return ctx.db.row("SELECT * FROM products WHERE product_id = ?", (product_id,))
'''

_LIST_DOCUMENTS = '''
def list_documents(ctx) -> dict:
    """List the shop's documents."""
    return {"documents": ctx.db.rows("SELECT name, title FROM documents ORDER BY name")}
'''

_READ_DOCUMENT = '''
def read_document(ctx, *, name: str) -> dict:
    """Read a document by its name."""
    row = ctx.db.row("SELECT name, title, media_type, content FROM documents WHERE name = ?", (name,))
    if row is None:
        return ctx.refuse("NOT_FOUND", f"There is no document {name}.")
    return row
'''


def shop_tools() -> tuple[Tool, ...]:
    """Return the shop's tools, with complete inputs, outputs and effects."""
    suppliers, customers, products, orders = _tables()

    def matches(table: Table) -> ToolField:
        return ToolField(path="total", type="integer", meaning="matches", of=table.name)

    rows_of = {table.name: ToolField(path=table.name, type="array") for table in (customers, products, orders)}

    def tool(
        name: str,
        kind: str,
        table: str,
        description: str,
        parameters: dict[str, Any],
        source: str,
        inputs: dict[str, tuple[str, ...]],
        outputs: tuple[ToolField, ...],
        reads: tuple[str, ...] = (),
        writes: tuple[str, ...] = (),
        action: str = "",
    ) -> Tool:
        controls = {"limit": ("", "limit"), "sort": ("", "sort_by")}
        fields = []
        for path, schema in parameters["properties"].items():
            entity, meaning, *of = inputs.get(path) or controls.get(path) or ("", "")
            fields.append(
                ToolField(path=path, type=schema["type"], entity=entity, meaning=meaning, of=of[0] if of else entity)
            )
        return Tool(
            env_id=ENV_ID,
            name=name,
            kind=kind,
            description=description,
            parameters=parameters,
            inputs=tuple(fields),
            outputs=outputs,
            table=table,
            action=action,
            reads=reads or ((table,) if table else ()),
            writes=writes,
            source_code=source.lstrip(),
        )

    def get(table: Table) -> Tool:
        return tool(
            f"get_{table.noun}",
            "get",
            table.name,
            f"Return one {table.noun} by its id.",
            _schema((table.key,), **{table.key: _text(f"The id of the {table.noun}.")}),
            _GET.format(noun=table.noun, key=table.key, table=table.name),
            {table.key: (f"{table.name}.{table.key}", "equals")},
            _row_fields(table),
        )

    def transition(verb: str, state: str, description: str, effect: str, writes: tuple[str, ...]) -> Tool:
        return tool(
            f"{verb}_order",
            "transition",
            "orders",
            description,
            _schema(("order_id",), order_id=_text("The id of the order.")),
            _TRANSITION.format(verb=verb, state=state, doc=description, effect=effect),
            {"order_id": ("orders.order_id", "equals")},
            _row_fields(orders),
            writes=writes,
            action=f"{verb}_order",
        )

    return (
        get(suppliers),
        get(customers),
        get(products),
        get(orders),
        tool(
            "search_products",
            "search",
            "products",
            "Search products by name, category, price and stock.",
            _schema(
                text=_text("A part of the name."),
                category=_text("The category.", enum=list(_CATEGORIES)),
                max_price={"type": "number", "description": "The highest price in EUR."},
                in_stock={"type": "boolean", "description": "True: only products in stock; false: only sold out."},
                sort=_text("What to sort by.", enum=["price", "stock"]),
                limit=_LIMIT,
            ),
            _SEARCH_PRODUCTS,
            {
                "text": ("products.name", "contains"),
                "category": ("products.category", "equals"),
                "max_price": ("products.price", "at_most"),
            },
            (rows_of["products"], *_row_fields(products, "products[]."), matches(products)),
        ),
        tool(
            "find_customers",
            "search",
            "customers",
            "Find customers by name, city and tier.",
            _schema(
                name=_text("The full name."),
                city=_text("The city.", enum=list(_CITIES)),
                tier=_text("The tier.", enum=list(_TIERS)),
                limit=_LIMIT,
            ),
            _FIND_CUSTOMERS,
            {name: (f"customers.{name}", "equals") for name in ("name", "city", "tier")},
            (rows_of["customers"], *_row_fields(customers, "customers[]."), matches(customers)),
        ),
        tool(
            "list_orders",
            "list",
            "orders",
            "List orders, optionally of one customer or in one status.",
            _schema(
                customer_id=_text("The id of the customer."),
                status=_text("The status.", enum=list(_STATUSES)),
                limit=_LIMIT,
            ),
            _LIST_ORDERS,
            {
                "customer_id": ("customers.customer_id", "equals", "orders.customer_id"),
                "status": ("orders.status", "equals"),
            },
            (rows_of["orders"], *_row_fields(orders, "orders[]."), matches(orders)),
        ),
        tool(
            "sum_order_totals",
            "aggregate",
            "orders",
            "Add up the totals of orders, optionally of one status or one customer.",
            _schema(status=_text("The status.", enum=list(_STATUSES)), customer_id=_text("The id of the customer.")),
            _SUM_ORDERS,
            {
                "customer_id": ("customers.customer_id", "equals", "orders.customer_id"),
                "status": ("orders.status", "equals"),
            },
            (ToolField(path="value", type="number", meaning="sum", of="orders.total"),),
        ),
        tool(
            "count_products",
            "aggregate",
            "products",
            "Count products by category.",
            _schema(in_stock={"type": "boolean", "description": "True: only products in stock; false: only sold out."}),
            _COUNT_PRODUCTS,
            {},
            (
                ToolField(path="groups", type="array"),
                ToolField(
                    path="groups[].category",
                    type="string",
                    entity="products.category",
                    meaning="cell",
                    of="products.category",
                ),
                ToolField(path="groups[].value", type="integer", meaning="count", of="products"),
            ),
        ),
        tool(
            "place_order",
            "create",
            "orders",
            "Order units of a product for a customer.",
            _schema(
                ("customer_id", "product_id", "quantity"),
                customer_id=_text("The id of the customer."),
                product_id=_text("The id of the product."),
                quantity={"type": "integer", "description": "The number of units."},
            ),
            _PLACE_ORDER,
            {
                "customer_id": ("customers.customer_id", "new_value", "orders.customer_id"),
                "product_id": ("products.product_id", "new_value", "orders.product_id"),
                "quantity": ("orders.quantity", "new_value"),
            },
            _row_fields(orders),
            reads=("customers", "products", "orders"),
            writes=("orders", "products"),
            action="place_order",
        ),
        transition(
            "cancel",
            "cancelled",
            "Cancel a pending order; its units go back to stock.",
            'ctx.db.execute("UPDATE products SET stock = stock + ? WHERE product_id = ?",\n'
            '                   (order["quantity"], order["product_id"]))',
            ("orders", "products"),
        ),
        transition(
            "ship",
            "shipped",
            "Mark a pending order as shipped now.",
            'ctx.db.execute("UPDATE orders SET shipped_at = ? WHERE order_id = ?", (ctx.clock.now(), order_id))',
            ("orders",),
        ),
        tool(
            "change_price",
            "update",
            "products",
            "Set the price of a product that is in stock.",
            _schema(
                ("product_id", "price"),
                product_id=_text("The id of the product."),
                price={"type": "number", "description": "The new price in EUR.", "minimum": 0},
            ),
            _CHANGE_PRICE,
            {"product_id": ("products.product_id", "equals"), "price": ("products.price", "new_value")},
            _row_fields(products),
            writes=("products",),
            action="change_price",
        ),
        tool(
            "list_documents",
            "document",
            "",
            "List the shop's documents.",
            _schema(),
            _LIST_DOCUMENTS,
            {},
            (
                ToolField(path="documents", type="array"),
                ToolField(
                    path="documents[].name", type="string", entity="documents.name", meaning="cell", of="documents.name"
                ),
                ToolField(
                    path="documents[].title",
                    type="string",
                    entity="documents.title",
                    meaning="cell",
                    of="documents.title",
                ),
            ),
            reads=("documents",),
        ),
        tool(
            "read_document",
            "document",
            "",
            "Read a document by its name.",
            _schema(("name",), name=_text("The name of the document.")),
            _READ_DOCUMENT,
            {"name": ("documents.name", "equals")},
            (
                ToolField(path="name", type="string", entity="documents.name", meaning="cell", of="documents.name"),
                ToolField(path="title", type="string", entity="documents.title", meaning="cell", of="documents.title"),
                ToolField(path="media_type", type="string"),
                ToolField(path="content", type="string"),
            ),
            reads=("documents",),
        ),
    )
