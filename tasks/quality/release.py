"""Audit a whole store: validate, quarantine, cut a release from what passed, and publish Data Docs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.arrow import to_table
from schemas.base import Record
from schemas.datasets import DATASETS
from schemas.episode import QualityResult
from schemas.scores import RELEASE, set_scores
from schemas.task import SetScore, Survivor
from tasks.quality.audit import AuditOutcome, DatasetAudit, Quarantined, audit_tables
from tasks.quality.contracts import Contract, load_contracts
from tasks.quality.integrity import find_broken
from tasks.quality.parts import Parts, conform, read_parts
from tasks.quality.validate import Validator
from tasks.store import Store, cut_release, open_store, write_dataset

KEY = "audit"
"""The key of the audit's own parts: `quality_results/audit` and `rejections/audit`."""

OWN = ("set_scores", "rejections", "quality_results")
"""Datasets that the audit itself writes to: validated last, with what it has just found."""


@dataclass(frozen=True)
class StoreAudit:
    """The audit of a store: what was found, the parts as read, what agents without skill score on each set of the
    tasks that passed, and the release that was cut."""

    outcome: AuditOutcome
    parts: Mapping[str, Parts]
    quarantined: tuple[Quarantined, ...]
    results: tuple[QualityResult, ...]
    scores: tuple[SetScore, ...] = ()
    release: str = ""

    @property
    def failed(self) -> int:
        """How many expectations of severity error did not hold, unreadable parts included."""
        failed = sum(outcome.failed for audit in self.outcome.datasets.values() for outcome in audit.outcomes)
        return failed + sum(bool(parts.broken) for parts in self.parts.values())

    def summary(self) -> dict[str, int | str]:
        """Return {rows, quarantined, expectations, failed, warnings, release, survivors, without_skill}.

        `survivors` counts wrong episodes that get full reward in tasks which were kept, `without_skill` says what
        agents without skill score on all tasks of the release.
        """
        outcomes = [outcome for audit in self.outcome.datasets.values() for outcome in audit.outcomes]
        return {
            "rows": sum(audit.rows for audit in self.outcome.datasets.values()),
            "quarantined": len(self.quarantined),
            "expectations": len(self.results),
            "failed": self.failed,
            "warnings": sum(not outcome.success and not outcome.failed for outcome in outcomes),
            "release": self.release,
            "survivors": sum(s.outcome == "kept" for s in survivors_of(self.outcome)),
            "without_skill": ", ".join(f"{s.policy_id} {s.score:.4f}" for s in self.scores if s.set_name == RELEASE),
        }


def audit_store(store_uri: str) -> dict[str, int | str]:
    """Audit a store and write what comes of it; return the summary and where the Data Docs are (`docs`).

    Written are `quality_results`, the audit's `rejections`, `quarantine/<dataset>.parquet`, `docs/*.html` and a
    release. Running it again on unchanged data writes the same bytes and gives the same release.

    Raises:
        ContractError: if a contract is broken.
        StoreError: if the store cannot be used.
    """
    from tasks.quality.docs import render_docs

    store = open_store(store_uri)
    audit = examine(store)
    write_dataset(store, "quality_results", KEY, audit.results)
    write_dataset(store, "set_scores", KEY, audit.scores)
    write_dataset(store, "rejections", KEY, [r for row in audit.quarantined for r in row.rejections()])
    _write_quarantine(store, audit.quarantined)
    audit = replace(audit, release=cut_release(store, released_rows(audit.outcome)))
    pages = render_docs(audit)
    for name, page in pages.items():
        store.put(f"docs/{name}", page.encode())
    for key in list(store.list("docs/")):
        if key.removeprefix("docs/") not in pages:
            store.delete(key)
    return {**audit.summary(), "docs": f"{store.uri}/docs/index.html"}


