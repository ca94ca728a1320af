"""From a contract to a Great Expectations suite. Each expectation has a check that says the same in words."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from schemas.base import Scalar
from tasks.quality.contracts import IN_RELEASE, Constraint, Contract, Where, target

FITS_RECORD = "fits its record type"
HAS_REQUIRED = "has every required value"


@dataclass(frozen=True)
class Check:
    """One expectation of a suite.

    `gate` is the kind of check in snake case; `expectation` the Great Expectations class, `arguments` its arguments
    over the validated frame; `where` the condition under which it applies; `text` what must hold, in words.
    """

    gate: str
    columns: tuple[str, ...]
    text: str
    expectation: str
    arguments: dict[str, Any] = field(default_factory=dict)
    where: Where = field(default_factory=dict)
    severity: str = "error"
    meaning: str = ""

    @property
    def name(self) -> str:
        """The expectation's name with its condition: what `quality_results` lists it under."""
        name = DERIVED.get(self.gate) or re.sub(r"(?<!^)(?=[A-Z](?![A-Z]))", "_", self.expectation).lower()
        return name + _suffix(self.where)


DERIVED = {
    "not_null": "expect_column_values_to_not_be_null",
    "required": "expect_required_values_to_be_there",
    "reference": "expect_referenced_row_to_exist",
    "record_type": "expect_row_to_fit_record_type",
    "damaged": "expect_what_it_names_to_be_stored",
}
"""What the outcomes of expectations over derived columns are listed as; all others have Great Expectations' names.

A derived column is true, false, or null where the check does not apply: Great Expectations leaves nulls out.
"""


def reference_column(columns: Sequence[str], reference: str) -> str:
    """Return the name of the frame's column that says whether a reference leads to a row."""
    return f"{'+'.join(columns)} in {reference}"


def presence_column(name: str) -> str:
    """Return the name of the frame's column that says whether a column has a value."""
    return f"{name} is there"


def masked(name: str, where: Where) -> str:
    """Return the name of the frame's column that is null where a condition does not hold, and else is that column."""
    return name + _suffix(where)


def checks_of(contract: Contract, findings: Sequence[str] = ()) -> list[Check]:
    """Return the checks of a contract: whole dataset, key, columns, rules.

    Args:
        findings: names of frame columns with findings from outside (is what a row names stored?).
    """
    names = tuple(column.name for column in contract.columns)
    key = ", ".join(contract.key)
    checks = [
        Check("columns", (), "the columns are those of the contract", "ExpectTableColumnsToMatchSet",
              {"column_set": list(names), "exact_match": False}),
    ]  # fmt: skip
    if contract.minimum_rows:
        text = f"there {'is' if contract.minimum_rows == 1 else 'are'} at least {_plural(contract.minimum_rows, 'row')}"
        arguments = {"min_value": contract.minimum_rows}
        checks.append(Check("rows", (), text, "ExpectTableRowCountToBeBetween", arguments, severity="warning"))
    where: Where = {IN_RELEASE: (True,)} if may_be_held_back(contract) else {}
    columns = [masked(name, where) for name in contract.key]
    if len(columns) == 1:
        unique: tuple[str, dict[str, Any]] = ("ExpectColumnValuesToBeUnique", {"column": columns[0]})
    else:
        unique = ("ExpectCompoundColumnsToBeUnique", {"column_list": columns})
    checks.append(Check("unique", contract.key, f"no two rows have the same {key}", *unique, where=where))
    derived = [
        ("required", (), "every required value is there, and every number is one", HAS_REQUIRED),
        ("record_type", (), "the row fits its record type", FITS_RECORD),
        *(("damaged", (name,), f"{name}: stored, whole and as the hash says", name) for name in findings),
    ]
    checks += [
        Check(gate, columns, text, "ExpectColumnValuesToBeInSet", {"column": name, "value_set": [True]})
        for gate, columns, text, name in derived
    ]
    checks += [
        Check("json", (column.name,), f"{column.name} is JSON", "ExpectColumnValuesToBeJsonParseable",
              {"column": column.name}, severity=column.severity)
        for column in contract.columns
        if column.type == "json"
    ]  # fmt: skip
    lists = {column.name for column in contract.columns if column.type == "strings"}
    for column in contract.columns:
        checks += _constraint_checks(column, (column.name,), lists, {})
    for rule in contract.rules:
        if rule.required:
            checks += [_not_null(name, rule.when, rule.severity, rule.meaning) for name in rule.columns]
        checks += _constraint_checks(rule, rule.columns, lists, rule.when, rule.meaning)
    return checks


