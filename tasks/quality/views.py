"""What the Data Docs show, computed from an audit: one view a page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.datasets import DATASETS
from tasks.quality.audit import AuditOutcome, DatasetAudit, Quarantined
from tasks.quality.contracts import ColumnContract
from tasks.quality.observed import observed
from tasks.quality.release import StoreAudit
from tasks.quality.validate import Outcome

MOST_ROWS = 50
"""Quarantined rows that a page shows; all are in the quarantine object."""
MOST_SOURCES = 40


@dataclass(frozen=True)
class ColumnView:
    """A column of a contract, what must hold of it, and what it holds."""

    column: ColumnContract
    constraints: tuple[str, ...]
    observed: str


@dataclass(frozen=True)
class DatasetView:
    """One dataset's page."""

    audit: DatasetAudit
    parts: int
    broken: tuple[tuple[str, str], ...]
    columns: tuple[ColumnView, ...]
    outcomes: tuple[Outcome, ...]
    quarantined: tuple[Quarantined, ...]

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.audit.contract.dataset

    @property
    def shown(self) -> tuple[Quarantined, ...]:
        """The quarantined rows that the page shows: those with a fault of their own first."""
        return tuple(sorted(self.quarantined, key=lambda row: row.reasons[0][0] == "depends_on"))[:MOST_ROWS]

    @property
    def held(self) -> int:
        """How many expectations held."""
        return sum(outcome.success for outcome in self.outcomes) + (not self.broken)

    @property
    def total(self) -> int:
        """How many expectations there are; that the parts are readable is one."""
        return len(self.outcomes) + 1

    @property
    def failed(self) -> int:
        """How many expectations of severity error did not hold."""
        return sum(outcome.failed for outcome in self.outcomes) + bool(self.broken)

    @property
    def warnings(self) -> int:
        """How many expectations of severity warning did not hold."""
        return self.total - self.held - self.failed

    @property
    def held_back(self) -> int:
        """How many rows stay out of releases without being wrong."""
        return sum(self.audit.held_back.values())

    @property
    def in_release(self) -> int:
        """How many rows the release holds."""
        return len(self.audit.passed) if self.audit.contract.released else 0


@dataclass(frozen=True)
class OriginView:
    """Rows of an environment that came from one source in one way."""

    uri: str
    licence: str
    transform: str
    tables: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class EnvironmentView:
    """One environment: its row, the rows of each dataset that belong to it, and where its data came from."""

    env_id: str
    name: str
    state: str
    reason: str
    category: str
    split: str
    counts: tuple[tuple[str, int, int, int], ...]
    origins: tuple[OriginView, ...]
    more_origins: int


def dataset_views(audit: StoreAudit) -> list[DatasetView]:
    """Return the views of all datasets."""
    fallen: dict[str, list[Quarantined]] = defaultdict(list)
    for row in audit.quarantined:
        fallen[row.dataset].append(row)
    views = []
    for name, found in audit.outcome.datasets.items():
        order = sorted(found.outcomes, key=lambda o: (not o.failed, o.success))
        parts = audit.parts[name]
        views.append(DatasetView(found, parts.count, parts.broken, _columns(found), tuple(order), tuple(fallen[name])))
    return views


def _columns(found: DatasetAudit) -> tuple[ColumnView, ...]:
    constraints: dict[str, list[str]] = defaultdict(list)
    for outcome in found.outcomes:
        check = outcome.check
        if check.gate in ("unique", "json", "damaged"):
            continue
        for name in check.columns[:1]:
            mark = " (warning)" if check.severity == "warning" else ""
            constraints[name].append(check.text.removeprefix(f"{name} ") + mark)
    return tuple(
        ColumnView(column, tuple(constraints[column.name]), observed(found.table, column))
        for column in found.contract.columns
    )


def environment_views(outcome: AuditOutcome) -> list[EnvironmentView]:
    """Return the environments, accepted ones first, with what belongs to each."""
    if "environments" not in outcome.datasets:
        return []
    counts = _counts(outcome)
    origins = _origins(outcome)
    wanted = ["env_id", "name", "state", "reason", "category_l1", "split"]
    table = outcome.datasets["environments"].table
    if any(name not in table.column_names for name in wanted):
        return []
    views = []
    for row in table.select(wanted).to_pylist():
        row = {name: value or "" for name, value in row.items()}
        found = origins.get(row["env_id"], [])
        views.append(
            EnvironmentView(
                env_id=row["env_id"], name=row["name"], state=row["state"], reason=row["reason"],
                category=row["category_l1"], split=row["split"],
                counts=tuple((name, *counts[name].get(row["env_id"], (0, 0, 0))) for name in counts),
                origins=tuple(found[:MOST_SOURCES]), more_origins=max(0, len(found) - MOST_SOURCES),
            )
        )  # fmt: skip
    return sorted(views, key=lambda view: (view.state != "accepted", view.name.casefold(), view.env_id))


def _counts(outcome: AuditOutcome) -> dict[str, dict[str, tuple[int, int, int]]]:
    """Return dataset -> env_id -> (rows, rows in the release, quarantined rows)."""
    found: dict[str, dict[str, tuple[int, int, int]]] = {}
    for name, audit in outcome.datasets.items():
        if name == "environments" or "env_id" not in DATASETS[name].model.model_fields:
            continue
        if "env_id" not in audit.table.column_names or name == "model_calls":
            continue
        ids = audit.table.column("env_id").to_pylist()
        rows, passed = Counter(ids), Counter(ids[row] for row in audit.passed)
        fallen = Counter(row.env_id for row in audit.quarantined)
        found[name] = {env_id: (rows[env_id], passed[env_id], fallen[env_id]) for env_id in rows if env_id}
    return found


def _origins(outcome: AuditOutcome) -> dict[str, list[OriginView]]:
    if not {"provenance", "sources"} <= outcome.datasets.keys():
        return {}
    sources: Mapping[str, Sequence[str]] = {
        s.source_id: (s.uri, s.licence) for s in outcome.datasets["sources"].records
    }  # type: ignore[attr-defined]
    groups: Counter[tuple[str, str, str]] = Counter()
    tables: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in outcome.datasets["provenance"].records:
        place = (row.env_id, row.source_id, row.transform)  # type: ignore[attr-defined]
        groups[place] += 1
        tables[place].add(row.table_name)  # type: ignore[attr-defined]
    found: dict[str, list[OriginView]] = defaultdict(list)
    for (env_id, source_id, transform), rows in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        uri, licence = sources.get(source_id, (source_id, ""))
        names = tuple(sorted(tables[env_id, source_id, transform]))
        found[env_id].append(OriginView(uri, licence, transform, names, rows))
    return found
