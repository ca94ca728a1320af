"""Puts the chosen processes on the mined tables: names, shared people, links between all tables, and a history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from schemas.base import content_hash
from schemas.database import Table
from schemas.theme import Theme
from tasks.mining.workflows.choose import Match
from tasks.mining.workflows.columns import link_name, moment, reference, table, words
from tasks.mining.workflows.draft import Draft, linked
from tasks.mining.workflows.nouns import Noun, stems
from tasks.mining.workflows.plan import Names, Seed, Workflow
from tasks.mining.workflows.simulate import Simulator, play

MAIN_ACTIONS, SECOND_ACTIONS = 6, 4
"""How many of a process's actions the world offers, the most telling first; the history uses all of them."""

LOG_ENTRIES = 60
_MONEY = ("EUR", "USD", "GBP", "CHF")
_PLACES = set(stems("country city airport zone language currency continent state county region island"))


@dataclass(frozen=True)
class Cast:
    """Who plays which part in a process: names of the tables of people, records and units, and the mined resource."""

    workflow: str
    party: Noun
    record: str
    unit: str
    resource: str
    money: str


def compose(draft: Draft, theme: Theme, matches: Sequence[Match], seed: int) -> list[Cast]:
    """Add the chosen processes to a draft that holds the mined tables; the first one is the main one."""
    money = _MONEY[int(content_hash(theme.theme_id)[:8], 16) % len(_MONEY)]
    workflows: list[Workflow] = []
    casts: list[Cast] = []
    parties: dict[str, Noun] = {}
    for match in matches:
        names = _names(draft, match, parties, money, workflows)
        workflow = match.archetype.build(names)
        parties.setdefault(match.archetype.side, names.party)
        workflows.append(workflow)
        casts.append(Cast(workflow.name, names.party, workflow.record, workflow.unit, match.resource.name, money))
    for made_by, one in _in_order(_link_islands(draft, _seeds(workflows))):
        draft.plant(one, Random(f"{seed}:{one.table.name}"), f"generated:{made_by} seed {seed}")
    events: list[tuple[str, str, str, str]] = []
    for place, workflow in enumerate(workflows):
        events += run(draft, workflow, seed, MAIN_ACTIONS if place == 0 else SECOND_ACTIONS).events
    if int(content_hash([theme.theme_id, "log"])[:8], 16) % 2 == 0:
        _write_log(draft, sorted(events)[-LOG_ENTRIES:], seed)
    return casts


def run(draft: Draft, workflow: Workflow, seed: int, offered: int) -> Simulator:
    """Play a planted workflow's history and offer its first actions."""
    simulator = play(draft, workflow, Random(f"{seed}:{workflow.name}:history"))
    draft.actions += workflow.actions[:offered]
    draft.invariants += workflow.invariants
    draft.headings.update({action.name: workflow.heading for action in workflow.actions})
    return simulator


def fresh(draft: Draft, noun: Noun, others: Iterable[str] = (), word: str = "local") -> Noun:
    """Return the noun, with another word before it if a table of that name is there."""
    taken = {*draft.tables, *others}
    return noun if noun.table not in taken else fresh(draft, Noun(f"{word} {noun}"), taken)


def _names(draft: Draft, match: Match, parties: dict[str, Noun], money: str, earlier: list[Workflow]) -> Names:
    taken = [seed.table.name for workflow in earlier for seed in (*workflow.seeds, workflow.party) if seed]
    thing = match.resource.noun

    def noun(pattern: str, word: str = "local") -> Noun:
        return fresh(draft, Noun(pattern.replace("{resource}", thing) or "unit"), taken, word)

    wording = match.wording
    party = parties.get(match.archetype.side) or noun(wording.party, "registered")
    return Names(match.resource, party, noun(wording.unit), noun(wording.record), money)


