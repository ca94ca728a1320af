"""Attack all accepted tasks once more, and write down what got through."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.console import bar
from flows.runtime import compute, default_store, run_name, workers
from flows.synthesize import tasks_of
from flows.worlds import load_or_reject
from tasks.store import environment_rows, list_keys, open_store, write_dataset

APART = ("practice", "rubric")
"""Uses whose tasks no red team attacks."""


def attack_environment(store_uri: str, env_id: str, uses: list[str], seed: int) -> dict[str, Any]:
    """Attack an environment's tasks of the given uses, write the survivors and return the counts. A benchmark's own
    tasks, which nobody has attacked yet, are left as they are."""
    from tasks.synthesis import ProbeReport, probe

    store = open_store(store_uri)
    world = load_or_reject(store, env_id, "redteam")
    if world is None:
        return {"env_id": env_id, **asdict(ProbeReport()), "survivors": 0}
    tasks_ = [task_ for task_ in tasks_of(store_uri, *uses) if task_.env_id == env_id and task_.mutants]
    report = probe(world.database, world.snapshot, world.tools, tasks_, seed=seed)
    write_dataset(store, "survivors", f"probe/{env_id}", report.survivors)
    return {"env_id": env_id, **asdict(report), "survivors": len(report.survivors)}


@task(name="attack-environment", task_run_name="attack {env_id}", retries=1, retry_delay_seconds=2)
def attack_task(store_uri: str, env_id: str, uses: list[str], seed: int) -> dict[str, Any]:
    """Run `attack_environment` on a worker."""
    return compute(attack_environment, store_uri, env_id, uses, seed)


def totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums over environments, and kind of wrong episode -> [mutants, killed]."""
    found: dict[str, Any] = {
        name: sum(row[name] for row in rows)
        for name in ("tasks", "oracle", "null", "guess", "mutants", "killed", "survivors")
    }
    found["kill_rate"] = round(found["killed"] / found["mutants"], 6) if found["mutants"] else None
    kinds: dict[str, list[int]] = {}
    for row in rows:
        for kind, (mutants, killed) in row["kinds"].items():
            counts = kinds.setdefault(kind, [0, 0])
            counts[0] += mutants
            counts[1] += killed
    return found | {"kinds": dict(sorted(kinds.items()))}


@flow(name="redteam", flow_run_name=run_name("redteam"))
def redteam(store: str | None = None, seed: int = 101) -> dict[str, Any]:
    """Attack the accepted tasks of all environments with a seed of its own. Returns the totals."""
    uri = open_store(store or default_store()).uri
    objects = open_store(uri)
    uses = sorted({key.partition("/")[0] for key in list_keys(objects, "agent_tasks")})
    uses = [use for use in uses if not use.startswith(APART)]
    rows = environment_rows(objects, "accepted")
    results: list[dict[str, Any]] = []
    with workers(), bar("Attack tasks", len(rows)) as advance:
        for future in [attack_task.submit(uri, row.env_id, uses, seed) for row in rows]:
            results.append(future.result())
            advance(1, f"{sum(r['tasks'] for r in results)} tasks, {sum(r['survivors'] for r in results)} survivors")
    found = totals(results)
    table = [{"kind": kind, "mutants": n, "killed": killed} for kind, (n, killed) in found["kinds"].items()]
    create_table_artifact(key="redteam", table=table, description="Wrong episodes by kind, and how many were refused")
    return found
