"""Bring every record to a later state, whatever step it stands at: each missing step is a call of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schemas.database import Table
from tasks.synthesis.families.kit import Change
from tasks.synthesis.long.desk import Desk, Scope, status_in
from tasks.synthesis.long.playbook import Case, Move, Playbook, Stat


def pipeline(desk: Desk) -> Iterator[Playbook]:
    """Yield playbooks that carry records through two or more transitions to the state at their end."""
    for table in desk.tables():
        column = desk.states(table)
        present = sorted({row[column] for row in desk.atlas.rows[table.name] if row.get(column)})
        for start in desk.rng.sample(present, len(present)):
            chain = _chain(desk, table, start)
            if len(chain) < 2:
                continue
            ends = desk.rng.choice(range(2, len(chain) + 1))
            chain = chain[:ends]
            states = [start, *(change.action.to_state for change in chain[:-1])]
            states = [state for state in states if state in present]
            for scope in desk.scopes(table, (status_in(column, states),), len(chain) * 0.7):
                playbook = _playbook(desk, scope, chain, states)
                yield playbook
                yield _lenient(playbook)


def _chain(desk: Desk, table: Table, start: str) -> list[Change]:
    """Return transitions that lead on from a state, never to a state twice, and none of which can be left out."""
    chain: list[Change] = []
    state, seen = start, {start}
    while len(chain) < 4:
        options = [c for c in desk.transitions_from(table.name, state) if c.action.to_state not in seen]
        options = [c for c in options if not (seen - {state}) & set(c.action.from_states)]
        if not options:
            break
        onward = [c for c in options if desk.transitions_from(table.name, c.action.to_state)]
        change = desk.rng.choice(onward or options)
        chain.append(change)
        state = change.action.to_state
        seen.add(state)
    return chain


def _playbook(desk: Desk, scope: Scope, chain: list[Change], states: list[str]) -> Playbook:
    column = chain[0].action.status_column
    moves = [Move(change.action, change.tool, change.key) for change in chain]
    cases = []
    for state in states:
        first = next(place for place, change in enumerate(chain) if state in change.action.from_states)
        cases.append(Case((status_in(column, [state]),), tuple(moves[first:])))
    measure = desk.measure(scope.table, scope.rows)
    stats = [Stat("count", f"from_{state.replace(' ', '_').lower()}", "done", (n,)) for n, state in enumerate(states)]
    if measure is not None:
        stats.append(Stat("total", f"total_{measure.name}", measure=measure.name))
    return Playbook(
        "pipeline", scope.table, scope.tests, tuple(cases), scope.owners, scope.owned_by, stats=tuple(stats)
    )


def _lenient(playbook: Playbook) -> Playbook:
    """Return the playbook that leaves a record where it stands if its first step is refused."""
    cases = tuple(replace(case, instead=()) for case in playbook.cases)
    return replace(playbook, cases=cases, stats=(*playbook.stats, Stat("count", "stuck", "refused")))
