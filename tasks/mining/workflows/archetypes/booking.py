"""Bookings of places at something that takes place at a time: book only what is free."""

from __future__ import annotations

from tasks.mining.generators import between, copied, labelled, time_from_now
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow


def build(n: Names) -> Workflow:
    """Return the booking workflow in the nouns of a theme."""
    people = party(n.party, "client", 48, (), {})
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        reference(n.resource, f"the {n.thing} that it concerns"),
        moment("starts_at", f"when the {n.unit} starts"),
        whole("capacity", 4, 40, "places in all"),
        whole("places_left", 0, 40, "places that nobody has booked"),
        whole("price", 1, 900, "price of one place", unit=n.money),
        status("open", "closed"),
        description=f"Every {n.unit} that can be booked, with its places.",
    )
    record = table(
        n.record,
        reference(unit),
        reference(people.table),
        whole("places", 1, 6, "places booked"),
        whole("total_price", 0, None, "places times the price of one", unit=n.money),
        status("pending", "confirmed", "cancelled", "completed"),
        moment("booked_at", "when it was made"),
        description=f"Every {n.record} with its state.",
    )
    where, units = (
        n.unit.key,
        Seed(
            unit,
            40,
            {
                "title": labelled(f"{n.unit.one.capitalize()} {{n:02d}}, {{label}}", link_name(n.resource)),
                "starts_at": time_from_now(-20, 40),
                "capacity": between(4, 24, 2),
                "places_left": copied("capacity"),
                "price": between(20, 480, 5),
                "status": lambda m: "open",
            },
        ),
    )
    still_open = rule(f"{where}.status", "==", "open", "NOT_OPEN", f"The {n.unit} must be open.")
    actions = (
        create(
            n.record,
            "create",
            f"Book places at {n.unit.a} for {n.party.a}; the {n.record} starts as pending.",
            (where, n.party.key, "places"),
            {"status": "pending", "booked_at": "$clock"},
            (
                active(n.party),
                still_open,
                rule("places", "<=", 6, "TOO_MANY_PLACES", f"One {n.record} holds at most 6 places."),
                rule(
                    f"{where}.places_left",
                    ">=",
                    "$places",
                    "NO_PLACES_LEFT",
                    f"The {n.unit} must have enough places left.",
                ),
            ),
            (put("total_price", f"$places*${where}.price"), add(f"{where}.places_left", "-$places")),
        ),
        move(n.record, "confirm", "pending -> confirmed", f"Confirm a pending {n.record}.", (still_open,)),
        move(
            n.record,
            "cancel",
            "pending, confirmed -> cancelled",
            f"Cancel {n.record.a} and free its places.",
            (rule(f"{where}.status", "==", "open", "TOO_LATE", f"Once the {n.unit} is closed nothing is cancelled."),),
            (add(f"{where}.places_left", "$places"),),
        ),
        move(
            n.record,
            "complete",
            "confirmed -> completed",
            f"Mark a confirmed {n.record} as completed.",
            (rule(f"{where}.status", "==", "closed", "NOT_YET_CLOSED", f"The {n.unit} must be closed before."),),
        ),
        move(n.unit, "close", "open -> closed", f"Close {n.unit.a}: no more bookings and cancellations."),
        change(
            n.unit,
            "reprice",
            "",
            f"Set the price of one place at {n.unit.a}; earlier bookings keep theirs.",
            ("price",),
            (
                rule("status", "==", "open", "NOT_OPEN", f"Only an open {n.unit} is repriced."),
                rule("price", "<=", 900, "PRICE_TOO_HIGH", "A place costs at most 900."),
            ),
        ),
        *suspend(n.party, "after misuse"),
    )
    name = {a.verb: a.name for a in actions}
    done = Step(name["complete"], (2, 10), anchor=f"{where}.starts_at")
    flows = (
        Flow(table=unit.name, paths=((1, (Step(name["close"], (0, 1), anchor="starts_at"),)),)),
        Flow(
            create=name["create"],
            count=110,
            paths=(
                (5, (Step(name["confirm"]), done)),
                (2, (Step(name["confirm"]), Step(name["cancel"], (5, 90)))),
                (1, (Step(name["cancel"]),)),
                (3, ()),
            ),
        ),
    )
    held = (
        f"SELECT COALESCE(SUM(places), 0) FROM {record.name} r WHERE r.{where} = u.{where} AND r.status != 'cancelled'"
    )
    invariants = (
        Invariant(
            "places left are the capacity less the places booked",
            f"SELECT * FROM {unit.name} u WHERE places_left != capacity - ({held})",
        ),
        Invariant(
            "only what has closed is completed",
            f"SELECT * FROM {record.name} r JOIN {unit.name} u USING ({where}) "
            "WHERE r.status = 'completed' AND u.status != 'closed'",
        ),
    )
    samples = {name["reprice"]: {"price": between(20, 480, 5)}}
    return Workflow(
        "booking",
        f"{n.record.many} and places",
        people,
        (units, Seed(record)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


BOOKING = Archetype(
    "booking",
    "book:3 reserve:3 seat:2 flight:2 meeting:2 event:1.5 calendar:2 schedule:1.5 tour:2 observatory:3 "
    "telescope:3 meetup:3 attend:2 trip:2 passenger:2 holiday:2",
    "flight airport city star telescope holiday zone country venue",
    "client",
    (
        Wording("flight airport airline travel passenger", "traveller", "departure", "flight booking"),
        Wording("meetup community city event", "member", "meetup", "meetup booking"),
        Wording("observatory star telescope night", "astronomer", "observing night", "telescope booking"),
        Wording("calendar meeting holiday zone", "attendee", "meeting", "meeting booking"),
        Wording("browser device page test", "tester", "test session", "session booking"),
        Wording("model machine learning", "researcher", "training course", "course booking"),
        Wording("", "guest", "{resource} session", "session booking"),
    ),
    build,
)
