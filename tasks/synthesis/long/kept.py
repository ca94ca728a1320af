"""Turn stated values of a playbook into things that the user tells when asked: tasks with several turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schemas.task import Fact, SimulatedUser
from tasks.synthesis.atlas import words
from tasks.synthesis.draft import Draft
from tasks.synthesis.filters import is_sayable
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.long.playbook import Case, Given, Move, Named, Playbook, Test
from tasks.synthesis.long.script import topics
from tasks.synthesis.phrases import literal
from tasks.synthesis.prompt import relation
from tasks.synthesis.writers import sample_value

GUESSES = 3
"""Other users that are tried, who tell something else: a task must not be solved by a guess."""


@dataclass(frozen=True)
class Kept:
    """A playbook with topics to ask for, who knows them, and users who would tell other values."""

    playbook: Playbook
    user: SimulatedUser
    guesses: tuple[SimulatedUser, ...]


@dataclass(frozen=True)
class _Slot:
    """One value that may be kept back: its topic, other values that could stand there, how to put the topic in."""

    topic: str
    value: Any
    others: tuple[Any, ...]
    put: Callable[[Playbook, str], Playbook]


def keep_back(desk: Desk, playbook: Playbook, count: int) -> Kept | None:
    """Return a playbook that keeps back one to three values, None if it states none that others could replace.

    `count` is how many records it means: a user may want to hear it before telling a limit.
    """
    slots = [slot for slot in _slots(desk, playbook) if len(slot.others) >= 2]
    chosen: list[_Slot] = []
    for slot in desk.rng.sample(slots, len(slots)):
        taken = [set(other.topic.split()) for other in chosen]
        if not any(t <= set(slot.topic.split()) or set(slot.topic.split()) <= t for t in taken):
            chosen.append(slot)
    chosen = chosen[: desk.rng.choice((1, 1, 2, 2, 3))]
    if not chosen:
        return None
    for slot in chosen:
        playbook = slot.put(playbook, slot.topic)
    if playbook.cap is not None and playbook.cap.topic and desk.rng.random() < 0.6:
        playbook = replace(playbook, counted=playbook.cap.topic)
    by_topic = {slot.topic: slot for slot in chosen}
    order = list(topics(playbook))
    chained = len(order) > 1 and desk.rng.random() < 0.5
    facts = []
    for place, topic in enumerate(order):
        after = (order[place - 1],) if chained and place and topic != playbook.counted else ()
        facts.append(_fact(desk, playbook, topic, by_topic[topic].value, after, count))
    user = SimulatedUser(facts=tuple(facts), unknown=desk.kit.speaker.say("user_unknown"))
    guesses = []
    for number in range(GUESSES):
        told = [
            fact.model_copy(update={"says": _says(desk, fact.topic, slot.others[number % len(slot.others)])})
            for fact in facts
            for slot in (by_topic[fact.topic],)
        ]
        guesses.append(user.model_copy(update={"facts": tuple(told)}))
    return Kept(playbook, user, tuple(guesses))


def _fact(desk: Desk, playbook: Playbook, topic: str, value: Any, after: tuple[str, ...], count: int) -> Fact:
    say = desk.kit.speaker.say
    holds = say("user_after", topic=f'"{after[0]}"') if after else ""
    mentions: tuple[str, ...] = ()
    if topic == playbook.counted:
        mentions = (str(count),)
        holds = say("user_counted", nouns=playbook.table.nouns)
    return Fact(topic=topic, says=_says(desk, topic, value), holds=holds, after=after, mentions=mentions)


def _says(desk: Desk, topic: str, value: Any) -> str:
    return desk.kit.speaker.say("user_says", topic=topic, value=literal(value))


def _slots(desk: Desk, playbook: Playbook) -> list[_Slot]:
    found: list[_Slot] = []
    for place, test in enumerate(playbook.tests):
        found += _test_slot(desk, playbook, test, lambda p, t, n=place: replace(p, tests=_put(p.tests, n, t)))
    for number, case in enumerate(playbook.cases if not playbook.careful else ()):
        for place, test in enumerate(case.tests):
            found += _test_slot(
                desk, playbook, test, lambda p, t, c=number, n=place: _with_case(
                    p, c, replace(p.cases[c], tests=_put(p.cases[c].tests, n, t))
                )
            )  # fmt: skip
        if playbook.family not in ("pipeline", "all_or_none"):
            found += _given_slots(desk, number, case)
    if playbook.cap is not None:
        limit = playbook.cap.limit
        others = tuple(value for share in (0.5, 1.4, 0.7) if (value := round(limit * share)) != limit)
        put = lambda p, t: replace(p, cap=replace(p.cap, topic=t))  # noqa: E731
        found.append(_Slot(f"{words(playbook.cap.measure)} ceiling", limit, others, put))
    for place, owner in enumerate(playbook.owners[:1]):
        column = playbook.table.column(playbook.owned_by)
        others = tuple(p.label for p in desk.parties(column) if p.label not in {o.label for o in playbook.owners})[:3]
        put = lambda p, t, n=place: replace(p, owners=_put(p.owners, n, t))  # noqa: E731
        found.append(_Slot(f"missing {owner.table.noun}".lower(), owner.label, others, put))
    return found


def _put(items: Sequence[Any], place: int, topic: str) -> tuple[Any, ...]:
    return tuple(replace(item, topic=topic) if n == place else item for n, item in enumerate(items))


def _with_case(playbook: Playbook, number: int, case: Case) -> Playbook:
    return replace(playbook, cases=tuple(case if n == number else old for n, old in enumerate(playbook.cases)))


def _test_slot(desk: Desk, playbook: Playbook, test: Test, put: Callable[[Playbook, str], Playbook]) -> list[_Slot]:
    """Return the slot of a test's value, if it is one value and none that says which state records are in."""
    first, _, rest = test.path.partition(".")
    table = playbook.table
    if rest:
        table = desk.atlas.tables[table.column(first).references.partition(".")[0]]
    column = table.column(rest or first)
    if test.against or test.average or test.operator in ("in", "differs") or (column.role == "status" and not rest):
        return []
    name = f"{relation(first)} {words(rest)}" if rest else words(first)
    kind = {"at_least": "least", "at_most": "most"}.get(test.operator, "wanted")
    if column.type in ("date", "datetime"):
        kind = "day for"
        others = sorted({str(value)[:10] for value in desk.atlas.values(table.name, column.name)} - {test.value})
    else:
        others = [value for value in desk.atlas.values(table.name, column.name) if value != test.value]
    others = [value for value in others if is_sayable(value) and isinstance(value, type(test.value))]
    chosen = tuple(desk.rng.sample(others, min(GUESSES, len(others))))
    return [_Slot(f"{kind} {name}".lower(), test.value, chosen, put)]


