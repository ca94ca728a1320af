"""Plays the history of a world with its own actions, so that the generated state is one that they can lead to.

Rules that refuse, refuse here too: counters, balances and statuses agree by construction.
"""

from __future__ import annotations

import heapq
import operator
from datetime import datetime, timedelta
from random import Random

from schemas.actions import CLOCK
from schemas.base import Scalar
from schemas.database import Action, Effect, Rule, Table
from tasks.mining.findings import Row
from tasks.mining.generators import stamp
from tasks.mining.workflows.draft import Draft
from tasks.mining.workflows.plan import Flow, Moment, Paths, Step, Workflow

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, options: value in options,
}


class Simulator:
    """Performs actions on a draft's rows in memory."""

    def __init__(self, draft: Draft, rng: Random) -> None:
        self.draft = draft
        self.rng = rng
        self.performed: dict[str, int] = {}
        self.events: list[tuple[str, str, str, str]] = []
        """(time, action, table, key) of everything that was done, in order."""

    def perform(self, action: Action, row: Row, arguments: Row, now: datetime) -> str:
        """Perform an action on a row ({} for a create, whose new row is left in it); return '' or why it was refused.

        A refusal is a rule's code, WRONG_STATE, or OUT_OF_BOUNDS where a column's limits would be broken.
        """
        table = self.draft.tables[action.table]
        if action.kind == "transition" and row[action.status_column] not in action.from_states:
            return "WRONG_STATE"
        start = {name: (stamp(now) if value == CLOCK else value) for name, value in action.initial.items()}
        view = {column.name: None for column in table.columns} | row | start | arguments
        for rule in action.rules:
            if not self._holds(table, view, rule):
                return rule.code
        after = dict(view)
        if action.kind == "create":
            after[table.key] = self.draft.mint(table, self.rng)
        if action.kind == "transition":
            after[action.status_column] = action.to_state
        others: list[tuple[Table, Row, str, Scalar]] = []
        for effect in action.effects:
            self._apply(table, view, after, effect, others, now)
        written = [(table, column, value) for column, value in after.items()]
        written += [(other, column, value) for other, _, column, value in others]
        if any(_out_of_bounds(where, column, value) for where, column, value in written):
            return "OUT_OF_BOUNDS"
        for _, target, column, value in others:
            target[column] = value
        row.update(after)
        if action.kind == "create":
            self.draft.rows[table.name][row[table.key]] = row
        self.performed[action.name] = self.performed.get(action.name, 0) + 1
        self.events.append((stamp(now), action.name, table.name, str(row[table.key])))
        return ""

    def _value(self, table: Table, row: Row, path: str) -> Scalar:
        first, _, rest = path.partition(".")
        if not rest:
            return row[first]
        return None if row[first] is None else self.draft.target(table, row, first)[rest]

    def _holds(self, table: Table, row: Row, rule: Rule) -> bool:
        left, right = self._value(table, row, rule.path), rule.value
        if isinstance(right, str) and right.startswith("$"):
            right = self._value(table, row, right[1:])
        if rule.operator in ("==", "!=", "in"):
            return bool(_COMPARE[rule.operator](left, right))
        return left is not None and right is not None and bool(_COMPARE[rule.operator](left, right))

    def _apply(self, table: Table, view: Row, after: Row, effect: Effect, others: list, now: datetime) -> None:
        value = effect.value
        if value == CLOCK:
            value = stamp(now)
        elif isinstance(value, str) and "$" in value[:2]:
            sign = -1 if value[0] == "-" else 1
            parts = [self._value(table, view, part.lstrip("-")[1:]) for part in value.split("*")]
            value = parts[0] if len(parts) == 1 else parts[0] * parts[1]  # type: ignore[operator]
            value = -value if sign < 0 else value  # type: ignore[operator]
        first, _, rest = effect.path.partition(".")
        if not rest:
            after[first] = value if effect.operation == "set" else after[first] + value  # type: ignore[operator]
            return
        target_table = self.draft.tables[table.column(first).references.partition(".")[0]]
        target = self.draft.target(table, view, first)
        if effect.operation == "add":
            earlier = [v for _, row, column, v in others if row is target and column == rest]
            value = (earlier[-1] if earlier else target[rest]) + value  # type: ignore[operator]
        others.append((target_table, target, rest, value))


