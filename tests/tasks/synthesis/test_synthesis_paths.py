"""Tasks are judged by outcome: other valid paths to it pass, all of them, and near misses do not.

The paths are written by hand, over the small shop and over two environments built from real data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from worlds import shop_database, shop_snapshot, shop_tools
from worlds_real import World, chess, flights, ref

from schemas.task import AnswerField, Call, Oracle
from tasks.environment import judge, verify
from tasks.synthesis import write_rubrics
from tasks.synthesis.replay import Bench, answer_of

Path = tuple[list[Call], dict[str, Any]]


@dataclass
class Case:
    """A task by its oracle, other paths that solve it, and paths that come close but do not."""

    world: World
    fields: tuple[AnswerField, ...]
    oracle: Path
    valid: dict[str, Path]
    wrong: dict[str, Path] = field(default_factory=dict)


def number(name: str) -> AnswerField:
    return AnswerField(name=name, type="number", tolerance=0.011)


def text(name: str) -> AnswerField:
    return AnswerField(name=name, type="string")


def shop() -> World:
    return World(shop_database(), shop_snapshot(), shop_tools())


def cancelled_order() -> Case:
    """Cancel a customer's only pending order and say what its product costs."""
    w = shop()
    order = next(o for o in w.rows("orders", status="pending") if _only(w, "orders", o, "customer_id", "status"))
    customer, product = (
        w.atlas.by_key["customers"][order["customer_id"]],
        w.atlas.by_key["products"][order["product_id"]],
    )
    other = next(o for o in w.rows("orders", status="pending") if o["order_id"] != order["order_id"])
    by_name = w.find("customers", name=customer["name"])
    listed = Call(tool="list_orders", arguments={"customer_id": ref("0.customers[0].customer_id"), "status": "pending"})
    cancel, price = w.act("cancel_order", order_id=ref("1.orders[0].order_id")), product["price"]
    return Case(
        w,
        (number("cost"),),
        ([by_name, listed, cancel, w.get("products", ref("2.product_id"))], {"cost": ref("3.price")}),
        {
            "the price is read before": (
                [by_name, listed, w.get("products", ref("1.orders[0].product_id")), cancel],
                {"cost": ref("2.price")},
            ),
            "all pending orders are listed": (
                [w.find("orders", status="pending", most=True), w.act("cancel_order", order_id=order["order_id"])],
                {"cost": price},
            ),
            "the product is found by search": (
                [by_name, listed, cancel, w.find("products", most=True)],
                {"cost": price},
            ),
            "more is read than needed": (
                [w.find("products"), by_name, Call(tool="sum_order_totals"), Call(tool="list_documents"),
                 w.act("cancel_order", order_id=order["order_id"]), w.get("orders", order["order_id"])],
                {"cost": price},
            ),
            "a refused call comes first": (
                [by_name, w.act("cancel_order", order_id="ord-none"), w.act("cancel_order", order_id=order["order_id"]),
                 w.act("cancel_order", order_id=order["order_id"])],
                {"cost": price},
            ),
        },
        {
            "another order": ([w.act("cancel_order", order_id=other["order_id"])], {"cost": price}),
            "shipped instead": ([w.act("ship_order", order_id=order["order_id"])], {"cost": price}),
            "cost as text": ([w.act("cancel_order", order_id=order["order_id"])], {"cost": str(price)}),
        },
    )  # fmt: skip


def two_orders() -> Case:
    """Place an order for each of two customers and say what both come to."""
    w = shop()
    first, second = w.atlas.rows["customers"][:2]
    lamp, desk = [p for p in w.atlas.rows["products"] if p["stock"] >= 5][:2]
    a = w.act("place_order", customer_id=first["customer_id"], product_id=lamp["product_id"], quantity=1)
    b = w.act("place_order", customer_id=second["customer_id"], product_id=desk["product_id"], quantity=2)
    answer = {"first": ref("0.total"), "second": ref("1.total")}
    again = w.act("place_order", customer_id=first["customer_id"], product_id=lamp["product_id"], quantity=1)
    return Case(
        w,
        (number("first"), number("second")),
        ([a, b], answer),
        {
            "the other one first": ([b, a], {"first": ref("1.total"), "second": ref("0.total")}),
            "the stock is looked at": ([a, b, w.get("products", lamp["product_id"])], answer),
            "refused for lack of stock, then right": (
                [w.act("place_order", **{**a.arguments, "quantity": 999}), a, b],
                {"first": ref("1.total"), "second": ref("2.total")},
            ),
            "priced by hand": ([a, b], {"first": lamp["price"], "second": round(2 * desk["price"], 2)}),
        },
        {
            "one order twice": ([a, b, again], answer),
            "a cancelled order too many": ([a, b, again, w.act("cancel_order", order_id=ref("2.order_id"))], answer),
            "customers swapped": (
                [w.act("place_order", customer_id=second["customer_id"], product_id=lamp["product_id"], quantity=1),
                 w.act("place_order", customer_id=first["customer_id"], product_id=desk["product_id"], quantity=2)],
                answer,
            ),
        },
    )  # fmt: skip


