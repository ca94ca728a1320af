"""Audit tables against their contracts: which rows pass, which are quarantined and why, which stay out of releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from schemas.base import Record, canonical_json
from schemas.environment import Rejection
from schemas.episode import QualityResult
from tasks.quality.contracts import IN_RELEASE, ColumnContract, Contract
from tasks.quality.frames import fold, frame_of, missing_values, take, to_records
from tasks.quality.links import Links, key_texts
from tasks.quality.suites import FITS_RECORD, HAS_REQUIRED, Check, checks_of, reference_column
from tasks.quality.validate import Outcome, Validator

PART = "_part"
"""A column that a table may have beside its dataset's: the key of the object that a row was read from."""

Findings = Mapping[str, Mapping[str, Mapping[str, str]]]
"""dataset -> what was looked at -> row's key -> what is wrong. A dataset that was looked at and found sound has an
empty innermost mapping."""


@dataclass(frozen=True)
class Quarantined:
    """One row (or one unreadable part: `row` is then empty) that failed. `reasons` are (gate, reason)."""

    dataset: str
    part: str
    key: str
    reasons: tuple[tuple[str, str], ...]
    row: str = ""
    env_id: str = ""

    def rejections(self) -> list[Rejection]:
        """Return one rejection for each reason."""
        return [
            Rejection(stage="audit", key=f"{self.dataset}/{self.key}", gate=gate, reason=reason, env_id=self.env_id)
            for gate, reason in self.reasons
        ]


@dataclass(frozen=True)
class DatasetAudit:
    """What the audit found in one dataset. `rows` counts each row once; `folded` were repetitions of others."""

    contract: Contract
    rows: int
    folded: int
    outcomes: tuple[Outcome, ...]
    quarantined: tuple[Quarantined, ...]
    held_back: Mapping[str, int]
    passed: tuple[int, ...]
    records: tuple[Record, ...]
    table: pa.Table

    @property
    def results(self) -> list[QualityResult]:
        """The outcomes as records."""
        return [outcome.result(self.contract.dataset) for outcome in self.outcomes]


@dataclass(frozen=True)
class AuditOutcome:
    """The audit of several datasets."""

    datasets: Mapping[str, DatasetAudit] = field(default_factory=dict)

    @property
    def results(self) -> list[QualityResult]:
        """All outcomes, dataset by dataset."""
        return [result for audit in self.datasets.values() for result in audit.results]

    @property
    def passed(self) -> dict[str, tuple[int, ...]]:
        """For each dataset the numbers of the rows (of `DatasetAudit.table`) that a release may hold."""
        return {name: audit.passed for name, audit in self.datasets.items()}

    @property
    def quarantined(self) -> list[Quarantined]:
        """All quarantined rows."""
        return [row for audit in self.datasets.values() for row in audit.quarantined]


