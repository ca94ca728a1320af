"""Start a run from the command line: skip it when nothing has changed, and end with report, table and next steps."""

from __future__ import annotations

import json
import time
from typing import Any

from flows.console import console, out
from flows.holdings import changes, holdings
from schemas.base import canonical_json, content_hash
from schemas.settings import Settings, is_quick
from tasks.report import ReportData
from tasks.store import open_store


def inputs_hash(settings: Settings) -> str:
    """Return the hash of all that decides what a run makes: settings, sources, data, stage versions, models."""
    from flows.models import model_ids
    from flows.run import training_missing
    from tasks import arena, coding, mining, synthesis, themes

    found = themes.collect(None if settings.embedded else (), extra_paths=settings.specs)
    versions = [stage.STAGE_VERSION for stage in (arena, coding, mining, synthesis)]
    models = model_ids(settings)
    return content_hash(
        [
            settings.model_dump(mode="json", exclude={"models", "max_cost", "research"}),
            [theme.model_dump(mode="json") for theme in found.themes],
            mining.corpus_fingerprint(settings.corpus),
            versions,
            training_missing(),
            *([models, settings.research.model_dump(mode="json")] if models else []),
        ]
    )


def launch_run(store: str, settings: Settings, *, force: bool = False, quiet: bool = False) -> dict[str, Any]:
    """Run the loop unless this store has already run it with the same inputs; return the run's record.

    The record {run_id, ok, unchanged, report, wall_s, peak_mb, builds, evolution, missing, held, ...} is kept under
    `runs/`. For a run that is done already, `changed_since` says what other commands have changed in the store since.

    Raises:
        StoreError: if the store cannot be used.
    """
    began = time.monotonic()
    objects = open_store(store)
    with console.status("Reading sources"):
        run_id = inputs_hash(settings)[:12]
    key = f"runs/{run_id}.json"
    if objects.exists(key) and not force:
        record = json.loads(objects.get(key))
        if record["ok"]:
            return _unchanged(objects.uri, record, began, quiet)
    return _run(objects.uri, settings, key, run_id, began, quiet)


def _unchanged(store_uri: str, record: dict[str, Any], began: float, quiet: bool) -> dict[str, Any]:
    """Say that the inputs are those of a run that is done, and what other commands have done to its store since."""
    now = holdings(store_uri)
    since = changes(record["held"], now) if "held" in record else []
    if not quiet:
        done = f"run {record['run_id']} ({record['started_at']})"
        seconds = f"{time.monotonic() - began:.1f} s; --force runs again"
        if not since:
            out.print(f"Nothing has changed since {done}: no work was done.", markup=False, soft_wrap=True)
            out.print(f"Report: {record['report']}   ({seconds})", markup=False, soft_wrap=True)
        else:
            out.print(
                f"The inputs are those of {done}, so no work was done; but other commands have worked on the store "
                f"since: {'; '.join(since)}.",
                markup=False, soft_wrap=True,
            )  # fmt: skip
            drawn = record.get("reported")
            shows = "drawn again since" if drawn == now else "older than that" if drawn else "it shows the run's state"
            if drawn != now:
                from flows.report import place_of

                shows += f"; `agentworld report --store {place_of(store_uri)}` draws it again"
            out.print(f"Report: {record['report']}   ({shows}; {seconds})", markup=False, soft_wrap=True)
    return {**record, "unchanged": not since, "changed_since": since}


def _run(store_uri: str, settings: Settings, key: str, run_id: str, began: float, quiet: bool) -> dict[str, Any]:
    with console.status("Starting Prefect"):
        from flows.run import run
    outcome = run(store_uri, settings, run_id)
    from flows.report import gather, headline

    data = gather(store_uri, settings, run_id, outcome["started_at"], outcome["stages"], outcome["missing"])
    capped = any(rejection.gate == "model_cost" for rejection in data.rejections)
    if capped:
        outcome["missing"].append("Models stopped at --max-cost, and rules did the rest: raise it and run again.")
    record = {
        "run_id": run_id,
        "ok": not outcome["builds"]["failed"] and not capped,
        "unchanged": False,
        "wall_s": round(time.monotonic() - began, 1),
        "rates": headline(data),
        "seed": settings.seed,
        "quick": is_quick(settings),
        "held": holdings(store_uri),
        **outcome,
    }
    open_store(store_uri).put(key, canonical_json(record).encode())
    if not quiet:
        _show(record, data)
    return record


def _show(record: dict[str, Any], data: ReportData) -> None:
    from tasks.report import summary_table

    out.print()
    out.print(summary_table(data))
    for sentence in record["missing"]:
        out.print(f"Missing: {sentence}", markup=False, soft_wrap=True)
    out.print(
        f"\n{record['wall_s']:.0f} s, at most {record['peak_mb']} MiB. Report: {record['report']}", soft_wrap=True
    )
    out.print("Next:")
    for command in data.next_commands:
        out.print(f"  {command}", markup=False, soft_wrap=True)
