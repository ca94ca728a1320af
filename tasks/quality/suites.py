"""From a contract to a Great Expectations suite. Each expectation has a check that says the same in words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from schemas.base import Scalar
from tasks.quality.contracts import IN_RELEASE, ColumnContract, Constraint, Contract, Where

FITS_RECORD = "fits its record type"


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
        name = EXPECTATIONS.get(self.gate, self.gate)
        return f"{name} ({_condition_words(self.where)})" if self.where else name


EXPECTATIONS = {
    "columns": "expect_table_columns_to_match_set",
    "rows": "expect_table_row_count_to_be_between",
    "not_null": "expect_column_values_to_not_be_null",
    "allowed": "expect_column_values_to_be_in_set",
    "range": "expect_column_values_to_be_between",
    "pattern": "expect_column_values_to_match_regex",
    "length": "expect_column_value_lengths_to_be_between",
    "json": "expect_column_values_to_be_json_parseable",
    "at_most": "expect_column_pair_values_a_to_be_greater_than_b",
    "unique": "expect_compound_columns_to_be_unique",
    "reference": "expect_referenced_row_to_exist",
    "record_type": "expect_row_to_fit_record_type",
    "finding": "expect_what_it_names_to_be_stored",
}
"""The name that each gate's outcomes are listed under: Great Expectations' own where it is one of its expectations;
the others are expectations over a column that the frame derives."""


def reference_column(columns: Sequence[str], reference: str) -> str:
    """Return the name of the frame's column that says whether a reference leads to a row."""
    return f"{'+'.join(columns)} in {reference}"


def checks_of(contract: Contract, findings: Sequence[str] = ()) -> list[Check]:
    """Return the checks of a contract: whole dataset, key, columns, rules.

    Args:
        findings: names of frame columns with findings from outside (is what a row names stored?).
    """
    names = tuple(column.name for column in contract.columns)
    released: Where = {IN_RELEASE: (True,)}
    key = ", ".join(contract.key)
    checks = [
        Check("columns", (), "the columns are those of the contract", "ExpectTableColumnsToMatchSet",
              {"column_set": list(names), "exact_match": False}),
        Check("rows", (), f"there are at least {contract.minimum_rows} rows", "ExpectTableRowCountToBeBetween",
              {"min_value": contract.minimum_rows}, severity="warning"),
    ]  # fmt: skip
    if len(contract.key) == 1:
        unique = ("ExpectColumnValuesToBeUnique", {"column": contract.key[0]})
    else:
        unique = ("ExpectCompoundColumnsToBeUnique", {"column_list": list(contract.key)})
    checks.append(Check("unique", contract.key, f"{key}: no two rows have the same", *unique, where=released))
    checks.append(
        Check("record_type", (), "the row fits its record type", "ExpectColumnValuesToBeInSet",
              {"column": FITS_RECORD, "value_set": [True]}, released)
    )  # fmt: skip
    checks += [
        Check("finding", (name,), f"{name}: it is stored, whole and as its hash says", "ExpectColumnValuesToBeInSet",
              {"column": name, "value_set": [True]}, released)
        for name in findings
    ]  # fmt: skip
    for column in contract.columns:
        checks += _column_checks(column)
    lists = {column.name for column in contract.columns if column.type == "strings"}
    for column in contract.columns:
        checks += _constraint_checks(column, (column.name,), lists, {})
    for rule in contract.rules:
        if rule.required:
            checks += [_not_null(name, rule.when, rule.severity, rule.meaning) for name in rule.columns]
        checks += _constraint_checks(rule, rule.columns, lists, rule.when, rule.meaning)
    return checks


def _column_checks(column: ColumnContract) -> list[Check]:
    checks = [_not_null(column.name, {}, column.severity)] if column.required else []
    if column.type == "json":
        checks.append(
            Check("json", (column.name,), f"{column.name} is JSON", "ExpectColumnValuesToBeJsonParseable",
                  {"column": column.name}, severity=column.severity)
        )  # fmt: skip
    return checks