def may_be_held_back(contract: Contract) -> bool:
    """Return whether rows of a dataset can be held back: by a rule of its own, or with what they refer to."""
    return bool(contract.held_back or [r for _, r in contract.references() if target(r)[0] != contract.dataset])


def _not_null(name: str, where: Where, severity: str, meaning: str) -> Check:
    column = masked(presence_column(name), where)
    arguments = {"column": column, "value_set": [True]}
    return Check("not_null", (name,), column, "ExpectColumnValuesToBeInSet", arguments, where, severity, meaning)


def _constraint_checks(
    constraint: Constraint, columns: tuple[str, ...], lists: set[str], where: Where, meaning: str = ""
) -> list[Check]:
    """Return the checks of one constraint on one column (a reference may be on several)."""
    name, checks = columns[0], []
    column = masked(name, where)

    def add(gate: str, words: str, expectation: str, **arguments: Any) -> None:
        text = f"{', '.join(columns)} {words}{_suffix(where)}"
        checks.append(Check(gate, columns, text, expectation, arguments, where, constraint.severity, meaning))

    if constraint.allowed:
        words = "is " + " or ".join(_value_words(value) for value in constraint.allowed)
        add("allowed", words, "ExpectColumnValuesToBeInSet", column=column, value_set=list(constraint.allowed))
    low = constraint.minimum if constraint.above is None else constraint.above
    if low is not None or constraint.maximum is not None:
        words = " and ".join(
            part
            for part in (
                "" if low is None else f"{'at least' if constraint.above is None else 'more than'} {low:g}",
                "" if constraint.maximum is None else f"at most {constraint.maximum:g}",
            )
            if part
        )
        add("range", f"is {words}", "ExpectColumnValuesToBeBetween", column=column, min_value=low,
            max_value=constraint.maximum, strict_min=constraint.above is not None)  # fmt: skip
    if constraint.pattern:
        add("pattern", f"matches {constraint.pattern}", "ExpectColumnValuesToMatchRegex", column=column,
            regex=f"^(?:{_without_groups(constraint.pattern)})$")  # fmt: skip
    if constraint.min_length and name in lists:
        add("length", f"has at least {_plural(constraint.min_length, 'item')}", "ExpectColumnValuesToBeBetween",
            column=column, min_value=constraint.min_length)  # fmt: skip
    elif constraint.min_length:
        words = "is not empty" if constraint.min_length == 1 else f"has at least {constraint.min_length} characters"
        add("length", words, "ExpectColumnValueLengthsToBeBetween", column=column, min_value=constraint.min_length)
    if constraint.at_most:
        add("at_most", f"is at most {constraint.at_most}", "ExpectColumnPairValuesAToBeGreaterThanB",
            column_A=masked(constraint.at_most, where), column_B=column, or_equal=True)  # fmt: skip
    if constraint.references:
        add("reference", f"refers to a row of {constraint.references}", "ExpectColumnValuesToBeInSet",
            column=masked(reference_column(columns, constraint.references), where), value_set=[True])  # fmt: skip
    return checks


def build_suite(name: str, checks: Sequence[Check]) -> Any:
    """Return the ExpectationSuite of the checks; each expectation's `meta` holds its check's index."""
    gx, expectations = great_expectations()
    suite = gx.ExpectationSuite(name=name)
    for index, check in enumerate(checks):
        severity = "critical" if check.severity == "error" else "warning"
        made = getattr(expectations, check.expectation)
        suite.add_expectation(made(**check.arguments, severity=severity, meta={"check": index}))
    return suite


@lru_cache(maxsize=1)
def great_expectations() -> tuple[Any, Any]:
    """Import Great Expectations (ten seconds of CPU), without its analytics; return it and its expectations."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import great_expectations.expectations as expectations

    return gx, expectations


def _without_groups(pattern: str) -> str:
    """Return a regular expression whose groups capture nothing: pandas warns of those that do."""
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern)


def _condition_words(where: Where) -> str:
    return " and ".join(
        "the row is for release" if name == IN_RELEASE else f"{name} is {' or '.join(map(_value_words, values))}"
        for name, values in where.items()
    )


def _suffix(where: Where) -> str:
    return f" where {_condition_words(where)}" if where else ""


def _value_words(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "empty" if value == "" else str(value)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
