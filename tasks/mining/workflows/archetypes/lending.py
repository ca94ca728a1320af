"""Loans of single units with limits and due dates: lend only what is available, to whom has loans left."""

from __future__ import annotations

from tasks.mining.generators import between, days_from_now, fixed, labelled, pick
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import category, day, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

CONDITIONS = ("new", "good", "worn")


def build(n: Names) -> Workflow:
    """Return the lending workflow in the nouns of a theme."""
    extra = (
        whole("loan_limit", 1, 8, "how many loans may be open at once"),
        whole("open_loans", 0, 8, "loans open now"),
        day("card_valid_until", "until when loans may be due"),
    )
    people = party(
        n.party,
        "client",
        44,
        extra,
        {"loan_limit": between(2, 6), "open_loans": fixed(0), "card_valid_until": days_from_now(5, 400)},
    )
    unit = table(
        n.unit,
        label("tag", "the tag on it"),
        reference(n.resource, f"the {n.thing} that it is about"),
        category("condition", CONDITIONS, "its condition"),
        status("available", "on_loan", "lost", "withdrawn"),
        description=f"Every {n.unit} that can be borrowed.",
    )
    record = table(
        n.record,
        reference(unit),
        reference(people.table),
        moment("lent_at", "when it was lent"),
        day("due_on", "when it is due back"),
        whole("renewals", 0, 2, "how often it was renewed"),
        status("active", "returned", "lost"),
        description=f"Every {n.record}, open or ended.",
    )
    who, what = n.party.key, n.unit.key
    card = rule(
        "due_on",
        "<=",
        f"${who}.card_valid_until",
        "CARD_ENDS_BEFORE",
        f"The {n.party}'s card must be valid until the due date.",
    )
    release = (put(f"{what}.status", "available"), add(f"{who}.open_loans", -1))
    actions = (
        create(
            n.record,
            "open",
            f"Lend an available {n.unit} to {n.party.a} until a due date.",
            (what, who, "due_on"),
            {"status": "active", "renewals": 0, "lent_at": "$clock"},
            (
                active(n.party),
                rule(f"{what}.status", "==", "available", "NOT_AVAILABLE", f"The {n.unit} must be available."),
                rule(
                    f"{who}.open_loans",
                    "<",
                    f"${who}.loan_limit",
                    "LOAN_LIMIT",
                    f"The {n.party} must have a loan left.",
                ),
                card,
            ),
            (put(f"{what}.status", "on_loan"), add(f"{who}.open_loans", 1)),
        ),
        move(n.record, "return", "active -> returned", f"Take back the {n.unit} of an active {n.record}.", (), release),
        change(
            n.record,
            "renew",
            "",
            f"Give an active {n.record} a later due date.",
            ("due_on",),
            (
                rule("status", "==", "active", "NOT_ACTIVE", f"Only an active {n.record} is renewed."),
                rule("renewals", "<", 2, "RENEWED_TWICE", f"{n.record.a.capitalize()} is renewed at most twice."),
                card,
            ),
            (add("renewals", 1),),
        ),
        move(
            n.record,
            "lose",
            "active -> lost",
            f"Record that the {n.unit} of an active {n.record} is lost.",
            (),
            (put(f"{what}.status", "lost"), add(f"{who}.open_loans", -1)),
        ),
        move(n.unit, "withdraw", "available -> withdrawn", f"Take an available {n.unit} out of lending."),
        change(
            n.party,
            "change",
            "loan_limit",
            f"Set how many loans {n.party.a} may have open.",
            ("loan_limit",),
            (
                rule("status", "==", "active", "NOT_ACTIVE", f"The {n.party} must be active."),
                rule(
                    "loan_limit",
                    ">=",
                    "$open_loans",
                    "BELOW_OPEN_LOANS",
                    "The limit is not below the loans that are open.",
                ),
            ),
        ),
        *suspend(n.party, "after overdue loans"),
    )
    name = {a.verb: a.name for a in actions}
    flows = (
        Flow(
            create=name["open"],
            count=95,
            days=60,
            paths=(
                (5, (Step(name["return"], (60, 500)),)),
                (2, (Step(name["renew"], (100, 300)), Step(name["return"], (100, 400)))),
                (1, (Step(name["lose"], (100, 600)),)),
                (2, (Step(name["renew"], (100, 300)),)),
                (3, ()),
            ),
        ),
    )
    active_loans = f"SELECT COUNT(*) FROM {record.name} r WHERE r.status = 'active'"
    invariants = (
        Invariant(
            "open loans count the active ones",
            f"SELECT * FROM {people.table.name} p WHERE open_loans != ({active_loans} AND r.{who} = p.{who})",
        ),
        Invariant(
            "a unit is on loan exactly while one loan of it is active",
            f"SELECT * FROM {unit.name} u WHERE (status = 'on_loan') != ({active_loans} AND r.{what} = u.{what})",
        ),
    )
    samples = {
        name["open"]: {"due_on": days_from_now(14, 45)},
        name["renew"]: {"due_on": days_from_now(20, 50)},
        name["change"]: {"loan_limit": between(4, 8)},
    }
    units = Seed(
        unit,
        60,
        {
            "tag": labelled(f"{n.unit.one.capitalize()} {{n:03d}}, {{label}}", link_name(n.resource)),
            "condition": pick(CONDITIONS, (1, 3, 1)),
            "status": pick(("available", "withdrawn"), (12, 1)),
        },
    )
    return Workflow(
        "lending",
        f"{n.record.many} and limits",
        people,
        (units, Seed(record)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


LENDING = Archetype(
    "lending",
    "loan:3 lend:3 borrow:3 library:2 copy:1 club:2 return:1 rent:3 lease:2 due:2 equipment:2 reference:1.5 "
    "game:1.5 device:1.5 book:1 document:1 renew:3",
    "opening game device book document topic language script instrument",
    "client",
    (
        Wording("chess opening game club", "club member", "opening book", "book loan"),
        Wording("browser device page", "tester", "test device", "device loan"),
        Wording("language script translation", "translator", "phrase book", "book loan"),
        Wording("search reference document topic library", "reader", "manual", "manual loan"),
        Wording("unit constant measure physics", "student", "measuring kit", "kit loan"),
        Wording("", "borrower", "{resource} kit", "kit loan"),
    ),
    build,
)
