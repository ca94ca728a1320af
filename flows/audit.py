"""Audit the store: validate every dataset, quarantine what fails, publish Data Docs and cut a release."""

from __future__ import annotations

from typing import Any

from prefect import flow, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from flows.console import bar
from flows.runtime import compute, default_store, run_name
from tasks.store import open_store, read_dataset


def _summary(outcome: dict[str, Any]) -> str:
    held = outcome["expectations"] - outcome["failed"] - outcome["warnings"]
    return "\n".join(
        (
            f"**Release {outcome['release']}**: "
            + ("every contract holds" if not outcome["failed"] else f"{outcome['failed']} expectations failed"),
            "",
            "| rows | quarantined | expectations held | failed | warnings |",
            "|---|---|---|---|---|",
            f"| {outcome['rows']:,} | {outcome['quarantined']:,} | {held} of {outcome['expectations']} "
            f"| {outcome['failed']} | {outcome['warnings']} |",
            "",
            f"Data Docs: {outcome['docs']}",
        )
    )


@task(name="audit-store", retries=1, retry_delay_seconds=2)
def audit_task(store_uri: str) -> dict[str, Any]:
    """Run `audit_store` on a worker. Never cached: reading the rows is how damage is noticed."""
    from tasks.quality import audit_store

    return compute(audit_store, store_uri)


@flow(name="audit", flow_run_name=run_name("audit"))
def audit(store: str | None = None) -> dict[str, Any]:
    """Validate all datasets; rows that fail are quarantined, and a release is cut from those that pass.

    Returns {rows, quarantined, expectations, failed, warnings, release, docs}: `failed` counts expectations of
    severity error that did not hold, `docs` is the address of the Data Docs' first page.
    """
    uri = open_store(store or default_store()).uri
    with bar("Audit", 1) as advance:
        outcome = audit_task(uri)
        advance(1, f"{outcome['rows']:,} rows, {outcome['quarantined']:,} quarantined, release {outcome['release']}")
    create_table_artifact(
        key="set-scores",
        table=[row.model_dump() for row in read_dataset(open_store(uri), "set_scores", "audit")],
        description="What agents without skill score on each set of tasks",
    )
    create_markdown_artifact(key="audit", markdown=_summary(outcome), description="Outcome of the audit")
    create_link_artifact(key="data-docs", link=outcome["docs"], link_text="Data Docs", description="Data Docs")
    return outcome