def audit_tables(
    tables: Mapping[str, pa.Table],
    contracts: Mapping[str, Contract],
    findings: Findings | None = None,
    validator: Validator | None = None,
) -> AuditOutcome:
    """Validate tables together, so that references between them can be followed.

    Rules: a row that fails an expectation of severity error is quarantined; all rows that share a key are, since none
    of them can be told to be the right one. What refers only to quarantined rows, or has one among its parts, is
    quarantined with it ("depends on ..."). Warnings are reported and leave the rows alone. Rows that are held back
    (practice, environments that were not accepted) are validated too, but not asked what only a release asks.

    Args:
        tables: dataset -> rows; a reference to a dataset that is not among them leads nowhere.
        contracts: dataset -> contract, for all tables.
        findings: what was found out about rows by looking at what they name.
        validator: a running Great Expectations; None starts one.
    """
    findings = findings or {}
    folds = {
        name: fold(table, contracts[name].key, contracts[name].labels)
        for name, table in tables.items()
        if _whole(table, contracts[name])
    }
    broken = {name: table for name, table in tables.items() if name not in folds}
    links = Links({name: table for name, (table, _) in folds.items()}, contracts)
    held = links.held_back()
    validator = validator or Validator()
    outcomes: dict[str, list[Outcome]] = {}
    records: dict[str, list[Record | str]] = {}
    for name in links.order:
        records[name], outcomes[name] = _validate(name, links, held[name], findings.get(name, {}), validator)
    for name, table in broken.items():
        outcomes[name] = _without_columns(name, table, contracts[name], validator)
    reasons = {name: _reasons(name, links, outcomes[name], records[name], findings.get(name, {})) for name in folds}
    for name, row, reason in links.dependants({name: set(found) for name, found in reasons.items()}, held):
        reasons[name].setdefault(row, []).append(("depends_on", reason))
    audits = {}
    for name in contracts:
        if name in folds:
            table, folded = folds[name]
            audits[name] = _collect(
                contracts[name], table, folded, outcomes[name], records[name], reasons[name], held[name]
            )
        elif name in broken:
            why = [("columns", outcomes[name][0].problem or "a column is missing")]
            table = broken[name]
            every = {row: why for row in range(table.num_rows)}
            audits[name] = _collect(contracts[name], table, 0, outcomes[name], [], every, [""] * table.num_rows)
    return AuditOutcome(audits)


def _whole(table: pa.Table, contract: Contract) -> bool:
    return all(column.name in table.column_names for column in contract.columns)


def _validate(
    name: str, links: Links, held: list[str], findings: Mapping[str, Mapping[str, str]], validator: Validator
) -> tuple[list[Record | str], list[Outcome]]:
    contract, table = links.contracts[name], links.tables[name]
    checks = checks_of(contract, tuple(findings))
    released = [row for row, reason in enumerate(held) if not reason]
    records: list[Record | str] = [""] * table.num_rows
    for row, record in zip(released, to_records(take(table, released), name), strict=True):
        records[row] = record
    if not table.num_rows:
        return records, [_empty(check) for check in checks]
    derived = _derived(name, links, held, findings, records)
    outcomes = validator.validate(name, frame_of(table, contract, derived, checks), checks)
    return records, [_with_samples(outcome, links, name, records, findings) for outcome in outcomes]


def _derived(
    name: str,
    links: Links,
    held: list[str],
    findings: Mapping[str, Mapping[str, str]],
    records: Sequence[Record | str],
) -> dict[str, list[Any]]:
    """Return the frame's derived columns; what only a release asks is null for rows that are held back."""
    contract, keys = links.contracts[name], links.texts(name, links.contracts[name].key)
    asked: dict[str, list[bool | None]] = {FITS_RECORD: [not isinstance(record, str) for record in records]}
    asked |= {what: [key not in wrong for key in keys] for what, wrong in findings.items()}
    for constraint in (*contract.columns, *contract.rules):
        if constraint.references:
            columns = (constraint.name,) if isinstance(constraint, ColumnContract) else constraint.columns
            column = reference_column(columns, constraint.references)
            asked[column] = links.leads(name, columns, constraint.references)
    for column, values in asked.items():
        asked[column] = [None if reason else value for value, reason in zip(values, held, strict=True)]
    missing = missing_values(links.tables[name], contract)
    return {IN_RELEASE: [not reason for reason in held], HAS_REQUIRED: [not columns for columns in missing], **asked}


def _with_samples(
    outcome: Outcome, links: Links, name: str, records: list[Record | str], findings: Mapping[str, Mapping[str, str]]
) -> Outcome:
    """Return an outcome over a derived column with samples of what lies behind it."""
    from dataclasses import replace

    check, rows = outcome.check, outcome.rows[:5]
    if check.gate == "reference":
        texts = links.texts(name, check.columns)
        return replace(outcome, samples=tuple(dict.fromkeys(texts[row] for row in rows)))
    if check.gate == "not_null":
        return replace(outcome, samples=("nothing",) if rows else ())
    if check.gate == "required":
        missing = missing_values(links.tables[name], links.contracts[name])
        return replace(outcome, samples=tuple(dict.fromkeys(f"no {missing[row]}" for row in rows)))
    if check.gate == "record_type":
        return replace(outcome, samples=tuple(dict.fromkeys(str(records[row]) for row in rows)))
    if check.gate == "damaged":
        keys = links.texts(name, links.contracts[name].key)
        return replace(outcome, samples=tuple(findings[check.columns[0]][keys[row]] for row in rows))
    return outcome