def new_price() -> Case:
    """Set a product's price and say who supplies it."""
    w = shop()
    product = next(p for p in w.atlas.rows["products"] if p["stock"] > 0)
    supplier = w.atlas.by_key["suppliers"][product["supplier_id"]]
    sold = next(o for o in w.atlas.rows["orders"] if w.atlas.by_key["products"][o["product_id"]] == product)
    change = w.act("change_price", product_id=ref("0.products[0].product_id"), price=12.5)
    by_name = w.find("products", name=product["name"])
    key = product["product_id"]
    dear = w.act("change_price", product_id=key, price=99.0)
    return Case(
        w,
        (text("supplier"),),
        ([by_name, change, w.get("suppliers", ref("1.supplier_id"))], {"supplier": ref("2.name")}),
        {
            "by another price": (
                [by_name, dear, w.act("change_price", product_id=key, price=12.5)],
                {"supplier": supplier["name"]},
            ),
            "over an order of it": (
                [w.get("orders", sold["order_id"]), w.get("products", ref("0.product_id")),
                 w.act("change_price", product_id=ref("0.product_id"), price=12.5),
                 w.get("suppliers", ref("1.supplier_id"))],
                {"supplier": ref("3.name")},
            ),
            "the supplier first": (
                [by_name, w.get("suppliers", ref("0.products[0].supplier_id")), change],
                {"supplier": ref("1.name")},
            ),
        },
        {
            "left at the other price": ([dear], {"supplier": supplier["name"]}),
            "nearly": ([w.act("change_price", product_id=key, price=12.49)], {"supplier": supplier["name"]}),
        },
    )  # fmt: skip


def cancelled_booking() -> Case:
    """Cancel a traveller's booking of an open departure and say how many places are left there."""
    w = flights()
    booking = next(
        b for b in w.rows("flight_bookings", status="confirmed")
        if w.atlas.by_key["departures"][b["departure_id"]]["status"] == "open"
        and _only(w, "flight_bookings", b, "traveller_id", "departure_id")
    )  # fmt: skip
    departure = w.atlas.by_key["departures"][booking["departure_id"]]
    traveller = w.atlas.by_key["travellers"][booking["traveller_id"]]
    left = departure["places_left"] + booking["places"]
    by_name = w.find("travellers", name=traveller["name"])
    theirs = w.find("flight_bookings", traveller_id=ref("0.travellers[0].traveller_id"))
    cancel = w.act("cancel_flight_booking", flight_booking_id=booking["flight_booking_id"])
    title = w.find("departures", title=departure["title"])
    return Case(
        w,
        (AnswerField(name="left", type="integer"),),
        ([by_name, theirs, cancel, w.get("departures", departure["departure_id"])], {"left": ref("3.places_left")}),
        {
            "over the departure": (
                [title, w.find("flight_bookings", "list", departure_id=ref("0.departures[0].departure_id")), cancel,
                 w.get("departures", ref("0.departures[0].departure_id"))],
                {"left": ref("3.places_left")},
            ),
            "added up by hand": ([title, by_name, theirs, cancel], {"left": left}),
            "read from a search afterwards": ([by_name, theirs, cancel, title], {"left": left}),
            "with detours": (
                [Call(tool=w.find("airports", most=True).tool), title, by_name, w.get("flight_bookings", "nowhere"),
                 theirs, w.get("flight_bookings", booking["flight_booking_id"]), cancel, cancel],
                {"left": left},
            ),
        },
        {
            "places before": ([title, by_name, theirs, cancel], {"left": departure["places_left"]}),
            "nothing cancelled": ([title, by_name, theirs], {"left": left}),
        },
    )  # fmt: skip


