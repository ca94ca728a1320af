"""Watches with a quota and the notices that they raise: no more watches than the plan holds."""

from __future__ import annotations

from tasks.mining.generators import between, copied, fixed, pick
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

CHANNELS = ("email", "message", "digest")
LEVELS = ("info", "warning", "alarm")
PLANS = (("Basic", 3, 0), ("Plus", 6, 9), ("Team", 10, 29), ("Campus", 12, 49), ("Trial", 2, 0))


def build(n: Names) -> Workflow:
    """Return the subscription workflow in the nouns of a theme."""
    plan_noun = Noun("plan")
    plan = table(
        plan_noun,
        label("title", "the name of the plan"),
        whole("quota", 1, 20, f"how many {n.record.many} it holds"),
        whole("monthly_price", 0, 200, "price a month", unit=n.money),
        status("offered", "retired"),
        description=f"Plans that limit how many {n.record.many} one {n.party} has.",
    )
    extra = (
        reference(plan, "the plan that they are on"),
        whole("watch_limit", 1, 20, "the quota of their plan"),
        whole("in_use", 0, 20, f"{n.record.many} that are not ended"),
    )
    people = party(n.party, "client", 45, extra, {"in_use": fixed(0), "watch_limit": copied(f"{plan_noun.key}.quota")})
    record = table(
        n.record,
        reference(n.resource, f"the {n.thing} that is watched"),
        reference(people.table),
        whole("threshold", 1, 100, "how strong a change must be to be told", unit="percent"),
        category("channel", CHANNELS, "how notices are sent"),
        whole("notices", 0, None, "notices raised so far"),
        status("active", "paused", "ended"),
        moment("started_at", "when it was started"),
        description=f"Every {n.record} with its threshold.",
    )
    notice_noun = Noun(f"{n.record.one.split()[-1]} notice")
    notice = table(
        notice_noun,
        reference(record),
        category("level", LEVELS, "how serious it is"),
        whole("change_percent", 1, 100, "the change that raised it", unit="percent"),
        status("new", "read", "dismissed"),
        moment("raised_at", "when it was raised"),
        description=f"What each {n.record} has raised.",
    )
    who, watch = n.party.key, n.record.key
    kept = rule("status", "in", ("active", "paused"), "ENDED", f"An ended {n.record} does not change any more.")
    actions = (
        create(
            n.record,
            "start",
            f"Start {n.record.a} on {n.thing.a} for {n.party.a}.",
            (link_name(n.resource), who, "threshold", "channel"),
            {"status": "active", "notices": 0, "started_at": "$clock"},
            (
                active(n.party),
                rule("threshold", ">=", 1, "THRESHOLD_TOO_LOW", "The threshold is at least 1 percent."),
                rule("threshold", "<=", 100, "THRESHOLD_TOO_HIGH", "The threshold is at most 100 percent."),
                rule(
                    f"{who}.in_use",
                    "<",
                    f"${who}.watch_limit",
                    "QUOTA_USED_UP",
                    f"The {n.party}'s plan must have room for one more.",
                ),
            ),
            (add(f"{who}.in_use", 1),),
        ),
        move(n.record, "pause", "active -> paused", f"Pause an active {n.record}."),
        move(n.record, "resume", "paused -> active", f"Resume a paused {n.record}.", (active(n.party),)),
        move(
            n.record, "end", "active, paused -> ended", f"End {n.record.a} for good.", (), (add(f"{who}.in_use", -1),)
        ),
        change(
            n.record,
            "change",
            "threshold",
            f"Set the threshold of {n.record.a}.",
            ("threshold",),
            (
                kept,
                rule("threshold", ">=", 1, "THRESHOLD_TOO_LOW", "The threshold is at least 1 percent."),
                rule("threshold", "<=", 100, "THRESHOLD_TOO_HIGH", "The threshold is at most 100 percent."),
            ),
        ),
        create(
            notice_noun,
            "raise",
            f"Raise a notice of an active {n.record} about a change beyond its threshold.",
            (watch, "level", "change_percent"),
            {"status": "new", "raised_at": "$clock"},
            (
                rule(f"{watch}.status", "==", "active", "NOT_ACTIVE", f"The {n.record} must be active."),
                rule(
                    "change_percent",
                    ">=",
                    f"${watch}.threshold",
                    "BELOW_THRESHOLD",
                    "The change must reach the threshold.",
                ),
                rule("change_percent", "<=", 100, "TOO_LARGE", "A change is at most 100 percent."),
            ),
            (add(f"{watch}.notices", 1),),
        ),
        move(notice_noun, "dismiss", "new, read -> dismissed", "Dismiss a notice."),
        change(
            n.party,
            "switch",
            "plan",
            f"Put {n.party.a} on another plan that holds what is in use.",
            (plan_noun.key,),
            (
                rule("status", "==", "active", "NOT_ACTIVE", f"The {n.party} must be active."),
                rule(f"{plan_noun.key}.status", "==", "offered", "PLAN_RETIRED", "The plan must still be offered."),
                rule(
                    "in_use",
                    "<=",
                    f"${plan_noun.key}.quota",
                    "PLAN_TOO_SMALL",
                    f"The plan must hold the {n.record.many} in use.",
                ),
            ),
            (put("watch_limit", f"${plan_noun.key}.quota"),),
        ),
        *suspend(n.party, "for unpaid bills"),
    )
    name = {a.verb: a.name for a in actions}
    raised = Step(name["raise"], (10, 200), link=watch, repeat=(1, 3), then=((2, ()), (1, (Step(name["dismiss"]),))))
    flows = (
        Flow(
            create=name["start"],
            count=100,
            paths=(
                (3, (raised,)),
                (2, (raised, Step(name["pause"], (20, 200)))),
                (1, (Step(name["pause"]), Step(name["resume"], (20, 200)))),
                (2, (raised, Step(name["end"], (20, 400)))),
                (1, (Step(name["change"]), raised)),
                (2, ()),
            ),
        ),
    )
    invariants = (
        Invariant(
            "a person's limit is their plan's quota, and kept",
            f"SELECT * FROM {people.table.name} p JOIN {plan.name} q USING ({plan_noun.key}) "
            "WHERE p.watch_limit != q.quota OR p.in_use > p.watch_limit",
        ),
        Invariant(
            "what is in use counts the watches that are not ended",
            f"SELECT * FROM {people.table.name} p WHERE in_use != (SELECT COUNT(*) FROM {record.name} r "
            f"WHERE r.{who} = p.{who} AND r.status != 'ended')",
        ),
        Invariant(
            "notices are counted",
            f"SELECT * FROM {record.name} r WHERE notices != "
            f"(SELECT COUNT(*) FROM {notice.name} x WHERE x.{watch} = r.{watch})",
        ),
    )
    samples = {
        name["start"]: {"threshold": between(2, 40), "channel": pick(CHANNELS)},
        name["change"]: {"threshold": between(2, 60)},
        name["raise"]: {"level": pick(LEVELS, (4, 2, 1)), "change_percent": between(5, 90)},
    }
    plans = Seed(
        plan,
        len(PLANS),
        {
            "title": lambda m: PLANS[m.index][0],
            "quota": lambda m: PLANS[m.index][1],
            "monthly_price": lambda m: PLANS[m.index][2],
            "status": lambda m: "retired" if m.index == 3 else "offered",
        },
    )
    return Workflow(
        "subscriptions",
        f"{n.record.many} and quotas",
        people,
        (plans, Seed(record), Seed(notice)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
    )


SUBSCRIPTIONS = Archetype(
    "subscriptions",
    "subscribe:3 subscription:3 watchlist:3 watch:2 alert:2 notification:3 notify:2 monitor:2 follow:2 feed:2 "
    "quota:2 trend:2 certificate:1 indicator:1.5 emoji:1 "
    "",
    "currency country city zone company certificate package quota model status indicator",
    "client",
    (
        Wording("currency exchange rate", "client", "", "rate alert"),
        Wording("time zone clock", "colleague", "", "clock watch"),
        Wording("quota service cloud region", "operator", "", "quota alarm"),
        Wording("data dataset exchange", "subscriber", "", "revision watch"),
        Wording("package version artifact licence", "developer", "", "release watch"),
        Wording("employment indicator country trend news", "reader", "", "indicator watch"),
        Wording("search reference document", "reader", "", "topic watch"),
        Wording("", "subscriber", "", "{resource} watch"),
    ),
    build,
    entity=False,
)