def _not_null(name: str, where: Where, severity: str, meaning: str = "") -> Check:
    text = f"{name} is there{_suffix(where)}"
    return Check("not_null", (name,), text, "ExpectColumnValuesToNotBeNull", {"column": name}, where, severity, meaning)


def _constraint_checks(
    constraint: Constraint, columns: tuple[str, ...], lists: set[str], where: Where, meaning: str = ""
) -> list[Check]:
    """Return the checks of one constraint on one column (a reference may be on several)."""
    name, checks = columns[0], []

    def add(gate: str, words: str, expectation: str, condition: Where = where, **arguments: Any) -> None:
        text = f"{', '.join(columns)} {words}{_suffix(where)}"
        checks.append(Check(gate, columns, text, expectation, arguments, condition, constraint.severity, meaning))

    if constraint.allowed:
        words = "is " + " or ".join(_value_words(value) for value in constraint.allowed)
        add("allowed", words, "ExpectColumnValuesToBeInSet", column=name, value_set=list(constraint.allowed))
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
        add("range", f"is {words}", "ExpectColumnValuesToBeBetween", column=name, min_value=low,
            max_value=constraint.maximum, strict_min=constraint.above is not None)  # fmt: skip
    if constraint.pattern:
        add("pattern", f"matches {constraint.pattern}", "ExpectColumnValuesToMatchRegex", column=name,
            regex=f"^(?:{constraint.pattern})$")  # fmt: skip
    if constraint.min_length and name in lists:
        add("length", f"has at least {_plural(constraint.min_length, 'item')}", "ExpectColumnValuesToBeBetween",
            column=name, min_value=constraint.min_length)  # fmt: skip
    elif constraint.min_length:
        words = "is not empty" if constraint.min_length == 1 else f"has at least {constraint.min_length} characters"
        add("length", words, "ExpectColumnValueLengthsToBeBetween", column=name, min_value=constraint.min_length)
    if constraint.at_most:
        add("at_most", f"is at most {constraint.at_most}", "ExpectColumnPairValuesAToBeGreaterThanB",
            column_A=constraint.at_most, column_B=name, or_equal=True)  # fmt: skip
    if constraint.references:
        add("reference", f"refers to a row of {constraint.references}", "ExpectColumnValuesToBeInSet",
            {**where, IN_RELEASE: (True,)}, column=reference_column(columns, constraint.references), value_set=[True],
        )  # fmt: skip
    return checks


def build_suite(name: str, checks: Sequence[Check]) -> Any:
    """Return the ExpectationSuite of the checks; each expectation's `meta` holds its check's index."""
    gx, expectations = great_expectations()
    suite = gx.ExpectationSuite(name=name)
    for index, check in enumerate(checks):
        condition = {"row_condition": _query(check.where), "condition_parser": "pandas"} if check.where else {}
        severity = "critical" if check.severity == "error" else "warning"
        made = getattr(expectations, check.expectation)
        suite.add_expectation(made(**check.arguments, **condition, severity=severity, meta={"check": index}))
    return suite


@lru_cache(maxsize=1)
def great_expectations() -> tuple[Any, Any]:
    """Import Great Expectations (ten seconds of CPU), without its analytics; return it and its expectations."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import great_expectations.expectations as expectations

    return gx, expectations


def _query(where: Where) -> str:
    """Return a condition for pandas' query."""
    return " and ".join(f"`{name}` in {list(values)!r}" for name, values in where.items())


def _condition_words(where: Where) -> str:
    parts = []
    for name, values in where.items():
        if name == IN_RELEASE:
            parts.append("rows for release")
        else:
            parts.append(f"{name} is {' or '.join(_value_words(value) for value in values)}")
    return ", ".join(parts)


def _suffix(where: Where) -> str:
    words = _condition_words({name: values for name, values in where.items() if name != IN_RELEASE})
    return f" where {words}" if words else ""


def _value_words(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "empty" if value == "" else str(value)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
