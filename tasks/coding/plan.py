"""Which tools an environment gets: every action, and the reading tools that serve its important tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

from schemas.database import Action, Column, Database, Table
from schemas.tool import Meaning, ToolKind
from tasks.coding.words import Voice, parameter_name, plain, snake, stem

MOST_TOOLS = 25
FEWEST_READERS = 16
"""Reading tools that an environment gets even where its actions alone nearly use up `MOST_TOOLS`."""

_MIX = (
    "search", "search", "get", "search", "search", "aggregate", "document", "search", "search", "list", "search",
    "document", "get", "search", "search", "aggregate",
)  # fmt: skip
"""The kinds of reading tools in the order in which they are chosen, over and over."""

MOST_FILTERS = 8
LARGEST_GROUPING = 40
"""A reference is offered for grouping if its table has at most so many rows."""

_NOT_ADDITIVE = (
    "price", "rate", "age", "latitude", "longitude", "lat", "lon", "lng", "percent", "share", "ratio", "score",
    "rating", "year", "temperature", "elevation", "altitude", "density", "point", "level", "rank", "number", "speed",
    "mass", "radius", "average", "mean", "index", "hour", "minute", "day", "month",
)  # fmt: skip


@dataclass(frozen=True)
class Filter:
    """One optional filter of a reading tool: `parameter` compared with `column`."""

    parameter: str
    column: Column
    meaning: Meaning


@dataclass(frozen=True)
class Plan:
    """What one tool shall do; the coder turns it into a schema and a source."""

    kind: ToolKind
    name: str
    table: Table | None = None
    filters: tuple[Filter, ...] = ()
    sorts: tuple[Column, ...] = ()
    parent: Column | None = None
    statistic: Meaning = ""
    measure: Column | None = None
    groups: tuple[Column, ...] = ()
    action: Action | None = None
    document_tool: str = ""


def plan_tools(database: Database, seed: int) -> list[Plan]:
    """Return the plans of an environment's tools: at most 25, or its actions and 16 more, with unique names.

    All actions come first; reading tools fill the rest by how much the tables matter (their actions, references to
    them, states and measures).
    """
    voice = Voice.of(database.env_id, seed)
    actions = [_action_plan(database, action) for action in database.actions]
    wanted = max(FEWEST_READERS, MOST_TOOLS - len(actions))
    candidates = _document_plans(database, voice)
    needed = set(_needed(database)) | {action.table for action in database.actions}
    for rank, table in enumerate(_by_importance(database)):
        candidates += _table_plans(database, table, rank, table.name in needed, voice)
    chosen = [*actions, *_mixed(candidates, wanted, {plan.name for plan in actions})]
    order = ("get", "search", "list", "aggregate", "document", "create", "update", "transition")
    return sorted(chosen, key=lambda plan: (order.index(plan.kind), plan.name))


def _mixed(candidates: list[tuple[float, Plan]], wanted: int, names: set[str]) -> list[Plan]:
    """Return the best candidates so that the kinds of tool keep to the proportions of `_MIX`, names unlike `names`."""
    queues: dict[str, list[Plan]] = {kind: [] for kind in _MIX}
    for _, plan in sorted(candidates, key=lambda scored: -scored[0]):
        queues[plan.kind].append(plan)
    chosen: list[Plan] = []
    names = set(names)
    for kind in cycle(_MIX):
        if len(chosen) >= wanted or not any(queues.values()):
            return chosen
        plan = queues[kind].pop(0) if queues[kind] else None
        if plan is not None and plan.name not in names:
            chosen.append(plan)
            names.add(plan.name)
    return chosen


def _action_plan(database: Database, action: Action) -> Plan:
    table = next((table for table in database.tables if table.name == action.table), None)
    return Plan(kind=action.kind, name=action.name, table=table, action=action)


def _document_plans(database: Database, voice: Voice) -> list[tuple[float, Plan]]:
    if not database.documents:
        return []
    scores = (82, 83, 70)
    roles = ("list", "read", "search")
    return [
        (score, Plan(kind="document", name=name, document_tool=role))
        for score, name, role in zip(scores, voice.documents, roles, strict=True)
    ]


def _needed(database: Database) -> list[str]:
    """Return the tables whose keys callers of actions must know, once for each such parameter."""
    tables = {table.name: {column.name: column for column in table.columns} for table in database.tables}
    columns = (tables.get(a.table, {}).get(name) for a in database.actions for name in a.parameters)
    return [column.references.split(".")[0] for column in columns if column is not None and column.references]


def _by_importance(database: Database) -> list[Table]:
    """Return the tables, the most important first; logs come last.

    What counts: actions on it, actions that need one of its keys, references to it, real data, and what to ask for.
    """
    needed = _needed(database)

    def importance(table: Table) -> float:
        actions = sum(action.table == table.name for action in database.actions)
        touched = sum(
            table.name == reference.references.split(".")[0]
            for owner in database.tables
            for reference in owner.columns
            if reference.references
        )
        rich = sum(column.role in ("measure", "category", "status", "date") for column in table.columns)
        asked = 2 * needed.count(table.name) + 2 * (table.origin == "mined")
        return 3 * min(actions, 4) + 2 * touched + asked + min(rich, 5) + bool(table.label) - 100 * table.log

    return sorted(database.tables, key=lambda table: (-importance(table), table.name))


def _table_plans(database: Database, table: Table, rank: int, needed: bool, voice: Voice
                 ) -> list[tuple[float, Plan]]:  # fmt: skip
    words = {"noun": snake(table.noun), "nouns": snake(table.nouns)}
    filters = _filters(table, voice)
    sorts = tuple(c for c in table.columns if c.role in ("key", "label", "measure", "date") and c.type != "boolean")
    groups = _groups(database, table)
    narrow = _whole_ranges([f for f in filters if f.meaning == "equals" or f.column.role == "date"], 5)
    plans: list[tuple[float, Plan]] = []
    if not table.log:
        plans.append((96 - 8 * rank, Plan(kind="get", name=voice.get.format(**words), table=table)))
    if len(table.columns) > 1:
        search = Plan(kind="search", name=voice.search.format(**words), table=table, filters=filters, sorts=sorts)
        plans.append((100 - (1 if needed else 4) * rank, search))
    for place, column in enumerate(c for c in table.columns if c.references):
        plan = Plan(
            kind="list", name=_children_name(database, table, column, voice), table=table, parent=column,
            filters=_whole_ranges([f for f in narrow if f.column != column], 2), sorts=sorts,
        )  # fmt: skip
        plans.append((84 - 6 * rank - 7 * place, plan))
    count_filters = _whole_ranges([f for f in filters if f.meaning != "contains"], 6)
    count = Plan(
        kind="aggregate", name=voice.count.format(**words), table=table, statistic="count", filters=count_filters,
        groups=groups,
    )  # fmt: skip
    plans.append((85 - 9 * rank, count))
    for place, (measure, statistic) in enumerate(_statistics(table)):
        name = voice.statistic.format(statistic=voice.statistics[statistic], measure=snake(measure.name), **words)
        plan = Plan(
            kind="aggregate", name=name, table=table, statistic=statistic, measure=measure, filters=narrow,
            groups=groups,
        )  # fmt: skip
        plans.append((88 - 9 * rank - 14 * place, plan))
    return plans


def _children_name(database: Database, table: Table, column: Column, voice: Voice) -> str:
    """Name a list by its parent's noun, or by the column where two references lead to one table."""
    target = column.references.split(".")[0]
    siblings = [c for c in table.columns if c.references.split(".")[0] == target]
    ambiguous = len(siblings) > 1 or target == table.name
    parent = stem(column) if ambiguous else snake(database.table(target).noun)
    return voice.children.format(nouns=snake(table.nouns), parent=parent)


