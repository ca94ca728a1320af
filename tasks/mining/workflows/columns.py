"""Short constructors of columns and tables, so that an archetype reads like a schema."""

from __future__ import annotations

from schemas.database import Column, Table
from tasks.mining.workflows.nouns import Noun


def reference(table: Table, description: str = "", *, name: str = "", nullable: bool = False) -> Column:
    """Return a foreign key column to a table's key, of the same type; it is named like that key unless `name` says."""
    return Column(
        name=name or link_name(table),
        type=table.column(table.key).type,
        role="reference",
        description=description or f"the {table.noun}",
        nullable=nullable,
        references=f"{table.name}.{table.key}",
    )


def link_name(table: Table) -> str:
    """Return the name of a column that refers to a table: its key if that names the table, else noun and '_id'."""
    noun = Noun(table.noun).snake
    return table.key if table.key.startswith(noun) or noun in table.key else f"{noun}_id"


def label(name: str, description: str) -> Column:
    """Return the text column that a person names a row by; no two rows share a value."""
    return Column(name=name, type="string", role="label", description=description, unique=True)


def status(*choices: str, name: str = "status", description: str = "") -> Column:
    """Return a status column with its closed set of states, in the order of their life."""
    return Column(name=name, type="string", role="status", choices=choices, description=description or "its state")


def category(name: str, choices: tuple[str, ...], description: str = "") -> Column:
    """Return a column with a closed set of values that is no life cycle."""
    return Column(name=name, type="string", role="category", choices=choices, description=description)


def whole(
    name: str, low: int | None, high: int | None, description: str, *, unit: str = "", nullable: bool = False
) -> Column:
    """Return an integer measure with inclusive bounds, which the snapshot enforces."""
    return Column(
        name=name,
        type="integer",
        role="measure",
        minimum=low,
        maximum=high,
        description=description,
        unit=unit,
        nullable=nullable,
    )


def decimal(name: str, low: float | None, high: float | None, description: str, *, unit: str = "") -> Column:
    """Return a number measure with inclusive bounds. Generated values are multiples of 0.25: their sums are exact."""
    return Column(
        name=name, type="number", role="measure", minimum=low, maximum=high, description=description, unit=unit
    )


def day(name: str, description: str, *, nullable: bool = False) -> Column:
    """Return a date column, ISO 8601."""
    return Column(name=name, type="date", role="date", description=description, nullable=nullable)


def moment(name: str, description: str, *, nullable: bool = False) -> Column:
    """Return a datetime column, ISO 8601 to the second."""
    return Column(name=name, type="datetime", role="date", description=description, nullable=nullable)


def words(name: str, description: str, *, nullable: bool = False) -> Column:
    """Return a column of free text."""
    return Column(name=name, type="string", role="text", description=description, nullable=nullable)


def table(noun: Noun, *columns: Column, description: str = "", log: bool = False) -> Table:
    """Return a generated table with its key column in front; the first label column is its label."""
    key = Column(name=noun.key, type="string", role="key", description=f"identifies the {noun}", unique=True)
    label_name = next((column.name for column in columns if column.role == "label"), "")
    return Table(
        name=noun.table,
        noun=noun.one,
        nouns=noun.many,
        description=description,
        key=noun.key,
        label=label_name,
        columns=(key, *columns),
        origin="generated",
        log=log,
    )
