"""Worlds for the coder's tests: the shop, and a depot full of oddities."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from worlds import shop_database, shop_snapshot

from schemas.base import content_hash
from schemas.database import Action, Column, Database, Document, Effect, Rule, Table
from tasks.environment import build_snapshot
from tasks.sandbox import Limits, SandboxWorker


@dataclass(frozen=True)
class World:
    """A database and its snapshot."""

    database: Database
    snapshot: bytes


def _column(name: str, kind: str = "string", role: str = "attribute", **more: object) -> Column:
    return Column(name=name, type=kind, role=role, **more)  # type: ignore[arg-type]


_DEPOTS = Table(
    name="depots", noun="depot", nouns="depots", key="depot_no", label="name", origin="mined", rows=6,
    columns=(
        _column("depot_no", "integer", "key"), _column("name", role="label"),
        _column("capacity", "integer", "measure", minimum=0), _column("in_use", "integer", "measure", minimum=0),
        _column("open", "boolean", "flag"),
    ),
)  # fmt: skip
_VEHICLES = Table(
    name="vehicles", noun="vehicle", nouns="vehicles", key="vehicle_id", origin="generated", rows=40,
    columns=(
        _column("vehicle_id", role="key"), _column("class", role="category", choices=("bus", "tram", "van")),
        _column("plate", unique=True),
        _column("parent_id", role="reference", references="vehicles.vehicle_id", nullable=True),
        _column("home_depot", "integer", "reference", references="depots.depot_no"),
        _column("spare_depot", "integer", "reference", references="depots.depot_no", nullable=True),
        _column("order", "number", "measure", nullable=True, minimum=0), _column("from", "date", "date"),
        _column("status", role="status", choices=("free", "booked", "retired")),
    ),
)  # fmt: skip
_BOOKINGS = Table(
    name="bookings", noun="booking", nouns="bookings", key="booking_id", origin="generated", rows=30,
    columns=(
        _column("booking_id", role="key"), _column("vehicle_id", role="reference", references="vehicles.vehicle_id"),
        _column("start", "date", "date"), _column("end", "date", "date"),
        _column("days", "integer", "measure", minimum=1), _column("fee", "number", "measure", nullable=True),
        _column("note", role="text", nullable=True), _column("paid", "boolean", "flag"),
        _column("status", role="status", choices=("open", "settled", "void")),
        _column("created_at", "datetime", "date"),
    ),
)  # fmt: skip
_EVENTS = Table(
    name="events", noun="event", nouns="events", key="event_id", origin="generated", rows=5, log=True,
    columns=(_column("event_id", "integer", "key"), _column("kind", role="category", choices=("in", "out"))),
)  # fmt: skip
_ACTIONS = (
    Action(
        name="open_depot", verb="open", kind="create", table="depots", description="Open a depot.",
        parameters=("name", "capacity"), initial={"in_use": 0, "open": True},
        rules=(Rule(path="capacity", operator="<=", value=500, code="TOO_LARGE", message="A depot holds up to 500."),),
    ),
    Action(
        name="register_vehicle", verb="register", kind="create", table="vehicles", description="Register a vehicle.",
        parameters=("class", "plate", "parent_id", "home_depot", "spare_depot", "from"),
        initial={"status": "free", "order": None},
        rules=(
            Rule(path="home_depot.open", operator="==", value=True, code="DEPOT_CLOSED", message="It is closed."),
            Rule(path="home_depot.in_use", operator="<", value="$home_depot.capacity", code="DEPOT_FULL",
                 message="No place is left."),
            Rule(path="spare_depot.capacity", operator=">", value=5, code="SPARE_SMALL", message="It is too small."),
            Rule(path="class", operator="in", value=("bus", "tram"), code="NO_VANS", message="Vans need no place."),
        ),
        effects=(
            Effect(path="home_depot.in_use", operation="add", value=1),
            Effect(path="spare_depot.in_use", operation="add", value=2),
        ),
    ),
    Action(
        name="book_vehicle", verb="book", kind="create", table="bookings", description="Book a free vehicle.",
        parameters=("vehicle_id", "start", "end", "days", "note"),
        initial={"status": "open", "paid": False, "created_at": "$clock"},
        rules=(
            Rule(path="end", operator=">=", value="$start", code="ENDS_BEFORE_START", message="It ends too early."),
            Rule(path="vehicle_id.status", operator="==", value="free", code="NOT_FREE", message='It is not "free".'),
            Rule(path="vehicle_id.order", operator="<", value=900, code="WORN_OUT", message="It has run too far."),
            Rule(path="fee", operator="<=", value=5000, code="TOO_DEAR", message="Nobody pays that."),
        ),
        effects=(
            Effect(path="fee", operation="set", value="$days*$vehicle_id.order"),
            Effect(path="vehicle_id.status", operation="set", value="booked"),
            Effect(path="vehicle_id.order", operation="add", value="$days"),
        ),
    ),
    Action(
        name="settle_booking", verb="settle", kind="transition", table="bookings", description="Settle a booking.",
        status_column="status", from_states=("open",), to_state="settled",
        rules=(
            Rule(path="paid", operator="==", value=False, code="ALREADY_PAID", message="It is paid."),
            Rule(path="vehicle_id.class", operator="in", value=("bus", "tram"), code="NO_VANS", message="No vans."),
        ),
        effects=(
            Effect(path="paid", operation="set", value=True),
            Effect(path="fee", operation="add", value="-$days"),
        ),
    ),
    Action(
        name="retire_vehicle", verb="retire", kind="transition", table="vehicles", description="Retire a vehicle.",
        status_column="status", from_states=("free", "booked"), to_state="retired",
        rules=(Rule(path="order", operator=">", value=100, code="TOO_YOUNG", message="It is too young."),),
        effects=(
            Effect(path="home_depot.in_use", operation="add", value=-1),
            Effect(path="spare_depot.in_use", operation="add", value=-1),
        ),
    ),
    Action(
        name="edit_booking", verb="edit", kind="update", table="bookings", description="Change note or fee.",
        parameters=("note", "fee"),
        rules=(Rule(path="fee", operator=">=", value="$days", code="TOO_CHEAP", message="One a day at least."),),
    ),
    Action(
        name="move_vehicle", verb="move", kind="update", table="vehicles", description="Move it to another depot.",
        parameters=("home_depot",),
        rules=(Rule(path="home_depot.open", operator="!=", value=False, code="CLOSED", message="It is closed."),),
        effects=(Effect(path="home_depot.in_use", operation="add", value=1),),
    ),
)  # fmt: skip


def _depot_rows() -> dict[str, list[dict[str, object]]]:
    rng = random.Random(7)
    depots = [
        {"depot_no": n, "name": f"Depot {name}", "capacity": capacity, "in_use": min(n, capacity), "open": n % 3 != 0}
        for n, (name, capacity) in enumerate(
            (("Nord", 9), ("Süd", 4), ("Ost", 30), ("West", 4), ("Mitte", 2), ("Hafen", 50)), start=1
        )
    ]
    vehicles: list[dict[str, object]] = []
    for n in range(40):
        vehicles.append({
            "vehicle_id": f"veh-{n:04d}", "class": rng.choice(("bus", "tram", "van")), "plate": f"AB {n:03d}",
            "parent_id": rng.choice(vehicles)["vehicle_id"] if n and rng.random() < 0.4 else None,
            "home_depot": rng.randint(1, 6), "spare_depot": rng.choice((None, 1, 3, 4)),
            "order": rng.choice((None, 12.5, 99.9, 100, 340.25, 899, 900, 950.0)),
            "from": f"2025-{rng.randint(1, 12):02d}-11",
            "status": rng.choice(("free", "free", "booked", "retired")),
        })  # fmt: skip
    bookings = [
        {
            "booking_id": f"bkg-{n:04d}", "vehicle_id": rng.choice(vehicles)["vehicle_id"], "start": "2026-03-01",
            "end": f"2026-03-{rng.randint(2, 28):02d}", "days": rng.randint(1, 27),
            "fee": rng.choice((None, 20.1, 300.0)), "paid": rng.random() < 0.3,
            "note": rng.choice((None, "Needs a ramp", "no smoking; 100% electric")),
            "status": rng.choice(("open", "settled", "void")), "created_at": f"2026-02-{rng.randint(10, 28)}T08:30:00",
        }
        for n in range(30)
    ]  # fmt: skip
    events = [{"event_id": n, "kind": rng.choice(("in", "out"))} for n in range(5)]
    return {"depots": depots, "vehicles": vehicles, "bookings": bookings, "events": events}


@pytest.fixture(scope="session")
def depot() -> World:
    """Integer keys, reserved words as names, missing cells, self references, two references to one table, a log."""
    document = Document(name="rules.md", media_type="text/markdown", title="House rules")
    database = Database(
        env_id="env-depot", theme_id="theme-depot", name='The "Depot"', description="Vehicles and their bookings.",
        tables=(_DEPOTS, _VEHICLES, _BOOKINGS, _EVENTS), documents=(document,), actions=_ACTIONS,
        start_time="2026-03-02T09:00:00", snapshot_sha256="",
    )  # fmt: skip
    snapshot = build_snapshot(database, _depot_rows(), [(document, "# Rules\n\nBuses first.\n")])
    return World(database.model_copy(update={"snapshot_sha256": content_hash(snapshot)}), snapshot)


@pytest.fixture(scope="session")
def shop() -> World:
    """The shop that all tests share."""
    return World(shop_database(), shop_snapshot())


@pytest.fixture(scope="session")
def worker() -> Iterator[SandboxWorker]:
    """A sandbox with a short time limit."""
    with SandboxWorker(limits=Limits(wall_s=2.0, cpu_s=10.0)) as opened:
        yield opened
