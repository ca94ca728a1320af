"""Runs on targets with limited units: start only where room is left, nothing on a frozen target."""

from __future__ import annotations

from tasks.mining.generators import between, copied, few, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

STAGES = ("test", "staging", "production")
CHECKS = ("format", "health", "load", "permissions")
_CODENAMES = [
    "aspen",
    "basalt",
    "cirrus",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "heron",
    "iris",
    "juniper",
    "krill",
    "lotus",
    "maple",
    "nova",
    "onyx",
    "pine",
]


def build(n: Names) -> Workflow:
    """Return the deployment workflow in the nouns of a theme."""
    people = party(n.party, "staff", 26, (), {})
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        category("stage", STAGES, "what it is for"),
        whole("units", 6, 60, "units in all"),
        whole("units_free", 0, 60, "units that no run holds"),
        status("open", "frozen"),
        description=f"Every {n.unit} with its free units.",
    )
    record = table(
        n.record,
        reference(n.resource, f"the {n.thing} that it is about"),
        reference(unit, "where it runs"),
        reference(people.table, "who answers for it"),
        whole("units", 1, 8, "units that it holds while it runs"),
        whole("checks_passed", 0, None, "checks that it has passed"),
        whole("retries", 0, 3, "how often it was retried"),
        status("queued", "running", "succeeded", "failed", "cancelled"),
        moment("queued_at", "when it was queued"),
        description=f"Every {n.record} with its state.",
    )
    check_noun = Noun(f"{n.record.one.split()[-1]} check")
    check = table(
        check_noun,
        reference(record),
        category("kind", CHECKS, "what was checked"),
        whole("seconds", 1, 900, "how long it took", unit="s"),
        moment("passed_at", "when it was passed"),
        description=f"Checks that each {n.record} has passed.",
    )
    where, run = n.unit.key, n.record.key
    not_frozen = rule(f"{where}.status", "==", "open", "FROZEN", f"The {n.unit} must not be frozen.")
    release = (add(f"{where}.units_free", "$units"),)
    actions = (
        create(
            n.record,
            "queue",
            f"Queue {n.record.a} of {n.thing.a} on {n.unit.a}.",
            (link_name(n.resource), where, n.party.key, "units"),
            {"status": "queued", "checks_passed": 0, "retries": 0, "queued_at": "$clock"},
            (
                active(n.party),
                not_frozen,
                rule("units", "<=", 8, "TOO_MANY_UNITS", f"{n.record.a.capitalize()} holds at most 8 units."),
            ),
        ),
        move(
            n.record,
            "start",
            "queued -> running",
            f"Start a queued {n.record}.",
            (
                not_frozen,
                rule(f"{where}.units_free", ">=", "$units", "NO_UNITS_FREE", f"The {n.unit} must have the units free."),
            ),
            (add(f"{where}.units_free", "-$units"),),
        ),
        create(
            check_noun,
            "pass",
            f"Record a check that a running {n.record} has passed.",
            (run, "kind", "seconds"),
            {"passed_at": "$clock"},
            (
                rule(f"{run}.status", "==", "running", "NOT_RUNNING", f"The {n.record} must be running."),
                rule("seconds", "<=", 900, "TOO_SLOW", "A check that takes over 900 seconds has not passed."),
            ),
            (add(f"{run}.checks_passed", 1),),
        ),
        move(
            n.record,
            "finish",
            "running -> succeeded",
            f"Finish a running {n.record} that has passed two checks.",
            (rule("checks_passed", ">=", 2, "CHECKS_MISSING", "At least two checks must be passed."),),
            release,
        ),
        move(n.record, "fail", "running -> failed", f"Record that a running {n.record} has failed.", (), release),
        change(
            n.record,
            "resize",
            "",
            f"Set how many units a queued {n.record} will hold.",
            ("units",),
            (
                rule("status", "==", "queued", "ALREADY_STARTED", f"Only a queued {n.record} is resized."),
                rule("units", "<=", 8, "TOO_MANY_UNITS", f"{n.record.a.capitalize()} holds at most 8 units."),
            ),
        ),
        move(
            n.record,
            "retry",
            "failed -> queued",
            f"Queue a failed {n.record} again.",
            (
                not_frozen,
                rule(
                    "retries", "<", 3, "RETRIED_TOO_OFTEN", f"{n.record.a.capitalize()} is retried at most three times."
                ),
            ),
            (add("retries", 1),),
        ),
        move(n.record, "cancel", "queued -> cancelled", f"Cancel a queued {n.record}."),
        move(n.unit, "freeze", "open -> frozen", f"Freeze {n.unit.a}: nothing starts on it."),
        move(n.unit, "unfreeze", "frozen -> open", f"Open a frozen {n.unit} again."),
        *suspend(n.party, "from starting anything"),
    )
    name = {a.verb: a.name for a in actions}
    start, two = Step(name["start"], (0.5, 20)), Step(name["pass"], (0.2, 3), link=run, repeat=(2, 4))
    one = Step(name["pass"], (0.2, 3), link=run, repeat=(1, 2))
    fail = Step(name["fail"], (0.5, 8))
    flows = (
        Flow(
            create=name["queue"],
            count=110,
            paths=(
                (5, (start, two, Step(name["finish"], (0.5, 12)))),
                (2, (start, one, fail)),
                (1, (Step(name["cancel"]),)),
                (1, (start, fail, Step(name["retry"]), start, two, Step(name["finish"], (1, 12)))),
                (1, (start, one)),
                (1, (Step(name["resize"]), start, two)),
                (1, ()),
            ),
        ),
        Flow(table=unit.name, paths=((1, (Step(name["freeze"], (900, 1070)),)), (5, ()))),
    )
    running = (
        f"SELECT COALESCE(SUM(r.units), 0) FROM {record.name} r WHERE r.{where} = u.{where} AND r.status = 'running'"
    )
    invariants = (
        Invariant(
            "free units are the units less those of running ones",
            f"SELECT * FROM {unit.name} u WHERE units_free != units - ({running})",
        ),
        Invariant(
            "passed checks are counted",
            f"SELECT * FROM {record.name} r WHERE checks_passed != "
            f"(SELECT COUNT(*) FROM {check.name} c WHERE c.{run} = r.{run})",
        ),
        Invariant(
            "what succeeded has two checks",
            f"SELECT * FROM {record.name} WHERE status = 'succeeded' AND checks_passed < 2",
        ),
    )
    samples = {
        name["queue"]: {"units": few(1, 6)},
        name["resize"]: {"units": few(1, 8)},
        name["pass"]: {"kind": pick(CHECKS), "seconds": few(3, 400)},
    }
    units = Seed(
        unit,
        16,
        {
            "title": lambda m: f"{_CODENAMES[m.index]}-{m.rng.randint(1, 9)}",
            "stage": pick(STAGES, (1, 1, 2)),
            "units": between(16, 48, 4),
            "units_free": copied("units"),
            "status": lambda m: "open",
        },
    )
    return Workflow(
        "deployments",
        f"{n.record.many} and capacity",
        people,
        (units, Seed(record), Seed(check)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


DEPLOYMENTS = Archetype(
    "deployments",
    "deploy:3 deployment:3 release:2 rollout:3 instance:2 cluster:3 environment:2 version:1.5 artifact:2 "
    "package:1.5 train:2.5 model:2 batch:1.5 endpoint:2 browser:2.5 page:2 build:2 job:2 run:1.5 repository:2 "
    "prediction:2 evaluation:2 programming:2 code:1 region:1.5",
    "package service model operation device region language gene set browser",
    "staff",
    (
        Wording("package artifact repository version python", "maintainer", "build runner", "package build"),
        Wording("machine learning train prediction evaluation", "data scientist", "compute pool", "training run"),
        Wording("browser page device click", "test engineer", "browser grid", "test run"),
        Wording("model provider token context", "prompt engineer", "inference pool", "evaluation run"),
        Wording("service region cloud quota endpoint", "operator", "cluster", "rollout"),
        Wording("programming language source code", "developer", "build runner", "code build"),
        Wording("", "operator", "cluster", "{resource} rollout"),
    ),
    build,
)