def _empty(check: Check) -> Outcome:
    """Return the outcome over no rows: every check holds but a minimum of rows."""
    least = int(check.arguments.get("min_value") or 0) if check.gate == "rows" else 0
    return Outcome(check, success=not least, evaluated=0, observed="0 rows" if check.gate == "rows" else "")


def _without_columns(name: str, table: pa.Table, contract: Contract, validator: Validator) -> list[Outcome]:
    """Return the one outcome of a table that lacks a column of the contract: no other check can be asked of it."""
    return validator.validate(name, frame_of(table, contract, {}, ()), checks_of(contract)[:1])


def _reasons(
    name: str,
    links: Links,
    outcomes: list[Outcome],
    records: list[Record | str],
    findings: Mapping[str, Mapping[str, str]],
) -> dict[int, list[tuple[str, str]]]:
    """Return for each row that fails an error the (gate, reason) of each failure."""
    table, keys = links.tables[name], links.texts(name, links.contracts[name].key)
    reasons: dict[int, list[tuple[str, str]]] = {}
    for outcome in outcomes:
        check = outcome.check
        if not outcome.failed or not outcome.rows:
            continue
        missing = missing_values(table, links.contracts[name]) if check.gate == "required" else []
        shown = [column for column in check.columns if column in table.column_names]
        values = key_texts(take(table.select(shown), outcome.rows), shown) if shown else [""] * len(outcome.rows)
        for row, value in zip(outcome.rows, values, strict=True):
            if check.gate == "required":
                reason = f"it has no {missing[row]}"
            elif check.gate == "record_type":
                reason = f"it does not fit its record type: {records[row]}"
            elif check.gate == "damaged":
                reason = findings[check.columns[0]][keys[row]]
            else:
                reason = f"it must hold that {check.text}; found {value[:120]!r}"
            reasons.setdefault(row, []).append((check.gate, reason))
    return reasons


def _collect(
    contract: Contract,
    table: pa.Table,
    folded: int,
    outcomes: list[Outcome],
    records: list[Record | str],
    reasons: Mapping[int, list[tuple[str, str]]],
    held: list[str],
) -> DatasetAudit:
    passed = tuple(row for row in range(table.num_rows) if row not in reasons and not held[row])
    fallen = sorted(reasons)
    key = [name for name in contract.key if name in table.column_names]
    keys = key_texts(table, key) if key else [f"row {row}" for row in range(table.num_rows)]
    rows = take(table, fallen).to_pylist()
    quarantined = tuple(
        Quarantined(
            dataset=contract.dataset,
            part=str(values.pop(PART, "")),
            key=keys[row] or f"row {row}",
            reasons=tuple(reasons[row]),
            row=canonical_json(_finite(values)),
            env_id=str(values.get("env_id") or ""),
        )
        for row, values in zip(fallen, rows, strict=True)
    )
    return DatasetAudit(
        contract=contract,
        rows=table.num_rows,
        folded=folded,
        outcomes=tuple(outcomes),
        quarantined=quarantined,
        held_back=dict(
            sorted(Counter(reason for row, reason in enumerate(held) if reason and row not in reasons).items())
        ),
        passed=passed,
        records=tuple(record for row in passed if isinstance(record := records[row], Record)),
        table=table,
    )


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Return a row that JSON can hold: not-a-number and infinities as their names."""
    return {
        name: repr(value) if isinstance(value, float) and value - value != 0 else value
        for name, value in values.items()
    }
