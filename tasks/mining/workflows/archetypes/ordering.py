"""Orders with lines, stock and prices: no negative stock; an order is cancelled only when nothing is reserved."""

from __future__ import annotations

from tasks.mining.generators import between, few, labelled, pick
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

PRIORITIES = ("low", "normal", "high")


def build(n: Names) -> Workflow:
    """Return the ordering workflow in the nouns of a theme."""
    people = party(n.party, "client", 46, (), {})
    line_noun = Noun(f"{n.record.one.split()[-1]} line")
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        reference(n.resource, f"the {n.thing} that is sold"),
        whole("price", 1, 2000, "price of one", unit=n.money),
        whole("stock", 0, 500, "how many are left to sell"),
        status("listed", "discontinued"),
        description=f"Every {n.unit} with its price and stock.",
    )
    record = table(
        n.record,
        reference(people.table),
        category("priority", PRIORITIES, "how urgent it is"),
        whole("total", 0, None, "sum of its lines' amounts", unit=n.money),
        whole("lines", 0, None, "how many lines are on it, removed ones aside"),
        status("draft", "placed", "shipped", "delivered", "cancelled"),
        moment("ordered_at", "when it was started"),
        description=f"Every {n.record} with its state and total.",
    )
    line = table(
        line_noun,
        reference(record),
        reference(unit),
        whole("quantity", 1, 25, "how many"),
        whole("amount", 0, None, "quantity times price", unit=n.money),
        status("reserved", "removed"),
        description=f"The lines of each {n.record}; a removed line has given its stock back.",
    )
    order, item = n.record.key, n.unit.key
    draft_only = rule(f"{order}.status", "==", "draft", "NOT_DRAFT", f"The {n.record} must still be a draft.")
    actions = (
        create(
            n.record,
            "create",
            f"Start {n.record.a} for {n.party.a}; it is a draft without lines.",
            (n.party.key, "priority"),
            {"status": "draft", "total": 0, "lines": 0, "ordered_at": "$clock"},
            (active(n.party),),
        ),
        create(
            line_noun,
            "add",
            f"Put a quantity of {n.unit.a} on a draft {n.record} and reserve its stock.",
            (order, item, "quantity"),
            {"status": "reserved"},
            (
                draft_only,
                rule(f"{item}.status", "==", "listed", "DISCONTINUED", f"The {n.unit} must be listed."),
                rule("quantity", "<=", 25, "TOO_MANY", "A line holds at most 25."),
                rule(f"{item}.stock", ">=", "$quantity", "OUT_OF_STOCK", f"The {n.unit} must have enough stock."),
            ),
            (
                put("amount", f"$quantity*${item}.price"),
                add(f"{item}.stock", "-$quantity"),
                add(f"{order}.total", f"$quantity*${item}.price"),
                add(f"{order}.lines", 1),
            ),
        ),
        move(
            line_noun,
            "remove",
            "reserved -> removed",
            f"Take a line off a draft {n.record} and give its stock back.",
            (draft_only,),
            (add(f"{item}.stock", "$quantity"), add(f"{order}.total", "-$amount"), add(f"{order}.lines", -1)),
        ),
        move(
            n.record,
            "place",
            "draft -> placed",
            f"Place a draft {n.record}.",
            (
                rule("lines", ">=", 1, "EMPTY", f"{n.record.a.capitalize()} without lines is not placed."),
                active(n.party),
            ),
        ),
        move(
            n.record,
            "cancel",
            "draft -> cancelled",
            f"Cancel a draft {n.record} that has no lines any more.",
            (rule("lines", "==", 0, "LINES_LEFT", "Its lines must be removed first, so that their stock is free."),),
        ),
        change(
            n.record,
            "change",
            "priority",
            f"Change the priority of {n.record.a} that is not shipped yet.",
            ("priority",),
            (rule("status", "in", ("draft", "placed"), "TOO_LATE", "After shipping the priority stays as it is."),),
        ),
        move(n.record, "ship", "placed -> shipped", f"Ship a placed {n.record}."),
        move(n.record, "deliver", "shipped -> delivered", f"Record that a shipped {n.record} has arrived."),
        move(n.unit, "discontinue", "listed -> discontinued", f"Stop selling {n.unit.a}; open lines stay."),
        *suspend(n.party, "for unpaid bills"),
    )
    name = {a.verb: a.name for a in actions}
    lines = Step(
        name["add"], (0.1, 1), link=order, repeat=(1, 4), then=((9, ()), (1, (Step(name["remove"], (0.01, 0.08)),)))
    )
    flows = (
        Flow(
            create=name["create"],
            count=85,
            paths=(
                (4, (lines, Step(name["place"], (0.1, 4)), Step(name["ship"]), Step(name["deliver"], (20, 120)))),
                (2, (lines, Step(name["place"], (0.1, 4)), Step(name["ship"], (100, 900)))),
                (1, (lines, Step(name["place"], (0.1, 4)), Step(name["change"]))),
                (2, (lines,)),
                (1, (Step(name["cancel"]),)),
                (0.5, ()),
            ),
        ),
    )
    kept = f"FROM {line.name} l WHERE l.{order} = o.{order} AND l.status = 'reserved'"
    invariants = (
        Invariant(
            "an order's total is the sum of its lines' amounts",
            f"SELECT * FROM {record.name} o WHERE total != (SELECT COALESCE(SUM(amount), 0) {kept})",
        ),
        Invariant(
            "an order's number of lines is right",
            f"SELECT * FROM {record.name} o WHERE lines != (SELECT COUNT(*) {kept})",
        ),
        Invariant(
            "what is placed has a line",
            f"SELECT * FROM {record.name} WHERE status IN ('placed', 'shipped', 'delivered') AND lines < 1",
        ),
    )
    samples = {
        name["add"]: {"quantity": few(1, 12)},
        name["change"]: {"priority": pick(PRIORITIES)},
        name["create"]: {"priority": pick(PRIORITIES, (2, 5, 2))},
    }
    units = Seed(
        unit,
        45,
        {
            "title": labelled(f"{{label}} {n.unit.one} {{n:02d}}", link_name(n.resource)),
            "price": between(5, 400, 5),
            "stock": few(2, 140),
            "status": pick(("listed", "discontinued"), (9, 1)),
        },
    )
    return Workflow(
        "ordering",
        f"{n.record.many} and stock",
        people,
        (units, Seed(record), Seed(line)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


ORDERING = Archetype(
    "ordering",
    "order:3 purchase:3 cart:3 product:2 price:1.5 stock:2 sale:2 store:1.5 shop:3 buy:2 retail:3 catalog:1.5 "
    "win-back:2 customer:1.5 marketplace:2 subscriber:1",
    "product currency item element model colour emoji gene set",
    "client",
    (
        Wording("element isotope chemical laboratory compound", "researcher", "reagent pack", "reagent order"),
        Wording("music store purchase customer", "shopper", "record offer", "store order"),
        Wording("model machine learning", "subscriber", "compute package", "compute order"),
        Wording("data dataset exchange", "subscriber", "data product", "data order"),
        Wording("colour palette design paint", "designer", "paint offer", "paint order"),
        Wording("currency exchange rate bank", "client", "banknote offer", "exchange order"),
        Wording("", "buyer", "{resource} offer", "supply order"),
    ),
    build,
)
