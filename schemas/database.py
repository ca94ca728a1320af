"""The schema of an environment's database D: typed tables, documents, and the business actions that change them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record, Scalar

ColumnType = Literal["integer", "number", "string", "boolean", "date", "datetime"]
ColumnRole = Literal["key", "label", "reference", "category", "status", "measure", "date", "flag", "text", "attribute"]


ActionKind = Literal["create", "transition", "update"]


class Column(Record):
    """A column of a table. Dates are ISO 8601 text, booleans are 0 or 1 in SQLite."""

    name: str
    type: ColumnType
    role: ColumnRole
    description: str = ""
    unit: str = ""
    nullable: bool = False
    unique: bool = False
    choices: tuple[str, ...] = Field(default=(), description="the closed set of values, for category and status")
    minimum: float | None = None
    maximum: float | None = None
    references: str = Field(default="", description="'table.column' that this foreign key points to")


class Table(Record):
    """A table with one key column. `name` is the plural noun in snake case; `noun` and `nouns` are for people."""

    name: str
    noun: str
    nouns: str
    description: str = ""
    key: str
    label: str = Field(default="", description="the column that a person would name a row by; '' if there is none")
    columns: tuple[Column, ...]
    origin: Literal["mined", "generated"]
    log: bool = Field(default=False, description="an audit or log table: left out of the state difference")
    rows: int = 0

    def column(self, name: str) -> Column:
        """Return the column of that name.

        Raises:
            KeyError: if the table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name!r} has no column {name!r}")


class Document(Record):
    """A document inside the snapshot's `documents` table (name, media_type, title, content)."""

    name: str
    media_type: Literal["text/html", "text/csv", "application/json", "application/yaml", "text/markdown", "text/plain"]
    title: str
    description: str = ""


class Rule(Record):
    """A guard of an action: unless it holds, the action is refused with `code` and nothing changes.

    `path` is a column of the action's row (`quantity`) or a column reached through one reference
    (`product_id.stock`: the `stock` of the row that `product_id` points to). `value` is a scalar, a list for "in",
    or "$name", the value of that parameter or of that column of the row (also as "$product_id.price").
    """

    path: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in"]
    value: Scalar | tuple[Scalar, ...]
    code: str = Field(description="upper snake case error code, e.g. OUT_OF_STOCK")
    message: str
    cites: str = Field(default="", description="the source document and place that states this rule")


class Effect(Record):
    """A change that an action makes beside its own row's status: set or add at `path` (as in Rule).

    `value` is a scalar, "$name", "-$name" (for "add"), or "$a*$b" (a product, e.g. "$quantity*$product_id.price").
    "$clock" is the episode's present time.
    """

    path: str
    operation: Literal["set", "add"]
    value: Scalar


class Action(Record):
    """A business action on one table: create a row, move its status, or update its fields.

    - create: `parameters` are the columns that the caller gives; the key is minted by the episode's ids from the
      prefix that the table's existing keys have; `initial` are columns with fixed values ("$clock" allowed); an
      `Effect` on the row's own columns may compute one.
    - transition: the caller gives the key; the row's `status_column` must be in `from_states` and becomes `to_state`.
    - update: the caller gives the key and `parameters`, the new values.
    Rules are checked in order, before anything is written; all effects happen in one savepoint.
    Where a name is a parameter of the action, rules and effects see the value that the caller gives, so that an
    update's rules judge the new values. `schemas.actions.check_actions` says whether all names and types fit.
    """

    name: str = Field(description="verb_noun in snake case, unique in the database, e.g. cancel_order")
    verb: str
    kind: ActionKind
    table: str
    description: str
    parameters: tuple[str, ...] = ()
    initial: dict[str, Scalar] = {}
    status_column: str = ""
    from_states: tuple[str, ...] = ()
    to_state: str = ""
    rules: tuple[Rule, ...] = ()
    effects: tuple[Effect, ...] = ()


class Database(Record):
    """What the miner hands to the coder: schema, actions and documents; the rows are in the snapshot's bytes."""

    env_id: str
    theme_id: str
    name: str
    description: str
    tables: tuple[Table, ...]
    documents: tuple[Document, ...] = ()
    actions: tuple[Action, ...] = ()
    start_time: str = Field(description="ISO 8601 time at which every episode's clock starts")
    snapshot_sha256: str
    complexified: int = Field(default=0, description="rounds of complexification done")
    added_tables: tuple[str, ...] = Field(default=(), description="tables that complexification added")
    files: bool = Field(default=False, description="imported: its state are files, which its tools open by path")

    def table(self, name: str) -> Table:
        """Return the table of that name.

        Raises:
            KeyError: if there is none.
        """
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"environment {self.env_id!r} has no table {name!r}")
