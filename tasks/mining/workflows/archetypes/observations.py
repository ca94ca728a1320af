"""Readings by instruments, with review: record only within the instrument's range, publish only what was validated."""

from __future__ import annotations

from tasks.mining.generators import between, few, fixed, labelled, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import organisation_name, party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Moment, Names, Seed, Step, Wording, Workflow

QUALITIES = ("good", "fair", "doubtful")


def build(n: Names) -> Workflow:
    """Return the observation workflow in the nouns of a theme."""
    extra = (whole("published", 0, None, "readings of theirs that are published"),)
    people = party(n.party, "staff", 28, extra, {"published": fixed(0)})
    campaign_noun = Noun("campaign")
    campaign = table(
        campaign_noun,
        label("title", "the name of the campaign"),
        whole("quota", 5, 60, "how many readings it takes"),
        whole("taken", 0, None, "readings recorded for it"),
        status("running", "finished"),
        description=f"Campaigns that {n.record.many} are recorded for.",
    )
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        reference(n.resource, f"the {n.thing} that it watches"),
        whole("range_low", -100, 1000, "the lowest value that it can read"),
        whole("range_high", -100, 2000, "the highest value that it can read"),
        status("operational", "in_service", "retired"),
        description=f"Every {n.unit} with its range.",
    )
    record = table(
        n.record,
        reference(unit),
        reference(people.table, "who recorded it"),
        reference(campaign),
        whole("value", -100, 2000, "the value read"),
        category("quality", QUALITIES, "how good the conditions were"),
        status("raw", "validated", "rejected", "published"),
        moment("recorded_at", "when it was recorded"),
        description=f"Every {n.record} with its state of review.",
    )
    what, who, for_what = n.unit.key, n.party.key, campaign_noun.key
    low = rule("value", ">=", f"${what}.range_low", "BELOW_RANGE", f"The value must be within the {n.unit}'s range.")
    high = rule("value", "<=", f"${what}.range_high", "ABOVE_RANGE", f"The value must be within the {n.unit}'s range.")
    actions = (
        create(
            n.record,
            "record",
            f"Record the value of {n.record.a} made with {n.unit.a}; it starts as raw.",
            (what, who, for_what, "value", "quality"),
            {"status": "raw", "recorded_at": "$clock"},
            (
                active(n.party),
                rule(f"{what}.status", "==", "operational", "NOT_OPERATIONAL", f"The {n.unit} must be operational."),
                rule(f"{for_what}.status", "==", "running", "CAMPAIGN_FINISHED", "The campaign must be running."),
                rule(
                    f"{for_what}.taken",
                    "<",
                    f"${for_what}.quota",
                    "QUOTA_FULL",
                    "The campaign's quota must not be full.",
                ),
                low,
                high,
            ),
            (add(f"{for_what}.taken", 1),),
        ),
        move(
            n.record,
            "validate",
            "raw -> validated",
            f"Validate a raw {n.record}.",
            (rule("quality", "!=", "doubtful", "DOUBTFUL", "What is doubtful is not validated."),),
        ),
        change(
            n.record,
            "correct",
            "value",
            f"Correct the value of a raw {n.record}.",
            ("value",),
            (rule("status", "==", "raw", "ALREADY_REVIEWED", "Only raw values are corrected."), low, high),
        ),
        move(
            n.record,
            "publish",
            "validated -> published",
            f"Publish a validated {n.record}.",
            (active(n.party),),
            (add(f"{who}.published", 1),),
        ),
        move(n.record, "reject", "raw, validated -> rejected", f"Reject {n.record.a} that is not published."),
        move(n.unit, "service", "operational -> in_service", f"Take an operational {n.unit} in for service."),
        move(n.unit, "release", "in_service -> operational", f"Put a serviced {n.unit} back into operation."),
        move(
            campaign_noun,
            "finish",
            "running -> finished",
            "Finish a campaign that has readings.",
            (rule("taken", ">=", 1, "EMPTY", "A campaign without readings is not finished."),),
        ),
        *suspend(n.party, "from recording"),
    )
    name = {a.verb: a.name for a in actions}
    validate = Step(name["validate"], (5, 80))
    flows = (
        Flow(
            create=name["record"],
            count=125,
            paths=(
                (4, (validate, Step(name["publish"], (10, 120)))),
                (2, (validate,)),
                (1, (Step(name["correct"]), validate)),
                (1, (Step(name["reject"], (5, 100)),)),
                (3, ()),
            ),
        ),
        Flow(table=unit.name, paths=((1, (Step(name["service"], (500, 1000)),)), (7, ()))),
        Flow(table=campaign.name, paths=((1, (Step(name["finish"], (700, 1000)),)), (4, ()))),
    )
    count = f"SELECT COUNT(*) FROM {record.name} r WHERE"
    invariants = (
        Invariant(
            "a campaign counts its readings",
            f"SELECT * FROM {campaign.name} c WHERE taken != ({count} r.{for_what} = c.{for_what})",
        ),
        Invariant(
            "a person's published readings are counted",
            f"SELECT * FROM {people.table.name} p WHERE published != "
            f"({count} r.{who} = p.{who} AND r.status = 'published')",
        ),
        Invariant(
            "values are within the instrument's range",
            f"SELECT * FROM {record.name} r JOIN {unit.name} u USING ({what}) "
            "WHERE value NOT BETWEEN range_low AND range_high",
        ),
    )

    def reading(m: Moment) -> int:
        row = m.target(what)
        middle, spread = (row["range_low"] + row["range_high"]) / 2, row["range_high"] - row["range_low"]  # type: ignore[operator]
        return round(m.rng.gauss(middle, spread / 6))

    samples = {
        name["record"]: {"value": reading, "quality": pick(QUALITIES, (5, 3, 1))},
        name["correct"]: {"value": reading},
    }
    units = Seed(
        unit,
        36,
        {
            "title": labelled(f"{n.unit.one.capitalize()} {{n:02d}}, {{label}}", link_name(n.resource)),
            "range_low": between(-20, 40, 5),
            "range_high": lambda m: m.row["range_low"] + m.rng.randrange(50, 400, 10),
            "status": pick(("operational", "retired"), (9, 1)),
        },
    )
    campaigns = Seed(
        campaign,
        12,
        {
            "title": lambda m: f"{organisation_name(m).split()[0]} campaign {m.index + 1}",
            "quota": few(8, 30),
            "taken": fixed(0),
            "status": fixed("running"),
        },
    )
    return Workflow(
        "observations",
        f"{n.record.many} and review",
        people,
        (campaigns, units, Seed(record)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


OBSERVATIONS = Archetype(
    "observations",
    "observation:3 observe:2 measure:2.5 measurement:3 weather:3 station:2 reading:2 instrument:3 sensor:3 "
    "laboratory:2 constant:1.5 experiment:3 survey:2 species:3 field:1 temperature:2 island:2 indicator:2 "
    "geofence:2 track:1 location:1.5 map:1",
    "station species penguin island city element isotope unit constant indicator country star",
    "staff",
    (
        Wording("weather station airport temperature", "observer", "weather sensor", "sensor reading"),
        Wording("species penguin island field", "field biologist", "trap camera", "sighting"),
        Wording("element isotope chemical laboratory", "chemist", "spectrometer", "spectrum reading"),
        Wording("unit constant measure physics", "metrologist", "reference instrument", "calibration reading"),
        Wording("star observatory telescope", "night assistant", "telescope", "brightness reading"),
        Wording("location city map place geofence", "surveyor", "position tracker", "position reading"),
        Wording("", "observer", "{resource} monitor", "monitor reading"),
    ),
    build,
    entity=False,
)
