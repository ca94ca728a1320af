"""The whole loop: discover, build, synthesise, train, arena, regenerate, audit, report."""

from __future__ import annotations

import datetime
from typing import Any

from prefect import flow

from flows.audit import audit
from flows.build import build
from flows.costs import Meter
from flows.discover import discover
from flows.report import gather, write_report
from flows.runtime import default_store, run_name, workers
from flows.synthesize import synthesize
from schemas.settings import DEFAULTS, Settings
from tasks.policies import MissingTraining, require
from tasks.store import open_store


def training_missing() -> str:
    """Return '' if this machine can train, else the sentence that says how it could."""
    try:
        require("torch", "accelerate", "safetensors")
    except MissingTraining as error:
        return str(error)
    return ""


def _count(results: list[dict[str, Any]]) -> int:
    return sum(sum(r["made"].values()) for r in results)


@flow(name="run", flow_run_name=run_name("run"))
def run(store: str | None = None, settings: Settings = DEFAULTS, run_id: str = "scheduled") -> dict[str, Any]:
    """Run the loop once over a store. What is there already, and whose inputs have not changed, is not made again.

    Returns {missing: sentences on parts that could not run, builds: counts by state, evolution: the last round or None,
    audit, stages: costs, peak_mb, started_at, report: its address}.
    """
    uri = open_store(store or default_store()).uri
    meter = Meter()
    missing: list[str] = []
    started_at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    outcome: dict[str, Any] = {"missing": missing, "evolution": None, "started_at": started_at}
    with meter.running(), workers():
        with meter.stage("Discover") as stage:
            stage.items = len(discover(uri, settings))
        with meter.stage("Build") as stage:
            builds = build(uri, settings)
            stage.items = sum(b["state"] == "accepted" for b in builds)
        states = [b["state"] for b in builds]
        outcome["builds"] = {state: states.count(state) for state in ("accepted", "rejected", "failed")}
        with meter.stage("Synthesise") as stage:
            stage.items = _count(synthesize(uri, settings))
        if note := training_missing():
            missing.append(note)
        elif not stage.items:
            missing.append("No task was accepted, so there was nothing to train on: see the rejections.")
        else:
            from flows.arena import arena
            from flows.regenerate import regenerate
            from flows.train import train

            with meter.stage("Train") as stage:
                stage.items = train(uri, settings)["episodes"]
            with meter.stage("Arena") as stage:
                found = arena(uri, settings)
                stage.items = found["attempts"]
            if found["weaknesses"]:
                with meter.stage("Regenerate") as stage:
                    outcome["evolution"] = regenerate(uri, settings, found["round"])
                    stage.items = sum(outcome["evolution"]["new_tasks"].values())
        with meter.stage("Audit") as stage:
            outcome["audit"] = audit(uri)
            stage.items = outcome["audit"]["rows"]
    outcome["stages"] = [stage.as_dict() for stage in meter.stages]
    outcome["peak_mb"] = round(meter.peak_mb)
    data = gather(uri, settings, run_id, started_at, outcome["stages"], missing)
    outcome["report"] = write_report(data, uri)
    return outcome
