"""Tickets with assignment and escalation: assign only whom has room, close only what is resolved."""

from __future__ import annotations

from tasks.mining.generators import between, few, fixed, pick
from tasks.mining.workflows.acts import active, add, change, create, move, put, rule, suspend
from tasks.mining.workflows.columns import category, link_name, moment, reference, status, table, whole, words
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

SEVERITIES = ("low", "medium", "high", "critical")
REASONS = (
    "wrong value",
    "missing entry",
    "slow response",
    "user complaint",
    "failed check",
    "outdated record",
    "scheduled work",
    "unexpected change",
)


def build(n: Names) -> Workflow:
    """Return the ticket workflow in the nouns of a theme."""
    extra = (
        whole("ticket_limit", 1, 9, "tickets that may be assigned at once"),
        whole("open_tickets", 0, 9, "tickets assigned now"),
        whole("level", 1, 3, "the level of escalation handled"),
    )
    people = party(
        n.party, "staff", 24, extra, {"ticket_limit": between(3, 7), "open_tickets": fixed(0), "level": few(1, 3)}
    )
    who, about = n.party.key, link_name(n.resource)
    note_noun = Noun(f"{n.record.one.split()[-1]} note")
    record = table(
        n.record,
        reference(n.resource, f"the {n.thing} that it is about"),
        reference(people.table, "who works on it", nullable=True),
        category("severity", SEVERITIES, "how bad it is"),
        category("reason", REASONS, "why it was opened"),
        whole("escalation", 1, 3, "the level that it needs"),
        whole("minutes", 0, None, "minutes worked, by its notes", unit="min"),
        status("open", "assigned", "resolved", "closed"),
        moment("opened_at", "when it was opened"),
        description=f"Every {n.record} about {n.thing.a}.",
    )
    note = table(
        note_noun,
        reference(record),
        reference(people.table, "who worked"),
        whole("minutes_spent", 5, 240, "minutes of work", unit="min"),
        words("text", "what was done"),
        moment("noted_at", "when it was written"),
        description=f"The work done on each {n.record}.",
    )
    release = (add(f"{who}.open_tickets", -1),)
    actions = (
        create(
            n.record,
            "open",
            f"Open {n.record.a} about {n.thing.a}, unassigned and at level 1.",
            (about, "severity", "reason"),
            {"status": "open", "escalation": 1, "minutes": 0, "opened_at": "$clock", who: None},
        ),
        change(
            n.record,
            "assign",
            "",
            f"Assign an open {n.record} to {n.party.a}.",
            (who,),
            (
                rule("status", "==", "open", "NOT_OPEN", f"Only an open {n.record} is assigned."),
                active(n.party),
                rule(
                    f"{who}.level",
                    ">=",
                    "$escalation",
                    "LEVEL_TOO_LOW",
                    f"The {n.party} must handle its level of escalation.",
                ),
                rule(
                    f"{who}.open_tickets",
                    "<",
                    f"${who}.ticket_limit",
                    "NO_ROOM",
                    f"The {n.party} must have room for one more.",
                ),
            ),
            (put("status", "assigned"), add(f"{who}.open_tickets", 1)),
        ),
        create(
            note_noun,
            "add",
            f"Record work by {n.party.a} on an assigned {n.record}.",
            (n.record.key, who, "minutes_spent", "text"),
            {"noted_at": "$clock"},
            (
                rule(f"{n.record.key}.status", "==", "assigned", "NOT_ASSIGNED", f"The {n.record} must be assigned."),
                rule(
                    f"{n.record.key}.{who}",
                    "==",
                    f"${who}",
                    "NOT_THEIRS",
                    f"Only the {n.party} that it is assigned to notes work.",
                ),
                rule("minutes_spent", "<=", 240, "TOO_LONG", "A note holds at most 240 minutes."),
            ),
            (add(f"{n.record.key}.minutes", "$minutes_spent"),),
        ),
        move(
            n.record,
            "resolve",
            "assigned -> resolved",
            f"Mark an assigned {n.record} as resolved.",
            (rule("minutes", ">=", 1, "NO_WORK_NOTED", "Work must have been noted on it."),),
            release,
        ),
        move(
            n.record,
            "escalate",
            "assigned -> open",
            f"Hand an assigned {n.record} back for a higher level.",
            (rule("escalation", "<", 3, "TOP_LEVEL", "Nothing is escalated beyond level 3."),),
            (*release, add("escalation", 1), put(who, None)),
        ),
        move(n.record, "close", "resolved -> closed", f"Close a resolved {n.record}."),
        change(
            n.record,
            "change",
            "severity",
            f"Correct the severity of {n.record.a} that is not resolved.",
            ("severity",),
            (rule("status", "in", ("open", "assigned"), "ALREADY_RESOLVED", "It must be open or assigned."),),
        ),
        *suspend(n.party, "from duty"),
    )
    name = {a.verb: a.name for a in actions}
    assign, finish = Step(name["assign"], (1, 30)), (Step(name["resolve"], (2, 60)), Step(name["close"], (10, 90)))
    work = Step(name["add"], (0.5, 20), link=n.record.key, repeat=(1, 3))
    flows = (
        Flow(
            create=name["open"],
            count=105,
            paths=(
                (5, (assign, work, *finish)),
                (2, (assign, Step(name["escalate"]), assign, work, *finish)),
                (3, (assign, work)),
                (1, (assign,)),
                (1, (Step(name["change"]),)),
                (2, ()),
            ),
        ),
    )
    invariants = (
        Invariant(
            "open tickets count the assigned ones",
            f"SELECT * FROM {people.table.name} p WHERE open_tickets != (SELECT COUNT(*) FROM {record.name} r "
            f"WHERE r.{who} = p.{who} AND r.status = 'assigned')",
        ),
        Invariant(
            "minutes are the sum of the notes",
            f"SELECT * FROM {record.name} r WHERE minutes != (SELECT COALESCE(SUM(minutes_spent), 0) "
            f"FROM {note.name} x WHERE x.{n.record.key} = r.{n.record.key})",
        ),
        Invariant(
            "an open ticket has nobody, any other has somebody",
            f"SELECT * FROM {record.name} WHERE (status = 'open') != ({who} IS NULL)",
        ),
    )
    texts = pick(
        (
            "checked the source",
            "asked the reporter",
            "compared two entries",
            "ran the check again",
            "corrected the entry",
            "waited for an answer",
        )
    )
    samples = {
        name["open"]: {"severity": pick(SEVERITIES, (3, 4, 2, 1)), "reason": pick(REASONS)},
        name["assign"]: {who: lambda m: m.draft.some_key(people.table.name, m.rng, 1.1)},
        name["add"]: {"minutes_spent": between(10, 120, 5), "text": texts, who: lambda m: m.target(n.record.key)[who]},
    }
    return Workflow(
        "tickets",
        f"{n.record.many} and assignment",
        people,
        (Seed(record), Seed(note)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
    )


TICKETS = Archetype(
    "tickets",
    "ticket:3 incident:3 support:2 issue:2 maintenance:3 alert:2 security:2 exposure:3 escalate:3 assign:2 "
    "severity:3 vulnerability:3 turnaround:2 de-icing:2 threat:2.5 firewall:2 rule:0.5 priority:1.5 error:1 "
    "help:1 certificate:1.5 register:1",
    "service port technique certificate plane status operation endpoint tactic software",
    "staff",
    (
        Wording("flight airport airline plane turnaround", "ramp agent", "", "turnaround ticket"),
        Wording("port network exposure firewall threat attack security", "analyst", "", "security incident"),
        Wording("certificate authority trust", "trust officer", "", "certificate incident"),
        Wording("cloud service region endpoint operation", "engineer", "", "service ticket"),
        Wording("browser page test device", "test engineer", "", "defect ticket"),
        Wording("customer purchase store", "support agent", "", "support ticket"),
        Wording("document reference search topic", "librarian", "", "help ticket"),
        Wording("", "case worker", "", "support ticket"),
    ),
    build,
    entity=False,
)
