"""Deliveries of records to places: joins records with another mined table."""

from __future__ import annotations

from schemas.database import Table
from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import between, few, fixed, numbered, pick
from tasks.mining.workflows.acts import add, change, create, move, rule
from tasks.mining.workflows.columns import category, label, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun, stems
from tasks.mining.workflows.plan import Flow, Invariant, Seed, Step, Workflow

SERVICES = ("standard", "express", "overnight")
_PLACES = set(stems("airport city country county state station region island zone site"))


def build(at: Setting) -> Workflow | None:
    """Return routes to places and deliveries that join routes with records; None where no mined table has places."""
    place = _place(at)
    if place is None:
        return None
    record = Noun(at.record.noun)
    route_noun, noun = at.fresh("courier route"), at.fresh(f"{record.one.split()[-1]} delivery")
    route = table(
        route_noun,
        label("title", "the name of the route"),
        reference(place, f"the {place.noun} that it goes to"),
        category("service", SERVICES, "how fast it goes"),
        whole("capacity", 5, 60, "parcels that may be under way at once"),
        whole("under_way", 0, 60, "parcels under way now"),
        status("running", "interrupted"),
        description=f"Routes of couriers to every {place.noun} that is served.",
    )
    delivery = table(
        noun,
        reference(at.record, "what is delivered"),
        reference(route, "how it goes"),
        whole("parcels", 1, 5, "how many parcels"),
        status("planned", "under_way", "arrived", "called_off"),
        moment("planned_at", "when it was planned"),
        description=f"Papers and parcels that belong to {record.many}.",
    )
    what = next(c.name for c in delivery.columns if c.references.startswith(f"{at.record.name}."))
    by = route_noun.key
    running = rule(f"{by}.status", "==", "running", "INTERRUPTED", "The route must not be interrupted.")
    ended = tuple(
        rule(f"{what}.status", "!=", state, "NOTHING_TO_DELIVER", f"Nothing is sent for {record.a} that is {state}.")
        for state in at.ended(at.record)
    )
    actions = (
        create(
            noun,
            "plan",
            f"Plan the delivery of {record.a} on a route.",
            (what, by, "parcels"),
            {"status": "planned", "planned_at": "$clock"},
            (running, rule("parcels", "<=", 5, "TOO_MANY_PARCELS", "A delivery has at most 5 parcels."), *ended),
        ),
        move(
            noun,
            "send",
            "planned -> under_way",
            "Send a planned delivery off.",
            (running, rule(f"{by}.under_way", "<", f"${by}.capacity", "ROUTE_FULL", "The route must not be full.")),
            (add(f"{by}.under_way", 1),),
        ),
        move(
            noun,
            "receive",
            "under_way -> arrived",
            "Record that a delivery has arrived.",
            (),
            (add(f"{by}.under_way", -1),),
        ),
        change(
            noun,
            "reroute",
            "",
            "Put a planned delivery on another route.",
            (by,),
            (rule("status", "==", "planned", "ALREADY_SENT", "Only a planned delivery is rerouted."), running),
        ),
        move(noun, "call_off", "planned -> called_off", "Call a planned delivery off."),
    )
    name = {action.verb: action.name for action in actions}
    send = Step(name["send"], (3, 50))
    flows = (
        Flow(
            create=name["plan"],
            count=80,
            days=30,
            paths=(
                (5, (send, Step(name["receive"], (10, 120)))),
                (1, (Step(name["reroute"]), send)),
                (1, (send,)),
                (1, (Step(name["call_off"]),)),
                (2, ()),
            ),
        ),
    )
    samples = {
        name["plan"]: {"parcels": few(1, 5)},
        name["reroute"]: {by: lambda m: m.draft.some_key(route.name, m.rng)},
    }
    count = f"SELECT COUNT(*) FROM {delivery.name} d WHERE d.{by} = r.{by} AND d.status = 'under_way'"
    invariants = (
        Invariant("what is under way is counted", f"SELECT * FROM {route.name} r WHERE under_way != ({count})"),
    )
    routes = Seed(
        route,
        24,
        {
            "title": numbered("Route {:02d}"),
            "service": pick(SERVICES, (4, 2, 1)),
            "capacity": between(5, 30, 5),
            "under_way": fixed(0),
            "status": pick(("running", "interrupted"), (8, 1)),
        },
    )
    return Workflow(
        "deliveries",
        f"deliveries of {record.many}",
        None,
        (routes, Seed(delivery)),
        actions,
        flows,
        samples,
        invariants,
        delivery.name,
        route.name,
    )


def _place(at: Setting) -> Table | None:
    mined = [t for t in at.draft.tables.values() if t.origin == "mined" and t.rows >= 5 and t.label]
    places = [t for t in mined if _PLACES & set(stems(f"{t.noun} {t.name}"))]
    return max(places, key=lambda t: (t.name != at.resource.name, t.name), default=None)


DELIVERIES = Connector("deliveries", frozenset({"transition", "join", "get", "conditional", "update"}), build)
