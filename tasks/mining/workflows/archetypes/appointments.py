"""Appointments in slots: a slot holds one, and who stayed away too often is not booked again."""

from __future__ import annotations

from tasks.mining.generators import few, fixed, pick, time_from_now
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party, person_name
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

REASONS = ("first visit", "follow-up", "second opinion", "review")


def build(n: Names) -> Workflow:
    """Return the appointment workflow in the nouns of a theme."""
    extra = (whole("no_shows", 0, None, "appointments that they did not come to"),)
    people = party(n.party, "client", 46, extra, {"no_shows": fixed(0)})
    unit = table(
        n.unit,
        label("name", f"the {n.unit}'s name"),
        reference(n.resource, f"the {n.thing} that they know best"),
        whole("booked", 0, None, f"{n.record.many} that are booked now"),
        status("practising", "away"),
        description=f"Every {n.unit} who gives appointments.",
    )
    slot_noun = Noun(f"{n.record.one.split()[-1]} slot")
    slot = table(
        slot_noun,
        reference(unit),
        moment("starts_at", "when it starts"),
        whole("minutes", 15, 60, "its length", unit="min"),
        status("free", "taken", "blocked"),
        description=f"Times at which {n.unit.a} can be seen.",
    )
    record = table(
        n.record,
        reference(slot),
        reference(people.table),
        reference(unit),
        reference(n.resource, f"the {n.thing} that it is about"),
        category("reason", REASONS, "why it was made"),
        status("booked", "checked_in", "completed", "cancelled", "missed"),
        moment("booked_at", "when it was made"),
        description=f"Every {n.record} with its outcome.",
    )
    when, who, whom, about = slot_noun.key, n.party.key, n.unit.key, link_name(n.resource)
    done = (add(f"{whom}.booked", -1),)
    actions = (
        create(
            n.record,
            "book",
            f"Book a free slot of {n.unit.a} for {n.party.a}.",
            (when, who, whom, about, "reason"),
            {"status": "booked", "booked_at": "$clock"},
            (
                active(n.party),
                rule(f"{when}.status", "==", "free", "SLOT_TAKEN", "The slot must be free."),
                rule(f"{when}.{whom}", "==", f"${whom}", "OTHER_SLOT", f"The slot must be one of that {n.unit}."),
                rule(f"{whom}.status", "==", "practising", "AWAY", f"The {n.unit} must not be away."),
                rule(
                    f"{who}.no_shows",
                    "<",
                    3,
                    "MISSED_TOO_OFTEN",
                    f"{n.party.a.capitalize()} who missed three is not booked.",
                ),
            ),
            (put(f"{when}.status", "taken"), add(f"{whom}.booked", 1)),
        ),
        move(
            n.record,
            "cancel",
            "booked -> cancelled",
            f"Cancel a booked {n.record} and free its slot.",
            (),
            (put(f"{when}.status", "free"), *done),
        ),
        move(n.record, "check_in", "booked -> checked_in", f"Record that the {n.party} has come.", (active(n.party),)),
        move(
            n.record,
            "complete",
            "checked_in -> completed",
            f"Complete {n.record.a} whose {n.party} has come.",
            (),
            done,
        ),
        move(
            n.record,
            "miss",
            "booked -> missed",
            f"Record that the {n.party} did not come.",
            (),
            (add(f"{who}.no_shows", 1), *done),
        ),
        change(
            n.record,
            "recode",
            "",
            f"Set what a running {n.record} is about.",
            (about,),
            (rule("status", "in", ("booked", "checked_in"), "ENDED", f"An ended {n.record} is not recoded."),),
        ),
        move(slot_noun, "block", "free -> blocked", "Block a free slot."),
        move(
            n.unit,
            "excuse",
            "practising -> away",
            f"Record that {n.unit.a} is away.",
            (rule("booked", "==", 0, "STILL_BOOKED", "Nothing may be booked with them."),),
        ),
        *suspend(n.party, "from booking"),
    )
    name = {a.verb: a.name for a in actions}
    come = (Step(name["check_in"], (-0.3, 0.3), anchor=f"{when}.starts_at"), Step(name["complete"], (0.5, 2)))
    flows = (
        Flow(table=slot.name, paths=((1, (Step(name["block"], (0, 100)),)), (11, ()))),
        Flow(
            create=name["book"],
            count=115,
            days=30,
            paths=(
                (6, come),
                (1, (Step(name["cancel"], (2, 60)),)),
                (1, (Step(name["miss"], (1, 3), anchor=f"{when}.starts_at"),)),
                (1, (Step(name["recode"]), *come)),
                (1, come[:1]),
            ),
        ),
    )
    invariants = (
        Invariant(
            "a slot is taken exactly while one appointment that is not cancelled holds it",
            f"SELECT * FROM {slot.name} s WHERE (status = 'taken') != "
            f"(SELECT COUNT(*) FROM {record.name} r WHERE r.{when} = s.{when} AND r.status != 'cancelled')",
        ),
        Invariant(
            "missed ones are counted",
            f"SELECT * FROM {people.table.name} p WHERE no_shows != (SELECT COUNT(*) FROM {record.name} r "
            f"WHERE r.{who} = p.{who} AND r.status = 'missed')",
        ),
        Invariant(
            "booked ones are counted",
            f"SELECT * FROM {unit.name} u WHERE booked != (SELECT COUNT(*) FROM {record.name} r "
            f"WHERE r.{whom} = u.{whom} AND r.status IN ('booked', 'checked_in'))",
        ),
    )
    samples = {
        name["book"]: {
            whom: lambda m: m.target(when)[whom],
            "reason": pick(REASONS, (4, 3, 1, 2)),
            when: lambda m: _a_free_slot(m, slot.name),
        }
    }
    units = Seed(unit, 18, {"name": person_name, "booked": fixed(0), "status": fixed("practising")})
    slots = Seed(
        slot,
        150,
        {
            "starts_at": time_from_now(-24, 14),
            "minutes": pick((15, 30, 45, 60)),
            "status": fixed("free"),
            whom: lambda m: m.draft.some_key(unit.name, m.rng, 1.2),
        },
    )
    return Workflow(
        "appointments",
        f"{n.record.many} and slots",
        people,
        (units, slots, Seed(record)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


def _a_free_slot(m, slots: str):
    """Return a random free slot that starts within two weeks of the moment, or any."""
    now = m.now.strftime("%Y-%m-%dT%H:%M:%S")
    free = [k for k, row in m.draft.rows[slots].items() if row["status"] == "free" and str(row["starts_at"]) > now]
    free.sort(key=lambda k: (m.draft.rows[slots][k]["starts_at"], k))
    return free[few(0, min(40, len(free) - 1))(m)] if free else m.draft.some_key(slots, m.rng)


APPOINTMENTS = Archetype(
    "appointments",
    "appointment:3 patient:3 clinic:3 referral:3 visit:2 slot:2 consult:3 diagnosis:3 health:2 practitioner:3 "
    "doctor:3 translator:1.5 language:1 advice:2 tutor:2 lesson:2 chapter:1 club:1.5 interview:2 world:0.5 "
    "hold:0.5",
    "diagnosis code language opening licence colour",
    "client",
    (
        Wording("diagnosis clinic patient health", "patient", "practitioner", "appointment"),
        Wording("chess opening club game", "student", "coach", "lesson"),
        Wording("language translation localisation", "client", "interpreter", "interpreting session"),
        Wording("licence compliance package", "developer", "counsel", "consultation"),
        Wording("player team basketball sport", "fan", "coach", "training session"),
        Wording("", "client", "adviser", "consultation"),
    ),
    build,
)