def play(draft: Draft, workflow: Workflow, rng: Random) -> Simulator:
    """Play a workflow's flows up to the draft's start and return the simulator with its counts of actions."""
    simulator = Simulator(draft, rng)
    actions = {action.name: action for action in workflow.actions}
    queue: list[tuple[datetime, int, str, Row, tuple[Step, ...]]] = []
    ticket = 0

    def schedule(table: Table, row: Row, steps: tuple[Step, ...], now: datetime) -> None:
        nonlocal ticket
        if not steps:
            return
        since = now
        if steps[0].anchor:
            since = max(now, datetime.fromisoformat(str(simulator._value(table, row, steps[0].anchor))))
        time = since + timedelta(hours=rng.uniform(*steps[0].hours))
        if time < draft.start:
            ticket += 1
            heapq.heappush(queue, (time, ticket, table.name, row, steps))

    def arguments(action: Action, row: Row, now: datetime, given: Row) -> Row:
        table = draft.tables[action.table]
        moment = Moment(draft, rng, table, {**row, **given}, simulator.performed.get(action.name, 0), now)
        columns = [table.column(name) for name in action.parameters if name not in given]
        filled = draft.fill(moment, columns, workflow.samples.get(action.name, {}))
        return {name: filled[name] for name in action.parameters}

    def draw(paths: Paths) -> tuple[Step, ...]:
        return rng.choices([steps for _, steps in paths], [weight for weight, _ in paths])[0]

    def attempt(action: Action, row: Row, now: datetime, given: Row) -> str:
        """Try an action with new arguments until it is not refused; return '' or the last refusal."""
        refusal = ""
        for _ in range(12 if action.parameters else 1):
            refusal = simulator.perform(action, row, arguments(action, row, now, given), now)
            if not refusal:
                break
        return refusal

    for flow in workflow.flows:
        for start, table, row in _arrivals(draft, flow, actions, rng):
            path = draw(flow.paths)
            if flow.create:
                ticket += 1
                heapq.heappush(queue, (start, ticket, table.name, row, (Step(flow.create), *path)))
            else:
                schedule(table, row, path, start)
    while queue:
        now, _, name, row, steps = heapq.heappop(queue)
        table, action = draft.tables[name], actions[steps[0].action]
        if steps[0].link:
            for _ in range(rng.randint(*steps[0].repeat)):
                child: Row = {}
                refusal = attempt(action, child, now, {steps[0].link: row[table.key]})
                if not refusal and steps[0].then:
                    schedule(draft.tables[action.table], child, draw(steps[0].then), now)
        elif attempt(action, row, now, {}):
            continue
        schedule(table, row, steps[1:], now)
    return simulator


def _arrivals(draft: Draft, flow: Flow, actions: dict[str, Action], rng: Random) -> list[tuple[datetime, Table, Row]]:
    since = draft.start - timedelta(days=flow.days)
    if not flow.create:
        return [(since, draft.tables[flow.table], row) for row in draft.rows[flow.table].values()]
    table = draft.tables[actions[flow.create].table]
    span = timedelta(days=flow.days).total_seconds()
    times = sorted(rng.random() for _ in range(flow.count))
    return [(since + timedelta(seconds=int(t * span)), table, {}) for t in times]


def _out_of_bounds(table: Table, column: str, value: Scalar) -> bool:
    bounds = table.column(column)
    if isinstance(value, str) or value is None:
        return False
    low, high = bounds.minimum, bounds.maximum
    return (low is not None and value < low) or (high is not None and value > high)
