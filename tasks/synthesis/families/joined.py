"""Add up a measure of the rows that a party's records point to (a join walked by hand)."""

from __future__ import annotations

from tasks.synthesis.atlas import required
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, Program, few, shown
from tasks.synthesis.filters import matching, row_columns


def joined(kit: Kit) -> Program | None:
    """Return a reading program: for each record of a party, get the row that it refers to and add up its measure."""
    rng, atlas = kit.rng, kit.atlas
    for link in rng.sample(kit.links, len(kit.links)):
        table = link.child
        hops = [
            (column, getter)
            for column in table.columns
            if column.references and column.name != link.column.name and column.name in row_columns(link.find_children)
            for getter in atlas.getters[column.references.partition(".")[0]]
            if len(required(getter)) == 1
        ]
        statuses = [c for c in table.columns if c.role in ("status", "category") and c.choices]
        statuses = [c for c in statuses if c.name in row_columns(link.find_children)]
        rng.shuffle(hops)
        for column, getter in hops:
            for owner in kit.owners(link)[:12]:
                conditions: list[Condition] = []
                children = kit.children(link, owner)
                if statuses and rng.random() < 0.6:
                    status = rng.choice(statuses)
                    conditions = [Condition(status.name, "equals", rng.choice(status.choices))]
                rows = matching(children, conditions)
                targets = [found[1] for row in rows if (found := atlas.target(table.name, column, row))]
                measures = kit.measures(getter, targets)
                if not 2 <= len(rows) == len(targets) or not few(rows) or not shown(children) or not measures:
                    continue
                measure, other = measures[0], atlas.tables[getter.table]
                ordered = sorted((target[measure.name] for target in targets), reverse=True)
                label = other.label if other.label in row_columns(getter) else ""
                unique = label and ordered[0] != ordered[1]
                body = [
                    kit.find_owner(link, owner),
                    *kit.list_children(link, conditions),
                    f"found = [call({getter.name!r}, {required(getter)[0]}=row[{column.name!r}]) for row in rows]",
                ]
                words = measure.name.replace("_", " ")
                fields = [kit.field("total", measure.type, f"that sum of the {words}")]
                predicted = {"total": kit.total(measure, targets)}
                answer = [f"'total': {kit.total_code(measure, 'found')}"]
                if unique:
                    best = max(targets, key=lambda target: target[measure.name])
                    body.append(f"best = max(found, key=lambda row: row[{measure.name!r}])")
                    answer.append(f"'largest': best[{label!r}]")
                    fields.append(
                        kit.field("largest", "string", f"the {label.replace('_', ' ')} of the {other.noun} with most")
                    )
                    predicted["largest"] = best[label]
                owned = kit.speaker.owned(table.name, link.column.name, kit.owner_phrase(link, owner))
                sentence = kit.speaker.say(
                    "program_joined", nouns=table.nouns, noun=table.noun, other=other.noun, others=other.nouns,
                    column=words, conditions=kit.conditions_phrase(table.name, conditions, owned),
                )  # fmt: skip
                return Program(
                    body=(*body, f"return {{{', '.join(answer)}}}"),
                    sentences=(sentence,),
                    fields=tuple(fields),
                    predicted=predicted,
                    constructs=("loop", "join", "aggregation"),
                    tools=(link.find_parent.name, link.find_children.name, getter.name),
                )
    return None
