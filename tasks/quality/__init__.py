"""The quality stage: data contracts, their validation by Great Expectations, quarantine, Data Docs and releases."""

from tasks.quality.audit import AuditOutcome, DatasetAudit, Quarantined, audit_tables
from tasks.quality.contracts import Contract, ContractError, load_contract, load_contracts
from tasks.quality.release import StoreAudit, audit_store, examine, released_rows

__all__ = [
    "STAGE_VERSION",
    "AuditOutcome",
    "Contract",
    "ContractError",
    "DatasetAudit",
    "Quarantined",
    "StoreAudit",
    "audit_store",
    "audit_tables",
    "examine",
    "load_contract",
    "load_contracts",
    "released_rows",
]

STAGE_VERSION = "1"
"""Changes whenever the same data could be judged or shown otherwise."""
