"""Inspections of what records are about, by inspectors, with findings."""

from __future__ import annotations

from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import between, few, fixed, pick
from tasks.mining.workflows.acts import add, change, create, move, rule
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import person_name
from tasks.mining.workflows.plan import Flow, Invariant, Seed, Step, Workflow

GRADES = ("junior", "senior", "chief")
SEVERITIES = ("minor", "major", "critical")


def build(at: Setting) -> Workflow | None:
    """Return inspectors who know some of the mined resource, their inspections of units, and findings."""
    subject = Noun(at.unit.noun)
    inspector_noun, noun = at.fresh("inspector"), at.fresh(f"{subject.one.split()[-1]} inspection")
    finding_noun = at.fresh("inspection finding")
    inspector = table(
        inspector_noun,
        label("name", "the inspector's name"),
        reference(at.resource, f"the {at.resource.noun} that they know best"),
        category("grade", GRADES, "their grade"),
        whole("open_inspections", 0, 8, "inspections that they have not ended"),
        status("on_duty", "on_leave"),
        description="People who inspect.",
    )
    inspection = table(
        noun,
        reference(at.unit, f"the {subject} inspected"),
        reference(inspector),
        whole("score", 0, 100, "points reached; 0 until it is scored"),
        whole("findings", 0, None, "findings recorded"),
        status("planned", "passed", "failed"),
        moment("planned_at", "when it was planned"),
        description=f"Inspections of {subject.many}.",
    )
    finding = table(
        finding_noun,
        reference(inspection),
        category("severity", SEVERITIES, "how bad it is"),
        whole("deduction", 1, 40, "points that it costs"),
        moment("found_at", "when it was recorded"),
        description="What inspections have found.",
    )
    by, key = inspector_noun.key, noun.key
    done = (add(f"{by}.open_inspections", -1),)
    actions = (
        create(
            noun,
            "plan",
            f"Plan an inspection of {subject.a} by an inspector.",
            (link_name(at.unit), by),
            {"status": "planned", "score": 0, "findings": 0, "planned_at": "$clock"},
            (
                rule(f"{by}.status", "==", "on_duty", "ON_LEAVE", "The inspector must be on duty."),
                rule(f"{by}.open_inspections", "<", 8, "NO_ROOM", "An inspector has at most 8 open inspections."),
            ),
            (add(f"{by}.open_inspections", 1),),
        ),
        create(
            finding_noun,
            "record",
            "Record a finding of a planned inspection.",
            (key, "severity", "deduction"),
            {"found_at": "$clock"},
            (
                rule(f"{key}.status", "==", "planned", "ALREADY_ENDED", "The inspection must not have ended."),
                rule("deduction", "<=", 40, "TOO_MANY_POINTS", "A finding costs at most 40 points."),
            ),
            (add(f"{key}.findings", 1),),
        ),
        change(
            noun,
            "score",
            "",
            "Set the points that a planned inspection has reached.",
            ("score",),
            (
                rule("status", "==", "planned", "ALREADY_ENDED", "The inspection must not have ended."),
                rule("score", ">=", 0, "BELOW_ZERO", "Points are at least 0."),
                rule("score", "<=", 100, "ABOVE_HUNDRED", "Points are at most 100."),
            ),
        ),
        move(
            noun,
            "pass",
            "planned -> passed",
            "End an inspection as passed.",
            (rule("score", ">=", 60, "SCORE_TOO_LOW", "It must have reached 60 points."),),
            done,
        ),
        move(
            noun,
            "fail",
            "planned -> failed",
            "End an inspection as failed.",
            (rule("findings", ">=", 1, "NO_FINDING", "A failed inspection has a finding."),),
            done,
        ),
    )
    name = {action.verb: action.name for action in actions}
    found, scored = Step(name["record"], (1, 30), link=key, repeat=(1, 3)), Step(name["score"], (1, 10))
    flows = (
        Flow(
            create=name["plan"],
            count=70,
            paths=(
                (4, (scored, Step(name["pass"]))),
                (2, (found, scored, Step(name["pass"]))),
                (2, (found, Step(name["fail"]))),
                (1, (found,)),
                (2, ()),
            ),
        ),
    )
    samples = {
        name["score"]: {"score": between(45, 100)},
        name["record"]: {"severity": pick(SEVERITIES, (4, 2, 1)), "deduction": few(2, 40)},
    }
    invariants = (
        Invariant(
            "findings are counted",
            f"SELECT * FROM {inspection.name} i WHERE findings != "
            f"(SELECT COUNT(*) FROM {finding.name} f WHERE f.{key} = i.{key})",
        ),
        Invariant(
            "open inspections are counted",
            f"SELECT * FROM {inspector.name} p WHERE open_inspections != "
            f"(SELECT COUNT(*) FROM {inspection.name} i WHERE i.{by} = p.{by} AND i.status = 'planned')",
        ),
    )
    inspectors = Seed(
        inspector,
        14,
        {
            "name": person_name,
            "grade": pick(GRADES, (3, 2, 1)),
            "open_inspections": fixed(0),
            "status": pick(("on_duty", "on_leave"), (6, 1)),
        },
    )
    return Workflow(
        "inspections",
        f"inspections of {subject.many}",
        None,
        (inspectors, Seed(inspection), Seed(finding)),
        actions,
        flows,
        samples,
        invariants,
        inspection.name,
        inspector.name,
    )


INSPECTIONS = Connector("inspections", frozenset({"get", "update", "conditional", "loop", "transition"}), build)
