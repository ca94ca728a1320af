"""A playbook: which records, which cases, what to do in each, within which limits, and what to report.

It is the one description from which a long task's script, prompt and predicted outcome are made, each by code of its
own, so that they can be checked against one another. It holds no keys of rows: a row is named by what a person would
call it, or reached from another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from schemas.database import Action, Column, Table
from schemas.tool import Tool
from tasks.synthesis.atlas import Row

Operator = Literal["equals", "differs", "at_least", "at_most", "above", "below", "in"]


@dataclass(frozen=True)
class Test:
    """A condition on a record: the cell at `path` against a value, or against the cell at `against`.

    Attributes:
        path: a column of the record ("quantity"), or one behind a reference of it ("client_id.status").
        operator: how the two compare. "in" takes a tuple of values.
        value: what the prompt states, or what the user tells if there is a `topic`.
        against: the path of another cell of the same record, in place of a value.
        topic: what to ask the user for, "" if the prompt states the value.
        average: whether the value is the average of that cell over all records meant, which the prompt does not state.
    """

    path: str
    operator: Operator
    value: Any = None
    against: str = ""
    topic: str = ""
    average: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that it reads."""
        return (self.path, self.against) if self.against else (self.path,)


@dataclass(frozen=True)
class Named:
    """A row that the prompt names by its label."""

    table: Table
    row: Row
    topic: str = ""

    @property
    def label(self) -> str:
        """The text that names it."""
        return str(self.row[self.table.label])

    @property
    def key(self) -> Any:
        """Its key, which no script and no prompt may hold."""
        return self.row[self.table.key]


@dataclass(frozen=True)
class Given:
    """An argument of a move beside the key of the row that it changes.

    `value` is a scalar that the prompt states, a `Named` row (its key is meant), or with `path` a cell of the record.
    """

    parameter: str
    column: Column
    value: Any = None
    path: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Move:
    """One call that changes the state, for one record: an action with its tool. `key` is "" if it makes a new row."""

    action: Action
    tool: Tool
    key: str = ""
    given: tuple[Given, ...] = ()


@dataclass(frozen=True)
class Case:
    """What to do with the records that meet all tests and fell under no earlier case.

    Attributes:
        tests: () for all that remain.
        moves: carried out in this order; () leaves the record alone.
        instead: what to do where the first move is refused by a rule. None: none is.
        exception: of a case without moves, whether it is an exception ("unless") rather than what is left over.
    """

    tests: tuple[Test, ...] = ()
    moves: tuple[Move, ...] = ()
    instead: tuple[Move, ...] | None = None
    exception: bool = False


@dataclass(frozen=True)
class Cap:
    """A limit on the sum of `measure` over the records of `case`; what would go beyond falls under a later case.

    Records are taken in the playbook's order; one that would go beyond is passed over, a later smaller one may fit.
    `per` is a path whose value makes groups with a sum each, "" for one sum.
    """

    measure: str
    limit: int | float
    case: int = 0
    per: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Stat:
    """One field of the report.

    Attributes:
        kind: count | total (of `measure`) | code (of a refusal) | flag (whether all was done).
        name: the answer field.
        which: all records | those "done" in `cases` | those "refused" in any case.
        cases: with "done", the numbers of the cases.
    """

    kind: Literal["count", "total", "code", "flag"]
    name: str
    which: Literal["all", "done", "refused"] = "all"
    cases: tuple[int, ...] = ()
    measure: str = ""


@dataclass(frozen=True)
class Playbook:
    """A long task before it is written down.

    Attributes:
        family: which kind of work it is.
        table: the records' table.
        owners: the parties whose records are meant, () for all.
        owned_by: the reference column that points to the owners' table.
        tests: which records are meant.
        cases: what to do; the first that fits a record applies, the last has no tests.
        order: (column, descending) in which they are taken; None where the order makes no difference.
        cap: a limit, if there is one.
        stats: what is reported.
        careful: all or nothing: if one record may not be moved, none is, and the report says why.
        counted: the topic for which the user wants to hear how many records there are, "" for none.
        listed_by: the reference by which the records are listed, party by party, as no tool lists them all; "" if one
            does.
        one_by_one: what stands behind references is read row by row, as no tool that lists it is offered.
    """

    family: str
    table: Table
    tests: tuple[Test, ...]
    cases: tuple[Case, ...]
    owners: tuple[Named, ...] = ()
    owned_by: str = ""
    order: tuple[str, bool] | None = None
    cap: Cap | None = None
    stats: tuple[Stat, ...] = ()
    careful: bool = False
    listed_by: str = ""
    one_by_one: bool = False
    counted: str = ""

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves of all cases."""
        return tuple(move for case in self.cases for move in (*case.moves, *(case.instead or ())))
