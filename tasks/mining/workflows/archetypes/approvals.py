"""Requests that need an approval and a budget: approve only what the budget still covers."""

from __future__ import annotations

from tasks.mining.generators import between, copied, other_key, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import organisation_name, party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

URGENCIES = ("routine", "soon", "urgent")


def build(n: Names) -> Workflow:
    """Return the approval workflow in the nouns of a theme."""
    extra = (whole("approval_limit", 100, 5000, "the highest amount that may be asked for", unit=n.money),)
    people = party(n.party, "staff", 34, extra, {"approval_limit": between(400, 3000, 100)})
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        whole("budget", 0, None, "money granted", unit=n.money),
        whole("budget_left", 0, None, "money not yet bound by approvals", unit=n.money),
        status("open", "frozen"),
        description=f"Every {n.unit} that pays for approved requests.",
    )
    record = table(
        n.record,
        reference(n.resource, f"the {n.thing} that it concerns"),
        reference(people.table, "who asks"),
        reference(unit, "what pays"),
        whole("amount", 1, 5000, "the amount asked for", unit=n.money),
        category("urgency", URGENCIES, "how soon an answer is needed"),
        status("submitted", "approved", "rejected", "withdrawn", "settled"),
        moment("submitted_at", "when it was made"),
        description=f"Every {n.record} with its decision.",
    )
    shift_noun = Noun("budget shift")
    source, sink = f"from_{n.unit.key}", f"to_{n.unit.key}"
    shift = table(
        shift_noun,
        reference(unit, "what gives", name=source),
        reference(unit, "what receives", name=sink),
        whole("amount", 1, 20000, "the amount moved", unit=n.money),
        moment("shifted_at", "when it was moved"),
        description=f"Money moved between one {n.unit} and another.",
    )
    pays, who = n.unit.key, n.party.key
    pending = rule("status", "==", "submitted", "ALREADY_DECIDED", f"The {n.record} must not be decided yet.")
    within = rule(
        "amount", "<=", f"${who}.approval_limit", "ABOVE_LIMIT", f"The amount must be within the {n.party}'s limit."
    )
    actions = (
        create(
            n.record,
            "submit",
            f"Submit {n.record.a} about {n.thing.a} to be paid from {n.unit.a}.",
            (link_name(n.resource), who, pays, "amount", "urgency"),
            {"status": "submitted", "submitted_at": "$clock"},
            (
                active(n.party),
                rule(f"{pays}.status", "==", "open", "FROZEN", f"The {n.unit} must not be frozen."),
                within,
            ),
        ),
        move(
            n.record,
            "approve",
            "submitted -> approved",
            f"Approve {n.record.a} and bind its amount.",
            (
                rule(f"{pays}.status", "==", "open", "FROZEN", f"The {n.unit} must not be frozen."),
                rule(
                    f"{pays}.budget_left",
                    ">=",
                    "$amount",
                    "BUDGET_EXCEEDED",
                    f"The {n.unit} must still cover the amount.",
                ),
            ),
            (add(f"{pays}.budget_left", "-$amount"),),
        ),
        move(n.record, "reject", "submitted -> rejected", f"Reject {n.record.a}."),
        change(
            n.record,
            "revise",
            "",
            f"Change the amount of {n.record.a} that is not decided.",
            ("amount",),
            (pending, within),
        ),
        move(n.record, "withdraw", "submitted -> withdrawn", f"Withdraw {n.record.a} that is not decided yet."),
        move(n.record, "settle", "approved -> settled", f"Settle an approved {n.record}."),
        create(
            shift_noun,
            "make",
            f"Move free budget from one {n.unit} to another.",
            (source, sink, "amount"),
            {"shifted_at": "$clock"},
            (
                rule(source, "!=", f"${sink}", "SAME_SIDE", f"Both sides must be different {n.unit.many}."),
                rule("amount", ">=", 1, "NOT_POSITIVE", "The amount must be positive."),
                rule(
                    f"{source}.budget_left",
                    ">=",
                    "$amount",
                    "BUDGET_EXCEEDED",
                    "The giving side must have the amount left.",
                ),
                rule(f"{sink}.status", "==", "open", "FROZEN", "The receiving side must not be frozen."),
            ),
            (
                add(f"{source}.budget", "-$amount"),
                add(f"{source}.budget_left", "-$amount"),
                add(f"{sink}.budget", "$amount"),
                add(f"{sink}.budget_left", "$amount"),
            ),
        ),
        move(n.unit, "freeze", "open -> frozen", f"Freeze {n.unit.a}: nothing more is asked of it."),
        move(n.unit, "unfreeze", "frozen -> open", f"Open a frozen {n.unit} again."),
        *suspend(n.party, "from asking"),
    )
    name = {a.verb: a.name for a in actions}
    approve = Step(name["approve"], (10, 120))
    flows = (
        Flow(
            create=name["submit"],
            count=100,
            paths=(
                (4, (approve, Step(name["settle"], (20, 200)))),
                (2, (approve,)),
                (2, (Step(name["reject"], (5, 90)),)),
                (1, (Step(name["revise"], (1, 20)), approve)),
                (1, (Step(name["withdraw"]),)),
                (3, ()),
            ),
        ),
        Flow(create=name["make"], count=14, paths=((1, ()),)),
    )
    decided = f"SELECT COALESCE(SUM(amount), 0) FROM {record.name} r WHERE r.status IN ('approved', 'settled')"
    bound = f"{decided} AND r.{pays} = u.{pays}"
    invariants = (
        Invariant(
            "budget left is the budget less what is approved or settled",
            f"SELECT * FROM {unit.name} u WHERE budget_left != budget - ({bound})",
        ),
        Invariant(
            "nothing is asked above the limit",
            f"SELECT * FROM {record.name} r JOIN {people.table.name} p USING ({who}) WHERE r.amount > p.approval_limit",
        ),
    )
    samples = {
        name["submit"]: {"amount": between(40, 1500, 20), "urgency": pick(URGENCIES, (4, 2, 1))},
        name["revise"]: {"amount": between(40, 900, 20)},
        name["make"]: {"amount": between(100, 1500, 50), sink: other_key(source)},
    }
    units = Seed(
        unit,
        16,
        {
            "title": lambda m: f"{organisation_name(m)} {n.unit.one}",
            "budget": between(2000, 14000, 500),
            "budget_left": copied("budget"),
            "status": pick(("open", "frozen"), (8, 1)),
        },
    )
    return Workflow(
        "approvals",
        f"{n.record.many} and budgets",
        people,
        (units, Seed(record), Seed(shift)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


APPROVALS = Archetype(
    "approvals",
    "approve:3 approval:3 request:1.5 budget:3 quota:2.5 increase:2 exception:3 claim:3 compliance:3 "
    "policy:1.5 waiver:3 decision:2 coding:1.5 licence:2 license:2 reject:2 agency:1.5 permission:2 grant:2 "
    "submit:1.5",
    "diagnosis code licence service quota package language set",
    "staff",
    (
        Wording("diagnosis clinic claim patient", "clinician", "payer fund", "treatment claim"),
        Wording("quota limit service cloud", "team lead", "spending account", "quota request"),
        Wording("licence license package compliance", "developer", "legal budget", "licence exception"),
        Wording("language translation localisation script", "project manager", "client budget", "translation request"),
        Wording("customer purchase win-back", "campaign manager", "campaign budget", "win-back proposal"),
        Wording("data dataset exchange", "analyst", "data budget", "access request"),
        Wording("", "requester", "project budget", "change request"),
    ),
    build,
    entity=False,
)