def _seeds(workflows: Sequence[Workflow]) -> list[tuple[str, Seed]]:
    """Return all seeds with the workflow that makes them; seeds of the same table of people become one."""
    merged: dict[str, tuple[str, Seed]] = {}
    for workflow in workflows:
        for seed in (workflow.party, *workflow.seeds):
            if seed is None:
                continue
            if seed.table.name not in merged:
                merged[seed.table.name] = (workflow.name, seed)
                continue
            maker, first = merged[seed.table.name]
            have = {column.name for column in first.table.columns}
            both = linked(first, *(column for column in seed.table.columns if column.name not in have))
            merged[seed.table.name] = (maker, replace(both, values={**seed.values, **first.values}))
    return list(merged.values())


def _link_islands(draft: Draft, seeds: list[tuple[str, Seed]]) -> list[tuple[str, Seed]]:
    """Let a generated table refer to each group of mined tables that nothing connects with the workflows.

    Places go to people (where they are at home); other things to what records are about.
    """
    by_name = {seed.table.name: (maker, seed) for maker, seed in seeds}
    standing = [seed.table.name for _, seed in seeds if seed.count >= 10]
    people = next(seed.table.name for _, seed in seeds if any(c.name == "joined_on" for c in seed.table.columns))
    units = [name for name in standing if name != people] or [people]
    while True:
        tables = [*draft.tables.values(), *(seed.table for _, seed in by_name.values())]
        reached = _reachable(tables, people)
        island = [table for table in draft.tables.values() if table.name not in reached]
        if not island:
            return list(by_name.values())
        target = max(island, key=lambda t: (bool(t.label), t.name))
        place = bool(_PLACES & set(stems(target.noun)))
        near = [name for name in units if name in reached] or [people]
        owner = people if place else near[len(reached) % len(near)]
        maker, seed = by_name[owner]
        what = f"the {target.noun} where they are at home" if place else f"the {target.noun} that it goes with"
        if any(column.name == link_name(target) for column in seed.table.columns):
            column = reference(target, what, name=f"home_{link_name(target)}")
        else:
            column = reference(target, what)
        by_name[owner] = (maker, linked(seed, column))


def _reachable(tables: Sequence[Table], start: str) -> set[str]:
    """Return the names of the tables that references connect with `start`, in either direction."""
    edges: dict[str, set[str]] = {table.name: set() for table in tables}
    for one in tables:
        for column in one.columns:
            other = column.references.partition(".")[0]
            if other in edges:
                edges[one.name].add(other)
                edges[other].add(one.name)
    seen, queue = {start}, [start]
    while queue:
        for other in sorted(edges[queue.pop()] - seen):
            seen.add(other)
            queue.append(other)
    return seen


def _in_order(seeds: list[tuple[str, Seed]]) -> list[tuple[str, Seed]]:
    """Return the seeds with parents before the tables that refer to them."""
    left, done, ordered = list(seeds), set[str](), list[tuple[str, Seed]]()
    names = {seed.table.name for _, seed in seeds}
    while left:
        for entry in left:
            needs = {column.references.partition(".")[0] for column in entry[1].table.columns} & names
            if needs <= done | {entry[1].table.name}:
                break
        else:
            raise ValueError(f"tables refer to one another in a circle: {[seed.table.name for _, seed in left]}")
        left.remove(entry)
        done.add(entry[1].table.name)
        ordered.append(entry)
    return ordered


def _write_log(draft: Draft, events: list[tuple[str, str, str, str]], seed: int) -> None:
    """Add a log table with the last things that happened; it is no part of the state difference."""
    noun = fresh(draft, Noun("activity entry"))
    log = table(
        noun,
        moment("happened_at", "when it was done"),
        words("action", "what was done"),
        words("table_name", "to a row of which table"),
        words("row_key", "the row's key"),
        description="What was done lately, oldest first; a log that tasks never judge.",
        log=True,
    )
    values = [dict(zip(("happened_at", "action", "table_name", "row_key"), event, strict=True)) for event in events]
    samplers = {name: (lambda m, name=name: values[m.index][name]) for name in values[0]} if values else {}
    draft.plant(Seed(log, len(values), samplers), Random(f"{seed}:log"), f"generated:activity-log seed {seed}")
