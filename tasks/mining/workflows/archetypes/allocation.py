"""Requests served from batches under a quota: dispatch only what a batch still holds and the quota allows."""

from __future__ import annotations

from tasks.mining.generators import between, code, copied, days_from_now, few, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, day, label, moment, reference, status, table, whole
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

PURPOSES = ("teaching", "research", "testing", "replacement")


def build(n: Names) -> Workflow:
    """Return the allocation workflow in the nouns of a theme."""
    extra = (
        whole("quota", 20, 400, "how much they may receive in all"),
        whole("quota_left", 0, 400, "what is left of it"),
    )
    people = party(n.party, "client", 40, extra, {"quota": between(60, 300, 10), "quota_left": copied("quota")})
    unit = table(
        n.unit,
        label("batch_number", f"the number of the {n.unit}"),
        reference(n.resource, f"the {n.thing} that it holds"),
        whole("received", 20, 600, "the quantity that came in"),
        whole("left_over", 0, 600, "the quantity not dispatched"),
        day("best_before", "until when it should be used"),
        status("released", "quarantined"),
        description=f"Every {n.unit} with what is left of it.",
    )
    record = table(
        n.record,
        reference(unit),
        reference(people.table),
        whole("quantity", 1, 50, "the quantity asked for"),
        category("purpose", PURPOSES, "what it is for"),
        day("needed_by", "when it is needed"),
        status("requested", "approved", "dispatched", "received", "refused"),
        moment("requested_at", "when it was made"),
        description=f"Every {n.record} with its state.",
    )
    what, who = n.unit.key, n.party.key
    released = rule(
        f"{what}.status", "==", "released", "QUARANTINED", f"The {n.unit} must be released, not quarantined."
    )
    actions = (
        create(
            n.record,
            "submit",
            f"Ask for a quantity of {n.unit.a} on behalf of {n.party.a}.",
            (what, who, "quantity", "purpose", "needed_by"),
            {"status": "requested", "requested_at": "$clock"},
            (
                active(n.party),
                rule("quantity", "<=", 50, "TOO_MUCH", f"{n.record.a.capitalize()} asks for at most 50."),
                released,
                rule(
                    "needed_by",
                    "<=",
                    f"${what}.best_before",
                    "EXPIRES_BEFORE",
                    f"The {n.unit} must be usable on that day.",
                ),
            ),
        ),
        move(
            n.record,
            "approve",
            "requested -> approved",
            f"Approve {n.record.a} within the {n.party}'s quota.",
            (
                active(n.party),
                rule(f"{who}.quota_left", ">=", "$quantity", "QUOTA_EXCEEDED", f"The {n.party}'s quota must cover it."),
            ),
            (add(f"{who}.quota_left", "-$quantity"),),
        ),
        move(
            n.record,
            "dispatch",
            "approved -> dispatched",
            f"Dispatch an approved {n.record} from its {n.unit}.",
            (
                released,
                rule(f"{what}.left_over", ">=", "$quantity", "NOT_ENOUGH_LEFT", f"The {n.unit} must hold enough."),
            ),
            (add(f"{what}.left_over", "-$quantity"),),
        ),
        move(n.record, "receive", "dispatched -> received", f"Record that a dispatched {n.record} has arrived."),
        move(n.record, "refuse", "requested -> refused", f"Refuse {n.record.a}."),
        change(
            n.record,
            "change",
            "quantity",
            f"Change the quantity of {n.record.a} that is not approved.",
            ("quantity",),
            (
                rule("status", "==", "requested", "ALREADY_APPROVED", "Only what is not approved is changed."),
                rule("quantity", "<=", 50, "TOO_MUCH", f"{n.record.a.capitalize()} asks for at most 50."),
            ),
        ),
        move(n.unit, "quarantine", "released -> quarantined", f"Quarantine {n.unit.a}: nothing is dispatched from it."),
        move(n.unit, "release", "quarantined -> released", f"Release a quarantined {n.unit}."),
        *suspend(n.party, "from asking"),
    )
    name = {a.verb: a.name for a in actions}
    approve, dispatch = Step(name["approve"], (5, 60)), Step(name["dispatch"], (5, 60))
    flows = (
        Flow(
            create=name["submit"],
            count=115,
            paths=(
                (5, (approve, dispatch, Step(name["receive"], (20, 100)))),
                (2, (approve, dispatch)),
                (2, (approve,)),
                (1, (Step(name["refuse"], (5, 50)),)),
                (1, (Step(name["change"]), approve, dispatch)),
                (3, ()),
            ),
        ),
        Flow(table=unit.name, paths=((1, (Step(name["quarantine"], (600, 1000)),)), (8, ()))),
    )
    total = f"SELECT COALESCE(SUM(quantity), 0) FROM {record.name} r WHERE"
    invariants = (
        Invariant(
            "what is left over is what came in less what was dispatched",
            f"SELECT * FROM {unit.name} u WHERE left_over != received - ({total} r.{what} = u.{what} "
            "AND r.status IN ('dispatched', 'received'))",
        ),
        Invariant(
            "the quota left is the quota less what was approved",
            f"SELECT * FROM {people.table.name} p WHERE quota_left != quota - ({total} r.{who} = p.{who} "
            "AND r.status IN ('approved', 'dispatched', 'received'))",
        ),
    )
    samples = {
        name["submit"]: {"quantity": few(1, 40), "purpose": pick(PURPOSES), "needed_by": days_from_now(3, 30)},
        name["change"]: {"quantity": few(1, 30)},
    }
    units = Seed(
        unit,
        50,
        {
            "batch_number": lambda m: f"B{m.index + 101}-{code(m.rng, 3).upper()}",
            "received": between(60, 320, 5),
            "left_over": copied("received"),
            "best_before": days_from_now(-5, 400),
            "status": lambda m: "released",
        },
    )
    return Workflow(
        "allocation",
        f"{n.record.many} and quotas",
        people,
        (units, Seed(record)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


ALLOCATION = Archetype(
    "allocation",
    "sample:3 batch:1 allocate:3 allocation:3 material:2 isotope:3 element:2.5 reagent:3 dispatch:2 "
    "chemical:2 periodic:2 stock:1 offer:2 win-back:3 voucher:3 campaign:2 kit:2 grant:1 token:1 colour:2 "
    "glycol:2 fluid:2 printed:2",
    "element isotope chemical colour customer star species emoji unit",
    "client",
    (
        Wording("isotope element chemical laboratory periodic", "laboratory", "material batch", "sample request"),
        Wording("customer purchase win-back store", "shop manager", "voucher batch", "voucher request"),
        Wording("flight airport plane turnaround", "ground crew", "fluid batch", "fluid request"),
        Wording("colour palette design", "designer", "paint batch", "sample request"),
        Wording("species penguin island field", "laboratory", "specimen batch", "specimen request"),
        Wording("unit constant measure", "workshop", "gauge batch", "gauge request"),
        Wording("", "requester", "{resource} batch", "batch request"),
    ),
    build,
)
