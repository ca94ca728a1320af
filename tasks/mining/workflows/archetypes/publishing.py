"""Contributions with review and moderation: publish only what was reviewed, hide only what was reported."""

from __future__ import annotations

from tasks.mining.generators import between, few, fixed, labelled, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule, suspend
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.people import party
from tasks.mining.workflows.plan import Archetype, Flow, Invariant, Names, Seed, Step, Wording, Workflow

REASONS = ("wrong facts", "offensive", "duplicate", "off topic", "outdated")


def build(n: Names) -> Workflow:
    """Return the publishing workflow in the nouns of a theme."""
    extra = (
        whole("reputation", 0, None, "points earned by published work"),
        whole("drafts", 0, 8, "drafts that are open"),
    )
    people = party(n.party, "client", 44, extra, {"reputation": few(0, 80), "drafts": fixed(0)})
    unit = table(
        n.unit,
        label("title", f"the name of the {n.unit}"),
        reference(n.resource, f"the {n.thing} that it is about"),
        whole("word_limit", 200, 3000, "the most words that one may have"),
        whole("published", 0, None, "published ones in it"),
        status("open", "archived"),
        description=f"Every {n.unit} that is written for.",
    )
    record = table(
        n.record,
        label("title", "its title"),
        reference(unit),
        reference(people.table, "who wrote it"),
        whole("word_count", 20, 3000, "its length", unit="words"),
        whole("reports", 0, None, "reports that are not dismissed"),
        status("draft", "in_review", "published", "hidden", "rejected"),
        moment("written_at", "when it was begun"),
        description=f"Every {n.record} with its state.",
    )
    report_noun = Noun(f"{n.record.one.split()[-1]} report")
    report = table(
        report_noun,
        reference(record),
        reference(people.table, "who reported it"),
        category("reason", REASONS, "why"),
        status("open", "dismissed"),
        moment("reported_at", "when it was reported"),
        description=f"Complaints about published {n.record.many}.",
    )
    where, who, what = n.unit.key, n.party.key, n.record.key
    is_open = rule(f"{where}.status", "==", "open", "ARCHIVED", f"The {n.unit} must not be archived.")
    short = rule("word_count", "<=", f"${where}.word_limit", "TOO_LONG", f"It must keep to the {n.unit}'s word limit.")
    actions = (
        create(
            n.record,
            "draft",
            f"Begin {n.record.a} in {n.unit.a}.",
            ("title", where, who, "word_count"),
            {"status": "draft", "reports": 0, "written_at": "$clock"},
            (
                active(n.party),
                is_open,
                rule("word_count", ">=", 20, "TOO_SHORT", "It must have at least 20 words."),
                short,
                rule(f"{who}.drafts", "<", 5, "TOO_MANY_DRAFTS", f"{n.party.a.capitalize()} has at most 5 drafts."),
            ),
            (add(f"{who}.drafts", 1),),
        ),
        move(
            n.record,
            "submit",
            "draft -> in_review",
            f"Hand a draft {n.record} in for review.",
            (active(n.party), is_open),
            (add(f"{who}.drafts", -1),),
        ),
        move(
            n.record,
            "publish",
            "in_review -> published",
            f"Publish a reviewed {n.record}.",
            (is_open,),
            (add(f"{where}.published", 1), add(f"{who}.reputation", 5)),
        ),
        create(
            report_noun,
            "file",
            f"Report a published {n.record}.",
            (what, who, "reason"),
            {"status": "open", "reported_at": "$clock"},
            (
                active(n.party),
                rule(f"{what}.status", "==", "published", "NOT_PUBLISHED", f"Only a published {n.record} is reported."),
                rule(f"{what}.{who}", "!=", f"${who}", "OWN_WORK", "Nobody reports what they wrote."),
            ),
            (add(f"{what}.reports", 1),),
        ),
        move(
            n.record,
            "hide",
            "published -> hidden",
            f"Hide a published {n.record} that was reported.",
            (rule("reports", ">=", 1, "NOT_REPORTED", "There must be a report that is not dismissed."),),
            (add(f"{where}.published", -1),),
        ),
        change(
            n.record,
            "edit",
            "length",
            f"Set the length of {n.record.a} that is still a draft.",
            ("word_count",),
            (
                rule("status", "==", "draft", "NOT_DRAFT", "Only a draft is edited."),
                rule("word_count", ">=", 20, "TOO_SHORT", "It must have at least 20 words."),
                short,
            ),
        ),
        move(report_noun, "dismiss", "open -> dismissed", "Dismiss a report.", (), (add(f"{what}.reports", -1),)),
        move(n.record, "reject", "in_review -> rejected", f"Reject {n.record.a} in review."),
        move(n.unit, "archive", "open -> archived", f"Archive {n.unit.a}: nothing more is written for it."),
        *suspend(n.party, "from writing"),
    )
    name = {a.verb: a.name for a in actions}
    publish = (Step(name["submit"], (2, 60)), Step(name["publish"], (10, 90)))
    reports = Step(name["file"], (5, 100), link=what, repeat=(1, 2), then=((2, ()), (1, (Step(name["dismiss"]),))))
    flows = (
        Flow(
            create=name["draft"],
            count=110,
            paths=(
                (5, publish),
                (2, (*publish, reports)),
                (1, (*publish, reports, Step(name["hide"]))),
                (1, (Step(name["edit"]), *publish)),
                (1, (Step(name["submit"]), Step(name["reject"]))),
                (3, ()),
            ),
        ),
        Flow(table=unit.name, paths=((1, (Step(name["archive"], (800, 1070)),)), (9, ()))),
    )
    count = f"SELECT COUNT(*) FROM {record.name} r WHERE"
    invariants = (
        Invariant(
            "published ones are counted",
            f"SELECT * FROM {unit.name} u WHERE published != "
            f"({count} r.{where} = u.{where} AND r.status = 'published')",
        ),
        Invariant(
            "drafts are counted",
            f"SELECT * FROM {people.table.name} p WHERE drafts != ({count} r.{who} = p.{who} AND r.status = 'draft')",
        ),
        Invariant(
            "reports are counted",
            f"SELECT * FROM {record.name} r WHERE reports != (SELECT COUNT(*) FROM {report.name} x "
            f"WHERE x.{what} = r.{what} AND x.status = 'open')",
        ),
        Invariant(
            "nobody reports what they wrote",
            f"SELECT * FROM {report.name} x JOIN {record.name} r USING ({what}) WHERE x.{who} = r.{who}",
        ),
    )
    samples = {
        name["draft"]: {"title": labelled("On {label}, part {n}", where), "word_count": between(40, 900, 10)},
        name["edit"]: {"word_count": between(40, 900, 10)},
        name["file"]: {"reason": pick(REASONS)},
    }
    units = Seed(
        unit,
        26,
        {
            "title": labelled(f"{n.unit.one.capitalize()} {{n:02d}}, {{label}}", link_name(n.resource)),
            "word_limit": between(300, 1500, 50),
            "published": fixed(0),
            "status": fixed("open"),
        },
    )
    return Workflow(
        "publishing",
        f"{n.record.many} and moderation",
        people,
        (units, Seed(record), Seed(report)),
        actions,
        flows,
        samples,
        invariants,
        record.name,
        unit.name,
    )


PUBLISHING = Archetype(
    "publishing",
    "publish:3 article:3 translate:3 translation:3 localisation:3 edit:2 review:1.5 comment:3 post:2.5 "
    "community:3 content:2 moderation:3 document:1.5 author:2 news:3 contribute:3 meetup:1.5 member:1.5 "
    "opening:1.5 annotate:3 write:1.5 emoji:2 technique:1 topic:1.5",
    "language opening city topic emoji technique indicator country colour document",
    "client",
    (
        Wording("language translation localisation script", "translator", "glossary", "translation"),
        Wording("meetup community city", "member", "city forum", "forum post"),
        Wording("chess opening game club", "annotator", "study", "annotation"),
        Wording("indicator employment news trend country", "reporter", "news desk", "article"),
        Wording("technique attack threat tactic", "researcher", "advisory bulletin", "advisory"),
        Wording("emoji message", "member", "message board", "board post"),
        Wording("search reference document topic", "author", "handbook", "handbook article"),
        Wording("", "contributor", "{resource} column", "column article"),
    ),
    build,
    entity=False,
)
