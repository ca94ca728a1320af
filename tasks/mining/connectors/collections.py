"""Collections of mined rows that people keep and share with others."""

from __future__ import annotations

from tasks.mining.connectors.connector import Connector, Setting
from tasks.mining.generators import few, fixed, pick
from tasks.mining.workflows.acts import active, add, change, create, move, rule
from tasks.mining.workflows.columns import category, label, link_name, moment, reference, status, table, whole
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Flow, Invariant, Seed, Step, Workflow

RIGHTS = ("read", "comment", "edit")


def build(at: Setting) -> Workflow | None:
    """Return collections of people, their entries (rows of the resource), and the people they are shared with."""
    person, thing = at.cast.party, Noun(at.resource.noun)
    noun = at.fresh(f"{thing.one.split()[-1]} collection")
    entry_noun, share_noun = at.fresh("collection entry"), at.fresh("collection share")
    collection = table(
        noun,
        label("title", "its title"),
        reference(at.party, "whose it is"),
        whole("entries", 0, 10, "how many entries it has"),
        whole("shares", 0, None, "people it is shared with"),
        status("open", "archived"),
        moment("created_at", "when it was begun"),
        description=f"Collections of {thing.many} that {person.many} keep.",
    )
    entry = table(
        entry_noun,
        reference(collection),
        reference(at.resource, f"the {thing} in it"),
        whole("weight", 1, 10, "how much it matters to the owner"),
        status("kept", "removed"),
        description="What is in the collections.",
    )
    share = table(
        share_noun,
        reference(collection),
        reference(at.party, "who may see it"),
        category("right", RIGHTS, "what they may do"),
        status("granted", "revoked"),
        moment("granted_at", "when it was shared"),
        description="Who may see which collection.",
    )
    where, who = noun.key, person.key
    is_open = rule(f"{where}.status", "==", "open", "ARCHIVED", "The collection must not be archived.")
    actions = (
        create(
            entry_noun,
            "add",
            f"Put {thing.a} into an open collection.",
            (where, link_name(at.resource), "weight"),
            {"status": "kept"},
            (
                is_open,
                rule("weight", "<=", 10, "WEIGHT_TOO_HIGH", "A weight is at most 10."),
                rule(f"{where}.entries", "<", 10, "COLLECTION_FULL", "A collection has at most 10 entries."),
            ),
            (add(f"{where}.entries", 1),),
        ),
        move(
            entry_noun,
            "remove",
            "kept -> removed",
            "Take an entry out of an open collection.",
            (is_open,),
            (add(f"{where}.entries", -1),),
        ),
        create(
            share_noun,
            "grant",
            "Share an open collection with another person.",
            (where, who, "right"),
            {"status": "granted", "granted_at": "$clock"},
            (
                is_open,
                active(person),
                rule(f"{where}.{who}", "!=", f"${who}", "OWN_COLLECTION", "It is theirs already."),
            ),
            (add(f"{where}.shares", 1),),
        ),
        change(
            entry_noun,
            "weigh",
            "",
            "Set the weight of an entry of an open collection.",
            ("weight",),
            (
                rule("status", "==", "kept", "REMOVED", "A removed entry is not weighed."),
                is_open,
                rule("weight", "<=", 10, "WEIGHT_TOO_HIGH", "A weight is at most 10."),
            ),
        ),
        move(share_noun, "revoke", "granted -> revoked", "End a share.", (), (add(f"{where}.shares", -1),)),
        create(
            noun,
            "begin",
            f"Begin a collection for {person.a}.",
            ("title", who),
            {"status": "open", "entries": 0, "shares": 0, "created_at": "$clock"},
            (active(person),),
        ),
        move(
            noun,
            "archive",
            "open -> archived",
            "Archive a collection that is shared with nobody.",
            (rule("shares", "==", 0, "STILL_SHARED", "All shares must have ended."),),
        ),
    )
    name = {action.verb: action.name for action in actions}
    entries = Step(
        name["add"],
        (1, 60),
        link=where,
        repeat=(2, 4),
        then=((6, ()), (1, (Step(name["remove"]),)), (1, (Step(name["weigh"]),))),
    )
    shares = Step(name["grant"], (1, 60), link=where, repeat=(1, 2), then=((3, ()), (1, (Step(name["revoke"]),))))
    flows = (
        Flow(
            create=name["begin"],
            count=36,
            paths=((4, (entries, shares)), (2, (entries,)), (1, (entries, Step(name["archive"], (50, 300))))),
        ),
    )
    samples = {
        name["begin"]: {"title": lambda m: f"Collection {m.index + 1:02d}"},
        name["add"]: {"weight": few(1, 10)},
        name["weigh"]: {"weight": few(1, 10)},
        name["grant"]: {"right": pick(RIGHTS, (3, 2, 1))},
    }
    invariants = (
        Invariant(
            "entries are counted",
            f"SELECT * FROM {collection.name} c WHERE entries != "
            f"(SELECT COUNT(*) FROM {entry.name} e WHERE e.{where} = c.{where} AND e.status = 'kept')",
        ),
        Invariant(
            "shares are counted",
            f"SELECT * FROM {collection.name} c WHERE shares != "
            f"(SELECT COUNT(*) FROM {share.name} s WHERE s.{where} = c.{where} AND s.status = 'granted')",
        ),
    )
    seeds = (Seed(collection, 0, {"entries": fixed(0)}), Seed(entry), Seed(share))
    return Workflow(
        "collections", f"collections of {thing.many}", None, seeds, actions, flows, samples, invariants, collection.name
    )


COLLECTIONS = Connector("collections", frozenset({"list", "loop", "search", "join", "create"}), build)
