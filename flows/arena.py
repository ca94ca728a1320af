"""The arena: evaluate the current policy on fresh tasks, diagnose its weak environments, and say so by an event."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.events import emit_event

from flows.evaluation import evaluate_policies, trajectories_of
from flows.policies import current_policy
from flows.runtime import default_store, run_name, workers
from flows.synthesize import kinds_in_turn, per_environment, run_synthesis, tasks_of
from schemas.base import canonical_json
from schemas.episode import ArenaResult, Diagnosis
from schemas.settings import DEFAULTS, Settings
from tasks.store import Store, environment_rows, list_keys, open_store, write_dataset

WEAKNESS = "agentworld.weakness.found"
"""The event that starts a regeneration; its payload is {store, round, settings, environments}."""

_ROUND = "arena/round.json"


def present_round(store: Store) -> int:
    """Return the number of the loop's present round: 0 until a regeneration has ended."""
    return int(json.loads(store.get(_ROUND))["round"]) if store.exists(_ROUND) else 0


def set_round(store: Store, number: int) -> None:
    """Begin a round."""
    store.put(_ROUND, canonical_json({"round": number}).encode())


def ensure_tasks(store_uri: str, number: int, settings: Settings, diagnosis: bool = True) -> None:
    """Synthesise the round's arena tasks, and those for its diagnosis, where an environment has none yet.

    Held-out environments get arena tasks only. Each round's tasks differ from all that were made before.
    """
    store = open_store(store_uri)
    have = set(list_keys(store, "agent_tasks"))
    rows = [
        row for row in environment_rows(store, "accepted") if row.split in ("train", "held_out") and not row.lineage
    ]
    train = sum(row.split == "train" for row in rows)
    jobs: dict[str, dict[str, int]] = {}
    for row in rows:
        uses = {f"arena-{number}": per_environment(settings.arena_tasks, len(rows))}
        if row.split == "train" and diagnosis:
            uses[f"diagnosis-{number}"] = per_environment(settings.diagnosis_tasks, train)
        missing = {use: count for use, count in uses.items() if f"{use}/{row.env_id}" not in have}
        if missing:
            jobs[row.env_id] = missing
    if jobs:
        seed = settings.seed + 100_000 * (number + 1)
        options = {env_id: {"kinds": kinds_in_turn(settings.long_share)} for env_id in jobs}
        run_synthesis(store_uri, f"Arena tasks of round {number}", jobs, seed, options, settings)


def diagnose_round(store_uri: str, number: int, settings: Settings) -> list[Diagnosis]:
    """Evaluate the current policy on the round's diagnosis tasks and write ranked diagnoses with guidelines."""
    from tasks.arena import diagnose

    store = open_store(store_uri)
    run = current_policy(store_uri)
    use = f"diagnosis-{number}"
    results = evaluate_policies(
        store_uri,
        f"Diagnosis of round {number}",
        use,
        [("before", run)],
        round_number=number,
        purpose="diagnosis",
        settings=settings,
    )["before"]
    diagnoses = diagnose(
        results,
        trajectories_of(store_uri, results),
        tasks_of(store_uri, use),
        environment_rows(store, "accepted"),
        round=number,
        top=settings.weak_environments,
        n_tasks=settings.targeted_tasks,
    )
    write_dataset(store, "diagnoses", f"round-{number}", diagnoses)
    return diagnoses


def arena_round(store_uri: str, number: int, settings: Settings) -> list[ArenaResult]:
    """Evaluate the current policy on the round's arena tasks, which neither training nor diagnosis has seen."""
    return evaluate_policies(
        store_uri,
        f"Arena of round {number}",
        f"arena-{number}",
        [("before", current_policy(store_uri))],
        round_number=number,
        purpose="arena",
        settings=settings,
    )["before"]


def _describe(diagnoses: Sequence[Diagnosis]) -> str:
    lines = ["| rank | environment | success | weakness |", "|---|---|---|---|"]
    lines += [f"| {d.rank} | {d.env_id} | {d.success_rate:.0%} of {d.attempts} | {d.weakness} |" for d in diagnoses]
    return "\n".join(lines)


def _arena(store: str | None = None, settings: Settings = DEFAULTS) -> dict[str, Any]:
    """Run the present round's arena and diagnosis; emit the event that starts a regeneration if it finds weakness."""
    uri = open_store(store or default_store()).uri
    number = present_round(open_store(uri))
    run = current_policy(uri)
    ensure_tasks(uri, number, settings)
    diagnoses = diagnose_round(uri, number, settings)
    results = arena_round(uri, number, settings)
    create_table_artifact(
        key="arena",
        table=[{"split": split, "success": sum(r.success for r in results if r.environment_split == split),
                "attempts": sum(r.environment_split == split for r in results)} for split in ("train", "held_out")],
        description=f"Round {number}, policy {run.policy_id}",
    )  # fmt: skip
    create_markdown_artifact(key="diagnosis", markdown=_describe(diagnoses))
    if diagnoses:
        emit_event(
            event=WEAKNESS,
            resource={"prefect.resource.id": f"agentworld.policy.{run.policy_id}"},
            payload={
                "store": uri,
                "round": number,
                "settings": settings.model_dump(mode="json"),
                "environments": [d.env_id for d in diagnoses],
            },
        )
    return {
        "round": number,
        "policy_id": run.policy_id,
        "attempts": len(results),
        "successes": sum(r.success for r in results),
        "weaknesses": [f"{d.rank}. {d.env_id}: {d.weakness}" for d in diagnoses],
    }


@flow(name="arena", flow_run_name=run_name("arena"))
def arena(store: str | None = None, settings: Settings = DEFAULTS) -> dict[str, Any]:
    """Run the present round's arena and diagnosis; emit the event that starts a regeneration if it finds weakness."""
    with workers():
        return _arena(store, settings)