def two_bookings() -> Case:
    """Book and confirm places on a departure for two travellers; say what the first pays."""
    w = flights()
    departure = next(d for d in w.rows("departures", status="open") if d["places_left"] >= 4)
    first, second = w.rows("travellers", status="active")[:2]
    key, price = departure["departure_id"], departure["price"]

    def book(traveller: dict[str, Any], places: int) -> Call:
        who = traveller["traveller_id"]
        return w.act("create_flight_booking", departure_id=key, traveller_id=who, places=places)

    def confirm(step: int) -> Call:
        return w.act("confirm_flight_booking", flight_booking_id=ref(f"{step}.flight_booking_id"))

    a, b = book(first, 1), book(second, 2)
    return Case(
        w,
        (AnswerField(name="paid", type="integer"),),
        ([a, confirm(0), b, confirm(2)], {"paid": ref("0.total_price")}),
        {
            "both booked before both are confirmed": ([a, b, confirm(0), confirm(1)], {"paid": ref("0.total_price")}),
            "the second traveller first": ([b, confirm(0), a, confirm(2)], {"paid": ref("2.total_price")}),
            "confirmed the other way round": ([a, b, confirm(1), confirm(0)], {"paid": ref("3.total_price")}),
            "too many places asked for at first": (
                [book(first, 7), a, confirm(1), b, confirm(3), w.get("departures", key)], {"paid": price},
            ),
        },
        {
            "one left pending": ([a, confirm(0), b], {"paid": ref("0.total_price")}),
            "places swapped": ([book(first, 2), confirm(0), book(second, 1), confirm(2)], {"paid": price}),
        },
    )  # fmt: skip


def moved_membership() -> Case:
    """End one membership, start another one for the same traveller, and say how many seats the new one leaves."""
    w = flights()
    programme = next(p for p in w.rows("airport_programmes", status="open") if p["seats_taken"] < p["seats"])
    old = next(
        m for m in w.rows("programme_memberships", status="active")
        if w.atlas.by_key["travellers"][m["traveller_id"]]["status"] == "active"
        and m["airport_programme_id"] != programme["airport_programme_id"]
    )  # fmt: skip
    end = w.act("end_programme_membership", programme_membership_id=old["programme_membership_id"])
    start = w.act(
        "start_programme_membership", airport_programme_id=programme["airport_programme_id"],
        traveller_id=old["traveller_id"],
    )  # fmt: skip
    found = w.find("airport_programmes", title=programme["title"])
    taken = programme["seats_taken"] + 1
    return Case(
        w,
        (AnswerField(name="taken", type="integer"),),
        ([end, start, found], {"taken": ref("2.airport_programmes[0].seats_taken")}),
        {
            "started before the old one ended": ([start, end, found], {"taken": taken}),
            "counted by hand": ([found, end, start], {"taken": taken}),
        },
        {
            "the old one kept": ([start, found], {"taken": taken}),
            "started twice": ([end, start, start], {"taken": taken}),
        },
    )


def lent_book() -> Case:
    """Lend a book to a member until a day, and say the member's loans then."""
    w = chess()
    member = next(m for m in w.rows("club_members", status="active") if m["open_loans"] < m["loan_limit"])
    book, lent = w.row("opening_books", status="available"), w.row("opening_books", status="on_loan")
    due = member["card_valid_until"][:10]
    lend = w.act(
        "open_book_loan", opening_book_id=book["opening_book_id"], club_member_id=member["club_member_id"], due_on=due
    )
    found, known = w.find("opening_books", tag=book["tag"]), w.find("club_members", name=member["name"])
    renew = w.act("renew_book_loan", book_loan_id=ref("0.book_loan_id"), due_on=due)
    loans = member["open_loans"] + 1
    return Case(
        w,
        (AnswerField(name="loans", type="integer"),),
        ([found, known, lend, w.get("club_members", member["club_member_id"])], {"loans": ref("3.open_loans")}),
        {
            "the member first": ([known, found, lend, known], {"loans": loans}),
            "among the available books": (
                [w.find("opening_books", status="available", most=True), w.find("club_members", most=True), lend],
                {"loans": loans},
            ),
            "a lent book is tried first": (
                [w.act("open_book_loan", **{**lend.arguments, "opening_book_id": lent["opening_book_id"]}), lend],
                {"loans": loans},
            ),
        },
        {
            "lent and renewed": ([lend, renew], {"loans": loans}),
            "due a year before": (
                [w.act("open_book_loan", **{**lend.arguments, "due_on": f"{int(due[:4]) - 1}{due[4:]}"})],
                {"loans": loans},
            ),
        },
    )  # fmt: skip


