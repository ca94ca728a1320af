"""Payments of records by the people's cards."""

from __future__ import annotations

from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import code, fixed, pick
from tasks.mining.workflows.acts import add, create, move, put, rule
from tasks.mining.workflows.columns import category, decimal, label, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Flow, Invariant, Moment, Seed, Step, Workflow

KINDS = ("credit", "debit", "prepaid")


def build(at: Setting) -> Workflow | None:
    """Return cards of people and payments that join cards with records; None where records have no price."""
    owner = at.link(at.record, at.party)
    price = at.measure(at.record, "total_price", "total", "amount", "quantity")
    if owner is None or price is None:
        return None
    card_noun, record = at.fresh("payment card"), Noun(at.record.noun)
    pay_noun = at.fresh(f"{record.one.split()[-1]} payment")
    card = table(
        card_noun,
        label("card_number", "its last digits and issuer"),
        reference(at.party, "whose it is"),
        category("kind", KINDS, "what kind of card it is"),
        whole("spent", 0, None, "the sum of its captured payments", unit=at.cast.money),
        status("valid", "blocked"),
        description="Cards that pay.",
    )
    column = whole if price.type == "integer" else decimal
    payment = table(
        pay_noun,
        reference(at.record, "what is paid"),
        reference(card, "what pays"),
        column("amount", 0, None, "the amount paid", unit=at.cast.money),
        status("authorised", "captured", "voided", "refunded"),
        moment("paid_at", "when it was authorised"),
        description=f"Payments of {record.many} by card.",
    )
    bill, by = at.record.key, card_noun.key
    bill = next(c.name for c in payment.columns if c.references.startswith(f"{at.record.name}."))
    valid = rule(f"{by}.status", "==", "valid", "CARD_BLOCKED", "The card must not be blocked.")
    ended = tuple(
        rule(f"{bill}.status", "!=", state, "NOTHING_TO_PAY", f"{record.a.capitalize()} that is {state} is not paid.")
        for state in at.ended(at.record)
    )
    actions = (
        create(
            pay_noun,
            "authorise",
            f"Authorise the payment of {record.a} by a card of the same {at.cast.party}.",
            (bill, by),
            {"status": "authorised", "paid_at": "$clock"},
            (
                valid,
                rule(
                    f"{by}.{at.cast.party.key}",
                    "==",
                    f"${bill}.{owner.name}",
                    "OTHER_OWNER",
                    "The card must be theirs.",
                ),
                *ended,
            ),
            (put("amount", f"${bill}.{price.name}"),),
        ),
        move(
            pay_noun,
            "capture",
            "authorised -> captured",
            "Capture an authorised payment.",
            (valid,),
            (add(f"{by}.spent", "$amount"),),
        ),
        move(
            pay_noun,
            "refund",
            "captured -> refunded",
            "Refund a captured payment.",
            (),
            (add(f"{by}.spent", "-$amount"),),
        ),
        move(card_noun, "block", "valid -> blocked", "Block a card: nothing more is paid with it."),
        move(pay_noun, "void", "authorised -> voided", "Give up an authorised payment."),
    )
    name = {action.verb: action.name for action in actions}
    capture = Step(name["capture"], (2, 40))
    flows = (
        Flow(
            create=name["authorise"],
            count=80,
            days=25,
            paths=((5, (capture,)), (1, (capture, Step(name["refund"]))), (1, (Step(name["void"]),)), (2, ())),
        ),
        Flow(table=card.name, days=20, paths=((1, (Step(name["block"], (400, 470)),)), (9, ()))),
    )

    def a_card(m: Moment) -> str:
        person = m.target(bill)[owner.name]
        mine = [k for k, row in m.draft.rows[card.name].items() if row[at.cast.party.key] == person]
        return str(m.rng.choice(mine or list(m.draft.rows[card.name])))

    paid = f"SELECT COALESCE(SUM(amount), 0) FROM {payment.name} p WHERE p.{by} = c.{by} AND p.status = 'captured'"
    invariants = (
        Invariant(
            "what a card has spent is the sum of its captured payments",
            f"SELECT * FROM {card.name} c WHERE spent != ({paid})",
        ),
    )
    cards = Seed(
        card,
        60,
        {
            "card_number": lambda m: f"{code(m.rng, 2).upper()} ending {m.rng.randint(1000, 9999)}",
            "kind": pick(KINDS, (3, 4, 1)),
            "spent": fixed(0),
            "status": fixed("valid"),
        },
    )
    return Workflow(
        "payments",
        f"payments of {record.many}",
        None,
        (cards, Seed(payment)),
        actions,
        flows,
        {name["authorise"]: {by: a_card}},
        invariants,
        payment.name,
        card.name,
    )


PAYMENTS = Connector("payments", frozenset({"aggregate", "aggregation", "create", "join", "transition"}), build)
