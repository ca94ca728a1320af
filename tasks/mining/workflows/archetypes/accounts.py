"""Accounts with balances and transfers between them: no overdraft, nothing from or to a frozen account."""

from __future__ import annotations

from tasks.mining.generators import amount, between, code, other_key, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, decimal, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Moment, Names, Seed, Step, Wording, Workflow

PURPOSES = ("invoice", "salary", "savings", "refund", "rent")


def build(n: Names) -> Workflow:
    """Return the account workflow in the nouns of a theme."""
    people = party(n.party, "client", 40, (), {})
    held = link_name(n.resource)
    unit = table(
        n.unit,
        label("number", f"the number of the {n.unit}"),
        reference(people.table, "whose it is"),
        reference(n.resource, f"the {n.thing} that it is held in"),
        decimal("balance", 0, None, f"what is there, in units of its {n.thing}"),
        decimal("reserved", 0, None, "what pending transfers out of it have taken already"),
        whole("transfer_limit", 50, 5000, "the most that one transfer out of it may move"),
        status("open", "frozen", "closed"),
        description=f"Every {n.unit} with its balance.",
    )
    source, sink = f"from_{n.unit.key}", f"to_{n.unit.key}"
    record = table(
        n.record,
        reference(unit, "what pays", name=source),
        reference(unit, "what receives", name=sink),
        decimal("amount", 0.5, None, "the amount moved"),
        category("purpose", PURPOSES, "what it is for"),
        status("pending", "settled", "reversed"),
        moment("ordered_at", "when it was ordered"),
        description=f"Every {n.record} with its state.",
    )
    top_noun = Noun("deposit")
    deposit = table(
        top_noun,
        reference(unit),
        decimal("amount", 0.5, 100000, "the amount paid in"),
        moment("paid_at", "when it came"),
        description=f"What was paid into each {n.unit}, its opening balance aside.",
    )
    open_source = rule(f"{source}.status", "==", "open", "SOURCE_NOT_OPEN", f"The paying {n.unit} must be open.")
    open_sink = rule(f"{sink}.status", "==", "open", "TARGET_NOT_OPEN", f"The receiving {n.unit} must be open.")
    actions = (
        create(
            n.record,
            "order",
            f"Order {n.record.a}; the amount leaves the paying {n.unit} at once and stays pending.",
            (source, sink, "amount", "purpose"),
            {"status": "pending", "ordered_at": "$clock"},
            (
                rule(source, "!=", f"${sink}", "SAME_SIDE", f"Both sides must be different {n.unit.many}."),
                rule("amount", ">", 0, "NOT_POSITIVE", "The amount must be positive."),
                open_source,
                open_sink,
                rule(
                    f"{source}.{held}",
                    "==",
                    f"${sink}.{held}",
                    "OTHER_UNIT",
                    f"Both sides must be held in the same {n.thing}.",
                ),
                rule(f"{source}.balance", ">=", "$amount", "OVERDRAFT", f"The paying {n.unit} must have the amount."),
                rule(
                    "amount", "<=", f"${source}.transfer_limit", "ABOVE_LIMIT", "The amount must be within its limit."
                ),
            ),
            (add(f"{source}.balance", "-$amount"), add(f"{source}.reserved", "$amount")),
        ),
        move(
            n.record,
            "settle",
            "pending -> settled",
            f"Settle a pending {n.record}: the receiver gets the amount.",
            (open_sink,),
            (add(f"{sink}.balance", "$amount"), add(f"{source}.reserved", "-$amount")),
        ),
        move(
            n.record,
            "reverse",
            "pending -> reversed",
            f"Reverse a pending {n.record}: the payer gets it back.",
            (open_source,),
            (add(f"{source}.balance", "$amount"), add(f"{source}.reserved", "-$amount")),
        ),
        create(
            top_noun,
            "make",
            f"Pay an amount into an open {n.unit}.",
            (n.unit.key, "amount"),
            {"paid_at": "$clock"},
            (
                rule(f"{n.unit.key}.status", "==", "open", "NOT_OPEN", f"The {n.unit} must be open."),
                rule("amount", ">", 0, "NOT_POSITIVE", "The amount must be positive."),
                rule("amount", "<=", 100000, "TOO_MUCH", "One deposit is at most 100000."),
            ),
            (add(f"{n.unit.key}.balance", "$amount"),),
        ),
        change(
            n.unit,
            "set",
            "limit",
            f"Set the most that one transfer out of an open {n.unit} may move.",
            ("transfer_limit",),
            (
                rule("status", "==", "open", "NOT_OPEN", f"The {n.unit} must be open."),
                rule("transfer_limit", ">=", 50, "LIMIT_TOO_LOW", "A limit is at least 50."),
                rule("transfer_limit", "<=", 5000, "LIMIT_TOO_HIGH", "A limit is at most 5000."),
            ),
        ),
        create(
            n.unit,
            "open",
            f"Open an empty {n.unit} for {n.party.a}.",
            ("number", n.party.key, held),
            {"balance": 0.0, "reserved": 0.0, "transfer_limit": 500, "status": "open"},
            (active(n.party),),
        ),
        move(n.unit, "freeze", "open -> frozen", f"Freeze an open {n.unit}."),
        move(n.unit, "unfreeze", "frozen -> open", f"Lift the freeze of {n.unit.a}."),
        move(
            n.unit,
            "close",
            "open -> closed",
            f"Close an empty {n.unit}.",
            (
                rule("balance", "==", 0, "BALANCE_LEFT", f"The {n.unit} must be empty."),
                rule("reserved", "==", 0, "TRANSFERS_PENDING", "No transfer out of it may be pending."),
            ),
        ),
        *suspend(n.party, "during a check"),
    )
    name = {a.verb: a.name for a in actions}
    flows = (
        Flow(create=name["make"], count=35, paths=((1, ()),)),
        Flow(
            create=name["order"],
            count=110,
            paths=((6, (Step(name["settle"], (4, 50)),)), (1, (Step(name["reverse"], (4, 60)),)), (2, ())),
        ),
        Flow(table=unit.name, paths=((1, (Step(name["freeze"], (300, 1000)),)), (12, ()))),
    )
    taken = f"SELECT COALESCE(SUM(amount), 0) FROM {record.name} r WHERE r.status = 'pending'"
    pending = f"{taken} AND r.{source} = u.{n.unit.key}"
    invariants = (
        Invariant(
            "what is reserved is what pending transfers took",
            f"SELECT * FROM {unit.name} u WHERE reserved != ({pending})",
        ),
        Invariant(
            "both sides of a transfer are held in the same unit",
            f"SELECT r.* FROM {record.name} r JOIN {unit.name} a ON a.{n.unit.key} = r.{source} "
            f"JOIN {unit.name} b ON b.{n.unit.key} = r.{sink} WHERE a.{held} != b.{held}",
        ),
        Invariant("what is closed is empty", f"SELECT * FROM {unit.name} WHERE status = 'closed' AND balance != 0"),
    )

    def peer(m: Moment) -> str:
        peers = [
            k
            for k, row in m.draft.rows[unit.name].items()
            if row[held] == m.target(source)[held] and k != m.row[source]
        ]
        return m.rng.choice(peers) if peers else other_key(source)(m)  # type: ignore[return-value]

    samples = {
        name["order"]: {sink: peer, "amount": amount(5, 600), "purpose": pick(PURPOSES)},
        name["make"]: {"amount": amount(50, 2000)},
        name["open"]: {"number": _number},
        name["set"]: {"transfer_limit": between(100, 4000, 100)},
    }
    units = Seed(
        unit,
        64,
        {
            "number": _number,
            held: lambda m: m.draft.some_key(n.resource.name, m.rng, 4),
            "balance": amount(20, 6000),
            "reserved": lambda m: 0.0,
            "transfer_limit": between(300, 3000, 100),
            "status": pick(("open", "closed"), (1, 0)),
        },
    )
    return Workflow(
        "accounts",
        f"{n.unit.many} and {n.record.many}",
        people,
        (units, Seed(record), Seed(deposit)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


def _number(m: Moment) -> str:
    return f"{m.rng.randint(1000, 9999)}-{code(m.rng, 4).upper()}"


ACCOUNTS = Archetype(
    "accounts",
    "account:3 balance:3 transfer:3 payment:2 currency:3 exchange:2 custody:3 wallet:3 fund:2 transaction:2 "
    "desk:1 bank:3 token:1.5 stock:1.5 portfolio:2.5 rate:1.5 asset:2 market:2",
    "currency rate token coin company stock price",
    "client",
    (
        Wording("currency exchange rate bank", "client", "currency account", "currency transfer"),
        Wording("token coin custody wallet blockchain", "holder", "wallet", "token transfer"),
        Wording("stock company market portfolio share", "investor", "depot", "share transfer"),
        Wording("language model token price", "team", "credit account", "credit transfer"),
        Wording("", "holder", "{resource} account", "account transfer"),
    ),
    build,
)
