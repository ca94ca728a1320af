"""A foreign world as large as a release has: eight collections, twenty tools, nested lines, a log that writes keep."""

# ruff: noqa: E501 - lines of foreign code stand as they were written

from __future__ import annotations

import random

from foreign_manner import BOOL, HEAD, INT, TEXT, add_tool
from foreign_worlds import _CITIES, World, day, people


def supply() -> World:
    """Eight collections and twenty tools of a hospital's supply chain: lines inside of orders, a log that writes keep."""
    rng = random.Random("supply")
    world = World("hospital_supply_chain")
    sites = [
        {
            "site_id": f"SITE-{n:02d}",
            "name": f"{city} {kind}",
            "address": {
                "city": city,
                "geo": {"lat": round(rng.uniform(40, 60), 3), "lng": round(rng.uniform(-5, 20), 3)},
            },
            "kind": kind.lower(),
            "beds": rng.randint(20, 400),
        }
        for n, (city, kind) in enumerate([(c, k) for c in _CITIES for k in ("Hospital", "Clinic", "Depot")], 1)
    ]
    vendors = [
        {
            "vendor_id": f"VEN-{n:03d}",
            "name": f"{last} Medical",
            "rating": rng.randint(20, 50) / 10,
            "country": rng.choice(["NO", "IE", "NL", "BE", "IT"]),
            "contract": {"tier": rng.choice(["gold", "silver", "bronze"]), "lead_days": rng.randint(2, 30)},
            "active": rng.random() < 0.8,
        }
        for n, last in enumerate(
            [
                "Abara",
                "Berg",
                "Cruz",
                "Duarte",
                "Ek",
                "Fischer",
                "Grant",
                "Holm",
                "Ito",
                "Jensen",
                "Kaya",
                "Lund",
                "Moor",
                "Nagy",
            ],
            1,
        )
    ]
    nouns = [
        "Suture Kit",
        "Nitrile Glove",
        "Infusion Pump",
        "Catheter",
        "Bandage Roll",
        "Face Shield",
        "Syringe",
        "Thermometer",
        "Oxygen Mask",
        "Drape Set",
    ]
    items = [
        {
            "sku": f"SKU-{n:04d}",
            "title": f"{noun} {size}",
            "category": rng.choice(["consumable", "device", "protective"]),
            "unit_price": rng.randint(100, 90000) / 100,
            "tags": rng.sample(["sterile", "latex-free", "cold", "bulk"], 2),
            "hazmat": rng.random() < 0.2,
            "vendor_id": rng.choice(vendors)["vendor_id"],
        }
        for n, (noun, size) in enumerate([(a, b) for a in nouns for b in ("S", "M", "L")], 1)
    ]
    stock = [
        {
            "stock_id": f"STK-{n:04d}",
            "site_id": rng.choice(sites)["site_id"],
            "sku": rng.choice(items)["sku"],
            "on_hand": rng.randint(0, 500),
            "reorder_point": rng.randint(10, 90),
            "expires_on": f"2026-{rng.randint(1, 12):02d}-15",
        }
        for n in range(1, 46)
    ]
    staff = [
        {
            "staff_id": f"EMP{n:03d}",
            "full_name": name,
            "role": rng.choice(["buyer", "approver", "pharmacist"]),
            "site_id": rng.choice(sites)["site_id"],
            "limit": rng.choice([1000, 5000, 20000]),
        }
        for n, name in enumerate(people(rng, 24), 1)
    ]
    orders = []
    for n in range(1, 41):
        lines = [
            {"line_no": k, "sku": item["sku"], "qty": rng.randint(1, 40), "unit_price": item["unit_price"]}
            for k, item in enumerate(rng.sample(items, rng.randint(1, 4)), 1)
        ]
        orders.append(
            {
                "order_id": f"PO-{2000 + n}",
                "vendor_id": rng.choice(vendors)["vendor_id"],
                "site_id": rng.choice(sites)["site_id"],
                "requested_by": rng.choice(staff)["staff_id"],
                "status": rng.choice(["draft", "submitted", "submitted", "approved", "received", "cancelled"]),
                "priority": rng.choice(["routine", "urgent", "stat"]),
                "created_at": f"{day(rng, 3)}T0{rng.randint(1, 9)}:00:00Z",
                "total": round(sum(one["qty"] * one["unit_price"] for one in lines), 2),
                "lines": lines,
                "approved_by": None,
            }
        )
    recalls = [
        {
            "recall_id": f"RC-{n}",
            "sku": rng.choice(items)["sku"],
            "severity": rng.choice(["low", "high"]),
            "status": rng.choice(["open", "closed"]),
            "issued_on": day(rng, 2),
        }
        for n in range(1, 13)
    ]
    shipments = [
        {
            "shipment_id": f"SHP-{n:03d}",
            "order_id": rng.choice(orders)["order_id"],
            "carrier": rng.choice(["Fedra", "Nordpost", "Ilex"]),
            "status": rng.choice(["in_transit", "delivered", "delayed"]),
            "eta": day(rng, 4),
            "packages": rng.randint(1, 9),
        }
        for n in range(1, 31)
    ]
    for name, rows in (
        ("sites", sites),
        ("vendors", vendors),
        ("items", items),
        ("stock", stock),
        ("staff", staff),
        ("orders", orders),
        ("recalls", recalls),
        ("shipments", shipments),
    ):
        world.tables[name] = rows
    world.extra["audit_log.json"] = "[]"
    world.extra["README.md"] = (
        "# Hospital supply chain\n\nOrders: draft -> submitted -> approved -> received; draft and submitted ones may be cancelled.\n"
    )
    for noun, table, key in (
        ("site", "sites", "site_id"),
        ("vendor", "vendors", "vendor_id"),
        ("item", "items", "sku"),
        ("order", "orders", "order_id"),
        ("staff_member", "staff", "staff_id"),
        ("shipment", "shipments", "shipment_id"),
    ):
        add_tool(
            world,
            f"get_{noun}",
            f"Retrieve full details of a {noun.replace('_', ' ')} by {key}.",
            {key: TEXT},
            [key],
            f'''
rows = load("{table}")
for r in rows:
    if r.get("{key}") == {key}:
        return {{"success": True, "{noun}": r}}
return err("NOT_FOUND", "{noun} not found")
''',
            HEAD,
        )
    for table, filters in (
        ("vendors", ("country", "active")),
        ("items", ("category", "vendor_id", "hazmat")),
        ("stock", ("site_id", "sku")),
        ("orders", ("status", "vendor_id", "site_id", "priority")),
        ("shipments", ("order_id", "carrier", "status")),
        ("staff", ("role", "site_id")),
        ("recalls", ("sku", "status")),
    ):
        given = {name: BOOL if name in ("active", "hazmat") else TEXT for name in filters}
        tests = "\n".join(
            f'rows = [r for r in rows if {name} is None or r.get("{name}") == {name}]' for name in filters
        )
        add_tool(
            world,
            f"list_{table}",
            f"List {table} with optional filters; at most `limit` of them.",
            {**given, "limit": {"type": "integer", "default": 50, "minimum": 1, "maximum": 200}},
            [],
            f'''
rows = load("{table}")
{tests}
n = limit or 50
return {{"success": True, "total_count": len(rows), "{table}": rows[:n]}}
''',
            HEAD,
        )
    for verb, start, end in (
        ("submit", ("draft",), "submitted"),
        ("cancel", ("draft", "submitted"), "cancelled"),
        ("receive", ("approved",), "received"),
    ):
        add_tool(
            world,
            f"{verb}_order",
            f"{verb.capitalize()} a purchase order.",
            {"order_id": TEXT, "confirm": BOOL},
            ["order_id", "confirm"],
            f'''
if not confirm:
    return err("CONFIRMATION_REQUIRED", "confirm must be true")
rows = load("orders")
for r in rows:
    if r["order_id"] == order_id:
        if r["status"] not in {start!r}:
            return err("INVALID_STATE", "order is " + r["status"])
        r["status"] = "{end}"
        dump("orders", rows)
        log("{verb}", order_id)
        return {{"success": True, "order": r}}
return err("NOT_FOUND", "order not found")
''',
            HEAD,
        )
    add_tool(
        world,
        "approve_order",
        "Approve a submitted order within the approver's limit.",
        {"order_id": TEXT, "approver_id": TEXT},
        ["order_id", "approver_id"],
        """
rows, team = load("orders"), load("staff")
who = next((s for s in team if s["staff_id"] == approver_id), None)
if who is None:
    return err("NOT_FOUND", "approver not found")
if who["role"] != "approver":
    return err("FORBIDDEN", "not an approver")
for r in rows:
    if r["order_id"] == order_id:
        if r["status"] != "submitted":
            return err("INVALID_STATE", "order is " + r["status"])
        if r["total"] > who["limit"]:
            return err("LIMIT_EXCEEDED", "above the limit")
        r["status"], r["approved_by"] = "approved", approver_id
        dump("orders", rows)
        log("approve", order_id)
        return {"success": True, "order": r}
return err("NOT_FOUND", "order not found")
""",
        HEAD,
    )
    add_tool(
        world,
        "create_order",
        "Create a draft purchase order with lines.",
        {
            "vendor_id": TEXT,
            "site_id": TEXT,
            "requested_by": TEXT,
            "priority": {"type": "string", "enum": ["routine", "urgent", "stat"]},
            "lines": {
                "type": "array",
                "items": {"type": "object", "properties": {"sku": TEXT, "qty": INT}, "required": ["sku", "qty"]},
            },
        },
        ["vendor_id", "site_id", "requested_by", "lines"],
        """
prices = {i["sku"]: i["unit_price"] for i in load("items")}
if not any(v["vendor_id"] == vendor_id for v in load("vendors")):
    return err("NOT_FOUND", "vendor not found")
if not any(s["site_id"] == site_id for s in load("sites")) or not any(s["staff_id"] == requested_by for s in load("staff")):
    return err("NOT_FOUND", "site or requester not found")
if not isinstance(lines, list) or not lines:
    return err("INVALID_ARGUMENT", "lines must be a non-empty list")
built = []
for k, one in enumerate(lines, 1):
    if one.get("sku") not in prices:
        return err("NOT_FOUND", "unknown sku")
    built.append({"line_no": k, "sku": one["sku"], "qty": int(one["qty"]), "unit_price": prices[one["sku"]]})
rows = load("orders")
new = {"order_id": "PO-" + str(uuid.uuid4())[:8].upper(), "vendor_id": vendor_id, "site_id": site_id, "requested_by": requested_by, "status": "draft", "priority": priority or "routine",
       "created_at": datetime.utcnow().isoformat() + "Z", "total": round(sum(b["qty"] * b["unit_price"] for b in built), 2), "lines": built, "approved_by": None}
rows.append(new)
dump("orders", rows)
log("create", new["order_id"])
return {"success": True, "order": new}
""",
        HEAD,
    )
    add_tool(
        world,
        "adjust_stock",
        "Change the quantity on hand of a stock record by a delta.",
        {"stock_id": TEXT, "delta": INT, "reason": TEXT},
        ["stock_id", "delta"],
        """
rows = load("stock")
for r in rows:
    if r["stock_id"] == stock_id:
        if r["on_hand"] + int(delta) < 0:
            return err("INSUFFICIENT_STOCK", "not enough on hand")
        r["on_hand"] += int(delta)
        dump("stock", rows)
        log("adjust", stock_id)
        return {"success": True, "stock": r}
return err("NOT_FOUND", "stock record not found")
""",
        HEAD,
    )
    add_tool(
        world,
        "update_shipment_status",
        "Set the status of a shipment.",
        {"shipment_id": TEXT, "status": {"type": "string", "enum": ["in_transit", "delivered", "delayed"]}},
        ["shipment_id", "status"],
        """
rows = load("shipments")
for r in rows:
    if r["shipment_id"] == shipment_id:
        r["status"] = status
        dump("shipments", rows)
        log("shipment", shipment_id)
        return {"success": True, "shipment": r}
return err("NOT_FOUND", "shipment not found")
""",
        HEAD,
    )
    return world
