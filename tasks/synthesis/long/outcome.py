"""What a playbook comes to, told from the snapshot's rows and the schema's rules: no script and no tool is run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.synthesis.atlas import Atlas, Row
from tasks.synthesis.long.playbook import Move, Playbook, Test
from tasks.synthesis.long.reading import meets
from tasks.synthesis.shadow import Shadow, Unclear


@dataclass
class Outcome:
    """The records that a playbook means, those done in each case, those refused, the refusals' codes, the state."""

    rows: list[Row]
    done: list[list[Row]]
    refused: list[Row]
    shadow: Shadow
    codes: list[str] = field(default_factory=list)
    calls: int = 0

    def answer(self, playbook: Playbook) -> dict[str, Any]:
        """Return the report."""
        found: dict[str, Any] = {}
        for stat in playbook.stats:
            rows = self.refused if stat.which == "refused" else self.rows
            if stat.which == "done":
                rows = [row for case in stat.cases for row in self.done[case]]
            if stat.kind == "flag":
                found[stat.name] = not self.codes
            elif stat.kind == "code":
                found[stat.name] = self.codes[0] if self.codes else ""
            elif stat.kind == "count":
                found[stat.name] = len(rows)
            else:
                total = sum(row[stat.measure] for row in rows)
                found[stat.name] = round(total, 2) if isinstance(total, float) else total
        return found

    def state(self) -> dict[tuple[str, Any], Row]:
        """Return the rows that end other than they began, new ones aside."""
        return {
            place: row
            for place, row in self.shadow.changed.items()
            if place not in self.shadow.made and row != self.shadow.atlas.by_key[place[0]].get(place[1])
        }


def selected(atlas: Atlas, playbook: Playbook) -> list[Row]:
    """Return the records that a playbook means, by key."""
    rows = atlas.rows[playbook.table.name]
    if playbook.owners:
        keys = {owner.key for owner in playbook.owners}
        rows = [row for row in rows if row.get(playbook.owned_by) in keys]
    shadow = Shadow(atlas)
    return [row for row in rows if all_hold(shadow, playbook.table.name, row, playbook.tests)]


def all_hold(shadow: Shadow, table: str, row: Row, tests: Sequence[Test]) -> bool:
    """Say whether a record meets tests."""
    return all(
        meets(
            test.operator,
            shadow.cell(table, row, test.path),
            shadow.cell(table, row, test.against) if test.against else test.value,
        )
        for test in tests
    )


def ordered(playbook: Playbook, rows: Sequence[Row]) -> list[Row]:
    """Return records in the order in which they are taken."""
    if playbook.order is None:
        return list(rows)
    column, descending = playbook.order
    return sorted(rows, key=lambda row: row[column], reverse=descending)


def play(atlas: Atlas, playbook: Playbook, rows: Sequence[Row]) -> Outcome:
    """Return the outcome for records taken one after the other.

    Raises:
        Unclear: if a move is refused where the playbook has no place for it, or what it does cannot be told.
    """
    before, shadow, table = Shadow(atlas), Shadow(atlas), playbook.table
    n = len(playbook.cases)
    found = Outcome(list(rows), [[] for _ in range(n)], [], shadow)
    sums: dict[Any, Any] = {}
    if playbook.careful and _blocked(atlas, playbook, rows, found):
        return found
    for row in rows:
        group = before.cell(table.name, row, playbook.cap.per) if playbook.cap is not None and playbook.cap.per else ""
        number = _case(before, playbook, row, sums.get(group, 0))
        case = playbook.cases[number]
        codes = _carry_out(shadow, table.name, case.moves, row, found)
        if codes and case.instead is None:
            raise Unclear(f"refused with {codes}")
        if codes:
            found.refused.append(row)
            found.codes.append(codes)
            if _carry_out(shadow, table.name, case.instead or (), row, found):
                raise Unclear("what is done instead is refused as well")
            continue
        found.done[number].append(row)
        if playbook.cap is not None and number == playbook.cap.case:
            sums[group] = sums.get(group, 0) + row[playbook.cap.measure]
    return found


def _blocked(atlas: Atlas, playbook: Playbook, rows: Sequence[Row], found: Outcome) -> bool:
    """Say whether a careful playbook is to be declined: a record that the first case's move would be refused for."""
    move = playbook.cases[0].moves[0]
    for row in rows:
        code = Shadow(atlas).perform(move.action, row[playbook.table.key], given(atlas, playbook.table.name, move, row))
        if code:
            found.refused.append(row)
            found.codes.append(code)
    found.calls = 1 if found.codes else 0
    if len(set(found.codes)) > 1:
        raise Unclear("the refusals have several codes")
    return bool(found.codes)


def _case(before: Shadow, playbook: Playbook, row: Row, spent: Any) -> int:
    for number, case in enumerate(playbook.cases):
        cap = playbook.cap if playbook.cap is not None and playbook.cap.case == number else None
        if all_hold(before, playbook.table.name, row, case.tests) and (
            cap is None or spent + row[cap.measure] <= cap.limit
        ):
            return number
    raise Unclear("a record falls under no case")


def given(atlas: Atlas, table: str, move: Move, row: Row) -> dict[str, Any]:
    """Return the values that a move passes for a record of a table, by column."""
    before = Shadow(atlas)
    found = {}
    for item in move.given:
        if item.path:
            found[item.column.name] = before.cell(table, row, item.path)
        else:
            found[item.column.name] = getattr(item.value, "key", item.value)
    return found


def _carry_out(shadow: Shadow, table: str, moves: Sequence[Move], row: Row, found: Outcome) -> str:
    """Carry out moves for a record; return the code of the first one's refusal.

    Raises:
        Unclear: if a later one is refused.
    """
    for number, move in enumerate(moves):
        key = row[shadow.atlas.tables[table].key] if move.key else None
        code = shadow.perform(move.action, key, given(shadow.atlas, table, move, row))
        found.calls += 1
        if code and number:
            raise Unclear(f"step {number + 1} is refused with {code}")
        if code:
            return code
    return ""


def settle(atlas: Atlas, playbook: Playbook, rng: random.Random) -> Outcome:
    """Return the outcome of a playbook.

    Raises:
        Unclear: if it has none, or it depends on an order that the playbook does not state.
    """
    rows = selected(atlas, playbook)
    if playbook.order is not None and len({row[playbook.order[0]] for row in rows}) != len(rows):
        raise Unclear("the order has ties")
    rows = ordered(playbook, rows)
    outcome = play(atlas, playbook, rows)
    if playbook.order is None:
        for _ in range(2):
            other = play(atlas, playbook, rng.sample(rows, len(rows)))
            if other.answer(playbook) != outcome.answer(playbook) or other.state() != outcome.state():
                raise Unclear("the outcome depends on the order")
    return outcome