def _filters(table: Table, voice: Voice) -> tuple[Filter, ...]:
    """Return the filters that a person would ask for: text, states, categories, references, ranges."""
    found: list[Filter] = []
    taken: set[str] = set()

    def add(pattern: str, column: Column, meaning: Meaning) -> None:
        if len(found) < MOST_FILTERS:
            name = parameter_name(pattern, taken)
            taken.add(name)
            found.append(Filter(parameter=name, column=column, meaning=meaning))

    for column in _texts(table)[:1]:
        add(voice.text.format(label=snake(column.name)), column, "contains")
    by_role = {role: [c for c in table.columns if c.role == role] for role in {c.role for c in table.columns}}
    equal = by_role.get("status", [])[:1] + by_role.get("category", [])[:2] + by_role.get("reference", [])[:2]
    for column in [*equal, *by_role.get("flag", [])[:1]]:
        add(column.name, column, "equals")
    for column in [c for c in by_role.get("measure", []) if c.type in ("integer", "number")][:1]:
        for pattern, meaning in zip(voice.range, ("at_least", "at_most"), strict=True):
            add(pattern.format(snake(column.name)), column, meaning)
    for column in [c for c in by_role.get("date", []) if c.type in ("date", "datetime")][:1]:
        for pattern, meaning in zip(voice.dates, ("at_least", "at_most"), strict=True):
            add(pattern.format(snake(column.name)), column, meaning)
    return _whole_ranges(found, MOST_FILTERS)


def _texts(table: Table) -> list[Column]:
    """Return the columns that a person would search for words: the label, else texts, else names and other strings."""
    strings = [c for c in table.columns if c.type == "string" and c.role in ("label", "text", "attribute")]

    def preference(column: Column) -> tuple[bool, bool, bool]:
        named = any(word in column.name for word in ("name", "title"))
        return column.name != table.label, column.role != "text", not named

    return sorted(strings, key=preference)


def _whole_ranges(filters: list[Filter], most: int) -> tuple[Filter, ...]:
    """Return the first filters, without a lower bound whose upper bound would be cut off."""
    kept = filters[:most]
    return tuple(kept[:-1] if kept and kept[-1].meaning == "at_least" else kept)


def _groups(database: Database, table: Table) -> tuple[Column, ...]:
    """Return the columns worth grouping by: closed sets and references to small tables."""
    found = []
    for column in table.columns:
        closed = column.role in ("category", "status") and (column.choices or column.role == "status")
        small = bool(column.references) and 0 < database.table(column.references.split(".")[0]).rows <= LARGEST_GROUPING
        if closed or small or (column.role == "flag" and column.type == "boolean"):
            found.append(column)
    return tuple(found[:4])


def _statistics(table: Table) -> list[tuple[Column, Meaning]]:
    """Return up to three (measure, statistic) pairs; sums only of what may sensibly be added up."""
    measures = [c for c in table.columns if c.role == "measure" and c.type in ("integer", "number")]
    pairs: list[tuple[Column, Meaning]] = []
    for place, measure in enumerate(measures[:2]):
        words = plain(snake(measure.name)).split()
        additive = not any(word in _NOT_ADDITIVE for word in words)
        pairs.append((measure, "sum" if additive else "average"))
        if place == 0:
            pairs.append((measure, "average" if additive else "maximum"))
        else:
            pairs[-1] = (measure, "maximum") if not additive else pairs[-1]
    return pairs[:3]