def lesson_and_limit() -> Case:
    """Raise a member's loan limit and cancel a lesson; say how many lessons its coach still has booked."""
    w = chess()
    lesson = w.row("lessons", status="booked")
    coach = w.atlas.by_key["coaches"][lesson["coach_id"]]
    most = int(w.atlas.tables["club_members"].column("loan_limit").maximum or 9)
    member = next(m for m in w.rows("club_members", status="active") if m["loan_limit"] < most - 1)
    key = member["club_member_id"]
    limit = w.act("change_club_member_loan_limit", club_member_id=key, loan_limit=most)
    between = w.act("change_club_member_loan_limit", club_member_id=key, loan_limit=most - 1)
    cancel = w.act("cancel_lesson", lesson_id=lesson["lesson_id"])
    asked = w.find("coaches", name=coach["name"])
    booked = coach["booked"] - 1
    return Case(
        w,
        (AnswerField(name="booked", type="integer"),),
        ([limit, cancel, asked], {"booked": booked}),
        {
            "the lesson first": ([cancel, limit, asked], {"booked": booked}),
            "the limit in two steps": (
                [between, limit, cancel],
                {"booked": booked},
            ),
            "nothing read": ([cancel, limit], {"booked": booked}),
        },
        {
            "the limit left in between": (
                [between, cancel], {"booked": booked},
            ),
            "checked in instead": (
                [limit, w.act("check_in_lesson", lesson_id=lesson["lesson_id"])], {"booked": booked},
            ),
        },
    )  # fmt: skip


def _only(w: World, table: str, row: dict[str, Any], *columns: str) -> bool:
    return len(w.rows(table, **{name: row[name] for name in columns})) == 1


CASES = (
    cancelled_order, two_orders, new_price, cancelled_booking, two_bookings, moved_membership, lent_book,
    lesson_and_limit,
)  # fmt: skip


@pytest.fixture(scope="module", params=CASES, ids=lambda make: make.__name__)
def judged(request: pytest.FixtureRequest) -> Iterator[tuple[Case, Bench]]:
    case = request.param()
    with Bench(case.world.image) as bench:
        yield case, bench


def test_every_valid_path_gets_full_reward_and_no_other_does(judged: tuple[Case, Bench]) -> None:
    case, bench = judged
    calls, answer = case.oracle
    verifier = case.world.judge(bench, Oracle(calls=tuple(calls), answer=answer), case.fields)
    for expected, paths in ((True, case.valid), (False, case.wrong)):
        for name, (path, said) in paths.items():
            for seed in (0, 5):
                outcome = bench.main.run_episode(path, seed=seed)
                verdict = verify(verifier, answer_of(Oracle(answer=said), outcome.steps), outcome.changes)
                assert verdict.success is expected, (name, verdict.checks, outcome.steps)


def test_there_are_enough_paths() -> None:
    made = [make() for make in CASES]
    assert sum(len(case.valid) for case in made) >= 20
    assert len({case.world.database.env_id for case in made}) == 3


def test_notes_about_records_of_real_documents_hold_against_cheap_texts() -> None:
    world = flights()
    result = write_rubrics(world.database, world.snapshot, world.tools, seed=1, n=3)
    assert result.tasks == write_rubrics(world.database, world.snapshot, world.tools, seed=1, n=3).tasks
    assert len(result.tasks) == 3
    for task in result.tasks:
        assert (task.kind, task.split) == ("rubric", "rubric") and task.mutants >= 9
        assert judge(task, task.expected_answer, ()).success
        words = task.expected_answer["note"].split()
        assert judge(task, {"note": " ".join(words[:-1])}, ()).reward < 1.0
        named = next(item for item in task.rubric if item.kind == "forbidden").any_of[0]
        assert not judge(task, {"note": f"{task.expected_answer['note']} {named}"}, ()).success
