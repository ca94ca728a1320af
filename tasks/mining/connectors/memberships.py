"""Programmes about the mined resource, with members and points that their records earn."""

from __future__ import annotations

from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import between, few, fixed, labelled, pick
from tasks.mining.workflows.acts import active, add, create, move, rule
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Flow, Invariant, Moment, Seed, Step, Workflow

REASONS = ("activity", "anniversary", "correction", "referral")


def build(at: Setting) -> Workflow | None:
    """Return programmes about the resource, memberships of people in them, and points given for records."""
    person, record = at.cast.party, Noun(at.record.noun)
    owner = at.link(at.record, at.party)
    if owner is None:
        return None
    programme_noun = at.fresh(f"{at.resource.noun.split()[-1]} programme")
    noun, credit_noun = at.fresh("programme membership"), at.fresh("point credit")
    programme = table(
        programme_noun,
        label("title", "the name of the programme"),
        reference(at.resource, f"the {at.resource.noun} that it is about"),
        whole("seats", 5, 60, "members that it takes"),
        whole("seats_taken", 0, 60, "members that it has"),
        status("open", "closed"),
        description=f"Programmes that {person.many} can join.",
    )
    membership = table(
        noun,
        reference(programme),
        reference(at.party, "who is a member"),
        whole("points", 0, None, "points earned"),
        status("active", "left"),
        moment("joined_at", "when it began"),
        description="Who is a member of which programme.",
    )
    credit = table(
        credit_noun,
        reference(membership),
        reference(at.record, f"the {record} that earned them"),
        whole("points", 1, 50, "points given"),
        category("reason", REASONS, "why"),
        moment("given_at", "when they were given"),
        description=f"Points that {record.many} have earned.",
    )
    what, which = programme_noun.key, noun.key
    earned = next(c.name for c in credit.columns if c.references.startswith(f"{at.record.name}."))
    actions = (
        create(
            noun,
            "start",
            f"Make {person.a} a member of an open programme.",
            (what, person.key),
            {"points": 0, "status": "active", "joined_at": "$clock"},
            (
                active(person),
                rule(f"{what}.status", "==", "open", "CLOSED", "The programme must be open."),
                rule(f"{what}.seats_taken", "<", f"${what}.seats", "FULL", "The programme must have a seat left."),
            ),
            (add(f"{what}.seats_taken", 1),),
        ),
        create(
            credit_noun,
            "give",
            f"Give a member points for {record.a} of their own.",
            (which, earned, "points", "reason"),
            {"given_at": "$clock"},
            (
                rule(f"{which}.status", "==", "active", "MEMBERSHIP_ENDED", "The membership must be active."),
                rule(
                    f"{which}.{person.key}",
                    "==",
                    f"${earned}.{owner.name}",
                    "NOT_THEIRS",
                    f"The {record} must be theirs.",
                ),
                rule("points", "<=", 50, "TOO_MANY_POINTS", "At most 50 points are given at once."),
            ),
            (add(f"{which}.points", "$points"),),
        ),
        move(
            noun, "end", "active -> left", "End a membership and free its seat.", (), (add(f"{what}.seats_taken", -1),)
        ),
        move(programme_noun, "close", "open -> closed", "Close a programme to new members."),
    )
    name = {action.verb: action.name for action in actions}
    give = Step(name["give"], (5, 150), link=which, repeat=(1, 3))
    flows = (
        Flow(
            create=name["start"],
            count=70,
            days=40,
            paths=(
                (4, (give,)),
                (1, (give, Step(name["end"], (20, 200)))),
                (1, (Step(name["end"], (50, 300)),)),
                (2, ()),
            ),
        ),
    )

    def their_record(m: Moment) -> str:
        member = m.target(which)[person.key]
        theirs = [k for k, row in m.draft.rows[at.record.name].items() if row[owner.name] == member]
        return str(m.rng.choice(theirs or list(m.draft.rows[at.record.name])))

    samples = {name["give"]: {earned: their_record, "points": few(5, 50), "reason": pick(REASONS, (6, 1, 1, 2))}}
    invariants = (
        Invariant(
            "seats taken count the active members",
            f"SELECT * FROM {programme.name} g WHERE seats_taken != "
            f"(SELECT COUNT(*) FROM {membership.name} m WHERE m.{what} = g.{what} AND m.status = 'active')",
        ),
        Invariant(
            "points are the sum of the credits",
            f"SELECT * FROM {membership.name} m WHERE points != "
            f"(SELECT COALESCE(SUM(c.points), 0) FROM {credit.name} c WHERE c.{which} = m.{which})",
        ),
    )
    programmes = Seed(
        programme,
        12,
        {
            "title": labelled("Programme {n:02d}, {label}", link_name(at.resource)),
            "seats": between(5, 25, 5),
            "seats_taken": fixed(0),
            "status": pick(("open", "closed"), (6, 1)),
        },
    )
    return Workflow(
        "memberships",
        "programmes and points",
        None,
        (programmes, Seed(membership), Seed(credit)),
        actions,
        flows,
        samples,
        invariants,
        membership.name,
        programme.name,
    )


MEMBERSHIPS = Connector("memberships", frozenset({"join", "create", "aggregation", "list", "search"}), build)