def _given_slots(desk: Desk, number: int, case: Case) -> list[_Slot]:
    """Return the slots of the values that a case's moves pass on."""
    found = []
    for place, move in enumerate(case.moves):
        for index, given in enumerate(move.given):
            if given.path or isinstance(given.value, bool):
                continue
            put = lambda p, t, m=place, i=index: _with_given(p, number, m, i, t)  # noqa: E731
            if isinstance(given.value, Named):
                label = given.value.label
                others: list[Any] = [party.label for party in desk.parties(given.column) if party.label != label]
                found.append(_Slot(f"{relation(given.column.name)} to take".lower(), label, tuple(others[:3]), put))
                continue
            drawn = [sample_value(Draft(desk.atlas, desk.rng), move.action.table, given.column) for _ in range(8)]
            others = [v for v in dict.fromkeys(drawn) if v not in (None, given.value) and is_sayable(v)]
            if isinstance(given.value, (str, int, float)):
                topic = f"new {words(given.column.name)}".lower()
                found.append(_Slot(topic, given.value, tuple(others[:GUESSES]), put))
    return found


def _with_given(playbook: Playbook, number: int, place: int, index: int, topic: str) -> Playbook:
    """Return a playbook with a topic in one argument, and in the test that looks whether it is there already."""
    case = playbook.cases[number]
    move: Move = case.moves[place]
    given: Given = move.given[index]
    if isinstance(given.value, Named):
        new = replace(given, value=replace(given.value, topic=topic))
    else:
        new = replace(given, topic=topic)
    moved = replace(move, given=tuple(new if n == index else old for n, old in enumerate(move.given)))
    tests = tuple(
        replace(test, topic=topic)
        if test.operator == "differs" and test.path == given.column.name and test.value == given.value
        else test
        for test in case.tests
    )
    moves = tuple(moved if n == place else old for n, old in enumerate(case.moves))
    return _with_case(playbook, number, replace(case, moves=moves, tests=tests))