def examine(store: Store, contracts: Mapping[str, Contract] | None = None) -> StoreAudit:
    """Validate all that a store holds; nothing is written.

    The audit's own output is part of it: rejections and quality results are validated after the other datasets, with
    the rows that this audit adds to them.
    """
    contracts = contracts or load_contracts()
    parts = {name: read_parts(store, name, without=(KEY,) if name in OWN else ()) for name in contracts}
    first = [name for name in contracts if name not in OWN]
    tables = {name: parts[name].table for name in first}
    validator = Validator()
    outcome = audit_tables(tables, contracts, find_broken(store, tables), validator)
    unreadable = [row for name in contracts for row in _unreadable(name, parts[name])]
    results = [*_results(outcome, parts), *(_readable(name, parts[name]) for name in OWN)]
    rejections = [r for row in (*unreadable, *outcome.quarantined) for r in row.rejections()]
    scores = set_scores(outcome.datasets["agent_tasks"].records, RELEASE)  # type: ignore[arg-type]
    own = audit_tables(
        {
            "set_scores": pa.concat_tables([parts["set_scores"].table, _own_rows("set_scores", scores)]),
            "rejections": pa.concat_tables([parts["rejections"].table, _own_rows("rejections", rejections)]),
            "quality_results": pa.concat_tables(
                [parts["quality_results"].table, _own_rows("quality_results", results)]
            ),
        },
        contracts,
        validator=validator,
    )
    audits: dict[str, DatasetAudit] = {name: {**outcome.datasets, **own.datasets}[name] for name in contracts}
    whole = AuditOutcome(audits)
    everything = tuple([*unreadable, *whole.quarantined])
    return StoreAudit(whole, parts, everything, tuple([*results, *own.results]), tuple(scores))


def survivors_of(outcome: AuditOutcome) -> list[Survivor]:
    """Return the wrong or cheap episodes that got full reward: those in tasks that were kept first."""
    order = {"kept": 0, "repaired": 1, "rejected": 2}
    rows: list[Survivor] = list(outcome.datasets["survivors"].records) if "survivors" in outcome.datasets else []  # type: ignore[arg-type]
    return sorted(rows, key=lambda s: (order[s.outcome], s.kind, s.survivor_id))


def released_rows(outcome: AuditOutcome) -> dict[str, Sequence[Record]]:
    """Return the rows of a release: of each released dataset those that passed."""
    return {name: audit.records for name, audit in outcome.datasets.items() if audit.contract.released}


def _own_rows(name: str, records: Sequence[Record]) -> pa.Table:
    dataset = DATASETS[name]
    return conform(to_table(dataset.model, dataset.version, records), name, KEY)


def _results(outcome: AuditOutcome, parts: Mapping[str, Parts]) -> list[QualityResult]:
    return [
        result for name, audit in outcome.datasets.items() for result in (_readable(name, parts[name]), *audit.results)
    ]


def _readable(name: str, parts: Parts) -> QualityResult:
    return QualityResult(
        dataset=name,
        expectation="expect_parts_to_be_readable",
        success=not parts.broken,
        evaluated=parts.count,
        unexpected=len(parts.broken),
        detail="; ".join(f"{key}: {reason}" for key, reason in parts.broken)[:1000],
    )


def _unreadable(name: str, parts: Parts) -> list[Quarantined]:
    return [
        Quarantined(dataset=name, part=key, key=f"part {key}", reasons=(("unreadable_part", reason),))
        for key, reason in parts.broken
    ]


QUARANTINE = pa.schema([(name, pa.string()) for name in ("dataset", "part", "key", "gates", "reasons", "row")])
"""The columns of a quarantine object: `row` is the failed row as JSON text, '' for an unreadable part."""


def _write_quarantine(store: Store, quarantined: Sequence[Quarantined]) -> None:
    """Write the failed rows of each dataset; remove those of datasets that have none any more."""
    rows: dict[str, list[dict[str, str]]] = {}
    for q in quarantined:
        gates, reasons = ", ".join(dict.fromkeys(g for g, _ in q.reasons)), "; ".join(reason for _, reason in q.reasons)
        rows.setdefault(q.dataset, []).append(
            {"dataset": q.dataset, "part": q.part, "key": q.key, "gates": gates, "reasons": reasons, "row": q.row}
        )
    for name in DATASETS:
        place = f"quarantine/{name}.parquet"
        if name in rows:
            sink = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(rows[name], schema=QUARANTINE), sink, compression="zstd")
            store.put(place, sink.getvalue())
        elif store.exists(place):
            store.delete(place)
