"""Choose what the answer of a chain asks for."""

from __future__ import annotations

from schemas.database import Column
from tasks.synthesis.draft import Ask, Draft, Expected, Pick, references

_WEIGHTS = {
    "label": 4.0, "measure": 4.0, "category": 2.0, "status": 1.0, "date": 2.0, "attribute": 3.0, "reference": 0.5,
    "key": 1.0, "text": 1.0,
}  # fmt: skip
LONGEST_TEXT = 60


def add_asks(draft: Draft, most: int) -> None:
    """Add answer fields to a draft: one for each read that nothing else uses, and at least one in all.

    Statistics have their field already. Reads beyond `most` fields are left unasked (and are dropped later).
    """
    del draft.asks[most:]
    used = {int(text.partition(".")[0]) for call in draft.calls for text in references(call.arguments)}
    writes = {s.step for s in draft.sentences if s.kind in ("transition", "update", "create")}
    for number, pick in enumerate(draft.picks):
        if len(draft.asks) < most and pick.step not in used | writes:
            _ask(draft, number)
    others = list(range(len(draft.picks)))
    draft.rng.shuffle(others)
    others.sort(key=lambda number: draft.picks[number].step not in writes)
    wanted = 1 if draft.rng.random() < 0.6 else 2
    for number in others:
        if len(draft.asks) < min(wanted, most):
            _ask(draft, number)


def _ask(draft: Draft, number: int) -> None:
    pick = draft.picks[number]
    table = draft.atlas.tables[pick.table]
    asked = {(draft.origin(ask.pick), ask.column) for ask in draft.asks if ask.pick is not None}
    columns = [
        column
        for column in table.columns
        if column.name in pick.columns
        and column.name not in pick.stated
        and (not pick.only or column.name in pick.only)
        and (draft.origin(number), column.name) not in asked
        and _is_answerable(pick, column)
    ]
    if not columns:
        return
    column = draft.rng.choices(columns, weights=[_WEIGHTS[column.role] for column in columns])[0]
    path = f"{pick.prefix}.{column.name}" if pick.prefix else column.name
    key = (pick.table, pick.row.get(table.key))
    fresh = not pick.certain and column.name in draft.affected.get(key, ())
    noun = table.noun.replace(" ", "_").lower()
    name = column.name if column.name.startswith(noun) else f"{noun}_{column.name}"
    draft.asks.append(Ask(name, path, pick.step, number, column.name, fresh=fresh))
    if pick.certain:
        draft.expected.append(Expected(pick.step, path, pick.row.get(column.name)))


def _is_answerable(pick: Pick, column: Column) -> bool:
    if column.role in ("flag",) or column.type == "boolean" or (pick.mention.how == "created" and column.role == "key"):
        return False
    value = pick.row.get(column.name)
    if pick.mention.how == "created":
        return column.type in ("integer", "number")
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST_TEXT and "\n" not in value and '"' not in value
    return value is not None
