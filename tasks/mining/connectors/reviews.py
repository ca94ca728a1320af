"""Reviews by people of what records are about."""

from __future__ import annotations

from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import between, fixed, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule
from tasks.mining.workflows.columns import category, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Flow, Invariant, Seed, Step, Workflow

ASPECTS = ("quality", "price", "service", "accuracy")


def build(at: Setting) -> Workflow | None:
    """Return reviews that join people with what their records are about, and answers to them."""
    subject = Noun(at.unit.noun)
    noun = at.fresh(f"{subject.one.split()[-1]} review")
    reply_noun = at.fresh(f"{noun.one.split()[-1]} reply")
    review = table(
        noun,
        reference(at.unit, f"the {subject} reviewed"),
        reference(at.party, "who wrote it"),
        whole("rating", 1, 5, "1 (bad) to 5 (good)"),
        category("aspect", ASPECTS, "what it is mainly about"),
        whole("replies", 0, None, "replies to it"),
        status("published", "withdrawn", "hidden"),
        moment("written_at", "when it was written"),
        description=f"What {at.party.nouns} think of {subject.many}.",
    )
    reply = table(
        reply_noun,
        reference(review, "what it replies to"),
        reference(at.party, "who replied"),
        category("tone", ("agrees", "disagrees", "asks"), "what it says"),
        moment("replied_at", "when it was written"),
        description="Replies to reviews.",
    )
    person = at.cast.party
    who = next(c.name for c in review.columns if c.references.startswith(f"{at.party.name}."))
    actions = (
        create(
            noun,
            "write",
            f"Write a review of {subject.a}.",
            tuple(c.name for c in review.columns if c.role == "reference") + ("rating", "aspect"),
            {"status": "published", "replies": 0, "written_at": "$clock"},
            (
                active(person),
                rule("rating", ">=", 1, "RATING_TOO_LOW", "A rating is at least 1."),
                rule("rating", "<=", 5, "RATING_TOO_HIGH", "A rating is at most 5."),
            ),
        ),
        create(
            reply_noun,
            "post",
            "Reply to a published review of somebody else.",
            (noun.key, who, "tone"),
            {"replied_at": "$clock"},
            (
                active(person),
                rule(f"{noun.key}.status", "==", "published", "NOT_PUBLISHED", "The review must be published."),
                rule(f"{noun.key}.{who}", "!=", f"${who}", "OWN_REVIEW", "Nobody replies to a review of their own."),
            ),
            (add(f"{noun.key}.replies", 1),),
        ),
        move(noun, "hide", "published -> hidden", "Hide a published review."),
        change(
            noun,
            "change",
            "rating",
            "Change the rating of a published review that nobody has replied to.",
            ("rating",),
            (
                rule("status", "==", "published", "NOT_PUBLISHED", "Only a published review is changed."),
                rule("replies", "==", 0, "HAS_REPLIES", "Nobody may have replied to it."),
                rule("rating", ">=", 1, "RATING_TOO_LOW", "A rating is at least 1."),
                rule("rating", "<=", 5, "RATING_TOO_HIGH", "A rating is at most 5."),
            ),
        ),
        move(
            noun,
            "withdraw",
            "published -> withdrawn",
            "Withdraw a published review that nobody has replied to.",
            (rule("replies", "==", 0, "HAS_REPLIES", "Nobody may have replied to it."),),
        ),
    )
    name = {action.verb: action.name for action in actions}
    replies = Step(name["post"], (2, 90), link=noun.key, repeat=(1, 2))
    flows = (
        Flow(
            create=name["write"],
            count=85,
            paths=(
                (5, ()),
                (3, (replies,)),
                (1, (Step(name["hide"]),)),
                (1, (Step(name["change"]),)),
                (1, (Step(name["withdraw"]),)),
            ),
        ),
    )
    samples = {
        name["write"]: {"rating": pick((1, 2, 3, 4, 5), (1, 1, 2, 4, 3)), "aspect": pick(ASPECTS)},
        name["change"]: {"rating": between(1, 5)},
    }
    count = f"SELECT COUNT(*) FROM {reply.name} y WHERE y.{noun.key} = r.{noun.key}"
    invariants = (Invariant("replies are counted", f"SELECT * FROM {review.name} r WHERE replies != ({count})"),)
    seeds = (Seed(review, 0, {"replies": fixed(0)}), Seed(reply))
    return Workflow(
        "reviews", f"reviews of {subject.many}", None, seeds, actions, flows, samples, invariants, review.name
    )


REVIEWS = Connector("reviews", frozenset({"search", "filter", "aggregate", "aggregation", "update", "loop"}), build)
