"""Create one record for each row of a group that meets a condition."""

from __future__ import annotations

from typing import Any

from schemas.database import Column
from tasks.synthesis.atlas import Row, required
from tasks.synthesis.draft import Condition, Draft
from tasks.synthesis.families.kit import Kit, Program, dividing, few, shown
from tasks.synthesis.filters import argument_value, is_sayable, matching, row_columns, row_prefix
from tasks.synthesis.phrases import literal
from tasks.synthesis.rules import first_broken
from tasks.synthesis.writers import sample_value

MOST_CREATED = 5


def creation(kit: Kit) -> Program | None:
    """Return a program that creates a record for every row of a category beyond a limit, for one named party."""
    rng, atlas = kit.rng, kit.atlas
    options = []
    for action, tool in atlas.action_tools:
        if action.kind != "create":
            continue
        fields = {f.path: f for f in tool.inputs if f.path in required(tool)}
        columns = {path: atlas.column(field.entity) for path, field in fields.items()}
        if None in columns.values():
            continue
        references = [path for path, column in columns.items() if column is not None and column.references]
        for each in references:
            target = columns[each].references.partition(".")[0]  # type: ignore[union-attr]
            for finder in atlas.finders[target]:
                if not required(finder) and row_prefix(atlas, finder, 0) is not None:
                    options.append((action, tool, fields, columns, each, [r for r in references if r != each], finder))
    rng.shuffle(options)
    for action, tool, fields, columns, each, others, finder in options:
        table, target = atlas.tables[action.table], atlas.tables[finder.table]
        named = {path: kit.label_finder(columns[path].references.partition(".")[0]) for path in others}
        if None in named.values() or len(others) > 2:
            continue
        for _ in range(8):
            group = _group(kit, finder)
            if group is None:
                break
            conditions, chosen = group
            parties = {path: _named_row(kit, named[path][0].table) for path in others}
            plain: dict[str, Any] = {}
            for path, column in columns.items():
                if not column.references:
                    plain[path] = sample_value(Draft(atlas, rng), action.table, column)
            if None in parties.values() or None in plain.values() or not 1 <= len(chosen) <= MOST_CREATED:
                continue
            given = {columns[path].name: value for path, value in plain.items()}
            given |= {columns[p].name: row[atlas.tables[named[p][0].table].key] for p, row in parties.items()}
            rows = [{**action.initial, **given, columns[each].name: row[target.key]} for row in chosen]
            if any(first_broken(atlas, action, row) is not None for row in rows):
                continue
            body: list[str] = []
            arguments, details = [f"{each}=row[{target.key!r}]"], []
            for place, path in enumerate(others):
                found, field = named[path]
                other = atlas.tables[found.table]
                body.append(kit.find_labelled(found, field, parties[path], f"party{place}"))
                arguments.append(f"{path}=party{place}[{other.key!r}]")
                details.append(f"for {kit.label_phrase(other, parties[path])}")
            for path, value in plain.items():
                shown_value = argument_value(fields[path], value)
                arguments.append(f"{path}={shown_value!r}")
                name = columns[path].name.replace("_", " ")
                details.append(kit.speaker.say("create_value", column=name, value=literal(shown_value)))
            body += kit.list_rows(finder, conditions)
            body += ["for row in rows:", f"    call({tool.name!r}, {', '.join(arguments)})"]
            measures = kit.measures(finder, chosen)
            answer = ["'count': len(rows)"]
            fields_out = [kit.field("count", "integer", f"how many {table.nouns} you made")]
            predicted: dict[str, Any] = {"count": len(chosen)}
            if measures:
                words = measures[0].name.replace("_", " ")
                answer.append(f"'total': {kit.total_code(measures[0], 'rows')}")
                predicted["total"] = kit.total(measures[0], chosen)
                fields_out.append(kit.field("total", measures[0].type, f"the {words} of those {target.nouns} added up, "
                                            "as it was before"))  # fmt: skip
            sentence = kit.speaker.say(
                "program_creation", verb=action.verb, noun=table.noun, nouns=table.nouns, other=target.noun,
                others=target.nouns, details=" and ".join(details),
                conditions=kit.conditions_phrase(target.name, conditions),
            )  # fmt: skip
            return Program(
                body=(*body, f"return {{{', '.join(answer)}}}"),
                sentences=(sentence,),
                fields=tuple(fields_out),
                predicted=predicted,
                constructs=("loop", "aggregation"),
                tools=(finder.name, tool.name, *(named[path][0].name for path in others)),
            )
    return None


def _group(kit: Kit, finder: Any) -> tuple[list[Condition], list[Row]] | None:
    table = kit.atlas.tables[finder.table]
    columns: list[Column] = [
        table.column(field.entity.partition(".")[2])
        for field in finder.inputs
        if field.meaning == "equals" and field.entity.startswith(f"{table.name}.")
    ]
    columns = [c for c in columns if not c.references and c.role in ("category", "status", "attribute")]
    columns = [c for c in columns if c.name in row_columns(finder)]
    if not columns or not kit.atlas.rows[table.name]:
        return None
    column = kit.rng.choice(columns)
    value = kit.rng.choice(kit.atlas.rows[table.name]).get(column.name)
    if not isinstance(value, str) or not is_sayable(value):
        return [], []
    conditions = [Condition(column.name, "equals", value)]
    rows = matching(kit.atlas.rows[table.name], conditions)
    if not shown(rows):
        return [], []
    measures = kit.measures(finder, rows)
    part = dividing(kit.rng, measures[0].name, [row[measures[0].name] for row in rows]) if measures else None
    if part is not None:
        conditions.append(part)
    chosen = matching(rows, conditions)
    return conditions, chosen if few(chosen) else []


def _named_row(kit: Kit, table: str) -> Row | None:
    rows = [row for row in kit.atlas.rows[table] if kit.atlas.label_of(table, row) is not None]
    rows = [row for row in rows if is_sayable(row[kit.atlas.tables[table].label])]
    return kit.rng.choice(rows) if rows else None
