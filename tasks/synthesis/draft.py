"""A task in the making: calls with references, the rows that they pick, and what the prompt will say of each."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from schemas.task import Call
from tasks.synthesis.atlas import Atlas, Row


@dataclass(frozen=True)
class Condition:
    """One property that narrows rows down: a stated value, or a relation to a row picked before (`of`)."""

    column: str
    operator: str
    """equals | contains | at_least | at_most"""
    value: Any = None
    of: int | None = None
    via: str = ""
    """with `of`: the reference column of the picked row through which it is reached; "" for the row itself"""


@dataclass(frozen=True)
class Mention:
    """How the prompt names a row.

    `how` is label | key | filter | reference | created; `order` is ("column", descending) of a superlative.
    """

    how: str
    value: Any = None
    conditions: tuple[Condition, ...] = ()
    order: tuple[str, bool] | None = None
    of: int | None = None
    via: str = ""


@dataclass(frozen=True)
class Pick:
    """One row that a call's observation holds at `prefix`."""

    table: str
    row: Row
    step: int
    prefix: str
    columns: frozenset[str]
    mention: Mention
    same_as: int | None = None
    """the number of the pick that named this row first, if this call only read or changed it again"""
    certain: bool = True
    """whether the snapshot's row is what the observation shows: nothing wrote to the table before"""
    stated: frozenset[str] = frozenset()
    """columns whose value the prompt states or makes plain, so that no answer asks for them"""
    only: frozenset[str] = frozenset()
    """the columns that the call was made to see; empty for all"""

    def reference(self, column: str, shift: dict[int, int] | None = None) -> dict[str, str]:
        """Return the {"$ref": ...} of one of the row's cells."""
        step = shift[self.step] if shift else self.step
        return {"$ref": f"{step}.{self.prefix}.{column}" if self.prefix else f"{step}.{column}"}


@dataclass(frozen=True)
class Sentence:
    """One thing that the prompt asks for: find | transition | update | create | aggregate."""

    kind: str
    step: int
    pick: int | None = None
    verb: str = ""
    table: str = ""
    values: tuple[tuple[str, Any], ...] = ()
    relations: tuple[Condition, ...] = ()
    statistic: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Ask:
    """One field of the answer: where it stands, and how the prompt describes it."""

    name: str
    reference: str
    step: int
    pick: int | None
    column: str = ""
    sentence: int | None = None
    fresh: bool = False
    """whether the value is read after a change ("now")"""


@dataclass(frozen=True)
class Expected:
    """What SQL over the snapshot says must stand at a place of the observations."""

    step: int
    path: str
    value: Any
    gate: str = "independent"


@dataclass
class Draft:
    """The chain so far."""

    atlas: Atlas
    rng: random.Random
    calls: list[Call] = field(default_factory=list)
    picks: list[Pick] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    touched: set[tuple[str, Any]] = field(default_factory=set)
    """(table, key) of the rows that a call of the chain acts on, each at most once"""
    affected: dict[tuple[str, Any], set[str]] = field(default_factory=dict)
    """(table, key) -> changed columns, for all rows of the snapshot that a call changes, by effects too"""
    written: set[str] = field(default_factory=set)

    def add(self, tool: str, arguments: dict[str, Any]) -> int:
        """Append a call and return its number."""
        self.calls.append(Call(tool=tool, arguments=arguments))
        return len(self.calls) - 1

    def origin(self, number: int) -> int:
        """Return the pick that first named the row of a pick."""
        same = self.picks[number].same_as
        return number if same is None else self.origin(same)

    def sources(self, entity: str) -> list[tuple[int, str]]:
        """Return the (pick, column) pairs whose observation holds a value of a key entity, latest first.

        A reference to a row that has been picked itself is left out.
        """
        wanted = self.atlas.canonical(entity)
        table, _, key = wanted.partition(".")
        picked = {pick.row.get(key) for pick in self.picks if pick.table == table}
        found = []
        for number, pick in reversed(list(enumerate(self.picks))):
            for name, entity_there in self.atlas.key_columns[pick.table].items():
                if entity_there != wanted or name not in pick.columns:
                    continue
                value = pick.row.get(name)
                if value is not None and ((pick.table == table and name == key) or value not in picked):
                    found.append((number, name))
        return found

    def affect(self, changed: dict[tuple[str, Any], set[str]]) -> None:
        """Note that columns of rows have changed."""
        for place, columns in changed.items():
            self.affected.setdefault(place, set()).update(columns)


def references(value: Any) -> list[str]:
    """Return the texts of all {"$ref": ...} inside a JSON value."""
    if isinstance(value, dict):
        if set(value) == {"$ref"}:
            return [value["$ref"]]
        return [text for item in value.values() for text in references(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in references(item)]
    return []


def renumber(value: Any, numbers: dict[int, int]) -> Any:
    """Return a JSON value with the step numbers of its references replaced.

    Raises:
        KeyError: if a reference points to a step without a new number.
    """
    if isinstance(value, dict):
        if set(value) == {"$ref"}:
            step, dot, rest = value["$ref"].partition(".")
            return {"$ref": f"{numbers[int(step)]}{dot}{rest}"}
        return {key: renumber(item, numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [renumber(item, numbers) for item in value]
    return value
