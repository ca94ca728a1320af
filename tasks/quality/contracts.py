"""Data contracts: what each stored dataset promises, read from `data_contracts/<dataset>.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pydantic
from pydantic import Field

import data_contracts
from schemas.arrow import arrow_schema
from schemas.base import Record, Scalar
from schemas.datasets import DATASETS

FOLDER = Path(data_contracts.__file__).parent
"""Where the contracts lie."""

ColumnType = Literal["string", "integer", "number", "boolean", "strings", "json"]
Where = dict[str, tuple[Scalar, ...]]

IN_RELEASE = "in_release"
"""A column that rules may name in `when`: whether a row is not held back."""

_REFERENCE = re.compile(r"(\w+)\((\w+(?:, \w+)*)\)")
_TYPES: dict[pa.DataType, ColumnType] = {
    pa.string(): "string",
    pa.int64(): "integer",
    pa.float64(): "number",
    pa.bool_(): "boolean",
    pa.list_(pa.string()): "strings",
}


class ContractError(Exception):
    """A contract that cannot be read or does not fit the records; says which, where and what to do."""


class Constraint(Record):
    """What must hold of values. An empty text or a null refers to nothing and is not looked up."""

    severity: Literal["error", "warning"] = Field(default="error", description="error: rows that fail are quarantined")
    allowed: tuple[Scalar, ...] = ()
    minimum: float | None = None
    above: float | None = Field(default=None, description="an exclusive minimum")
    maximum: float | None = None
    at_most: str = Field(default="", description="another column that bounds this one from above")
    pattern: str = Field(default="", description="a regular expression for the whole text")
    min_length: int = Field(default=0, description="characters of a text, items of a list")
    references: str = Field(default="", description="dataset(column, ...) in which the values must occur")


class ColumnContract(Constraint):
    """One column: its type, what it means, and what always holds of it."""

    name: str
    type: ColumnType
    meaning: str = Field(min_length=1)
    required: bool = Field(default=True, description="false: the value may be null")


class Rule(Constraint):
    """What holds of one or more columns, `when` other columns have certain values."""

    columns: tuple[str, ...] = Field(min_length=1)
    meaning: str = Field(min_length=1)
    required: bool = False
    when: Where = {}


class HeldBack(Record):
    """Rows that are stored for the factory's own use and stay out of releases: those in which `columns` has one of
    `values`, or refers to a row of another dataset in which `where` holds."""

    reason: str
    columns: tuple[str, ...]
    values: tuple[Scalar, ...] = ()
    references: str = ""
    where: Where = {}


class Contract(Record):
    """The contract of one dataset.

    `parts` are datasets(column, ...) whose rows make up a row of this one: if one of them is quarantined, so is the
    row. `labels` are columns in which repetitions of a row may differ; the first one stands for all.
    """

    dataset: str
    description: str
    owner: str = Field(description="the stage that writes it")
    key: tuple[str, ...] = Field(description="the columns that name a row")
    released: bool = True
    minimum_rows: int = Field(default=0, description="fewer rows give a warning")
    columns: tuple[ColumnContract, ...]
    rules: tuple[Rule, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    parts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def references(self) -> list[tuple[tuple[str, ...], str]]:
        """Return (columns, reference) of every reference whose failure is an error."""
        found = [((c.name,), c.references) for c in self.columns if c.references and c.severity == "error"]
        return found + [(r.columns, r.references) for r in self.rules if r.references and r.severity == "error"]


def target(reference: str) -> tuple[str, tuple[str, ...]]:
    """Return the dataset and the columns that a reference names.

    Raises:
        ContractError: if it is not of the form `dataset(column, ...)`.
    """
    match = _REFERENCE.fullmatch(reference)
    if not match:
        raise ContractError(f"{reference!r} is no reference: write dataset(column) or dataset(column, column)")
    return match[1], tuple(match[2].split(", "))


def load_contracts(folder: Path = FOLDER) -> dict[str, Contract]:
    """Return the contracts of all datasets, in the order of the registry.

    Raises:
        ContractError: if a dataset has none, or one is unreadable or does not agree with its dataset's record type.
    """
    return {name: load_contract(name, folder) for name in DATASETS}


def load_contract(name: str, folder: Path = FOLDER) -> Contract:
    """Return the contract of one dataset.

    Raises:
        ContractError: if it is missing, unreadable or does not agree with the dataset's record type.
    """
    import yaml

    path = folder / f"{name}.yaml"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        contract = Contract.model_validate(_named(content))
    except FileNotFoundError as error:
        raise ContractError(f"dataset {name!r} has no contract: write {path}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError, pydantic.ValidationError) as error:
        raise ContractError(f"{path} is no readable contract: {error}") from error
    problems = disagreements(contract) if contract.dataset == name else [f"it is of dataset {contract.dataset!r}"]
    if problems:
        raise ContractError(f"{path} does not fit the records of {name!r}: {'; '.join(problems)}")
    return contract


def _named(content: Any) -> Any:
    """Return a contract's content with its columns, a mapping by name in the file, as a list."""
    if isinstance(content, dict) and isinstance(content.get("columns"), dict):
        columns = [{"name": name, **(body or {})} for name, body in content["columns"].items()]
        return {**content, "columns": columns}
    return content


def disagreements(contract: Contract) -> list[str]:
    """Return where a contract and its dataset's record type differ, one line each."""
    if contract.dataset not in DATASETS:
        return [f"there is no dataset {contract.dataset!r}"]
    dataset = DATASETS[contract.dataset]
    wanted = {
        field.name: (_type(field), not field.nullable) for field in arrow_schema(dataset.model, dataset.version)
    }  # fmt: skip
    given = {column.name: (column.type, column.required) for column in contract.columns}
    problems = [f"column {name!r} is missing" for name in wanted if name not in given]
    problems += [f"there is no column {name!r}" for name in given if name not in wanted]
    problems += [
        f"column {name!r} is {_words(wanted[name])}, not {_words(given[name])}"
        for name in wanted
        if name in given and wanted[name] != given[name]
    ]
    if contract.key != dataset.identity:
        problems.append(f"its key is {', '.join(dataset.identity)}")
    used = [name for rule in contract.rules for name in (*rule.columns, *rule.when, rule.at_most)]
    for named in [*used, *(column.at_most for column in contract.columns), *contract.labels]:
        if named and named not in wanted and named != IN_RELEASE:
            problems.append(f"it names {named!r}, which is no column")
    return problems + _reference_problems(contract)


def _reference_problems(contract: Contract) -> list[str]:
    problems = []
    constraints: list[ColumnContract | Rule | HeldBack] = [*contract.columns, *contract.rules, *contract.held_back]
    for reference in [*(c.references for c in constraints if c.references), *contract.parts]:
        try:
            name, columns = target(reference)
        except ContractError as error:
            problems.append(str(error))
            continue
        if name not in DATASETS or any(c not in DATASETS[name].model.model_fields for c in columns):
            problems.append(f"{reference} does not exist")
    return problems


def _type(field: pa.Field) -> ColumnType:
    return "json" if field.metadata and b"json" in field.metadata else _TYPES[field.type]


def _words(of: tuple[ColumnType, bool]) -> str:
    return f"{of[0]}, {'required' if of[1] else 'may be null'}"


def by_reference(contracts: Mapping[str, Contract]) -> list[str]:
    """Return the datasets' names, each after those that it refers to (references to itself aside)."""
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in order or name in path or name not in contracts:
            return
        for _, reference in contracts[name].references():
            visit(target(reference)[0], (*path, name))
        order.append(name)

    for name in contracts:
        visit(name, ())
    return order
