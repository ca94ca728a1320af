"""Import worlds that others made: read a release, convert each world, commit it, and write verified chains for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import TYPE_CHECKING, Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.build import assign_splits
from flows.console import bar
from flows.errors import Refused
from flows.releases import read_worlds
from flows.runtime import cache_key, compute, default_store, run_name, workers
from schemas.base import content_hash
from schemas.environment import Environment, Rejection
from schemas.task import AgentTask
from schemas.theme import Operation, Source, Theme
from tasks.store import commit_environment, open_store, write_dataset

if TYPE_CHECKING:
    from tasks.imports import ForeignWorld, Imported

CHAIN_LENGTHS = {8: 1, 9: 2, 10: 3, 12: 4, 14: 2}
"""Aimed lengths of the verified chains; calls that do not matter are dropped, so that the mean is about 8."""


@dataclass(frozen=True)
class ImportOptions:
    """How worlds are imported: `chains` is how many verified chains are wanted for each."""

    seed: int = 7
    chains: int = 10
    min_calls: int = 6


def theme_of(world: ForeignWorld, source_id: str) -> Theme:
    """Return the theme that an imported world stands for, placed by its release or, if that is silent, by its words."""
    from tasks.taxonomy import classify

    words = [*world.name.lower().split(), *(word for tool in world.tools for word in tool.name.split("_"))]
    theme = Theme(
        theme_id=world.env_id,
        kind="import",
        name=world.name if len(world.name) > 1 else world.folder,
        description=world.description,
        terms=tuple(dict.fromkeys(word for word in words if len(word) > 2))[:40] or (world.folder,),
        operations=tuple(Operation(name=tool.name, description=tool.description) for tool in world.tools),
        source_id=source_id,
        source_uri=world.uri,
        source_version=world.origin,
        source_sha256=world.sha256,
        licence=world.licence,
    )
    placed = classify([theme])[0]
    first, second, third = world.category
    if not first:
        return placed
    own = {"category_l1": first, "category_l2": second or placed.category_l2, "category_l3": third or world.name}
    return placed.model_copy(update=own)


def convert(store_uri: str, world: ForeignWorld, options: ImportOptions) -> dict[str, Any]:
    """Import one world, commit it, and synthesise chains for it; return what became of it."""
    from tasks.imports import import_world
    from tasks.sandbox import SandboxWorker

    with SandboxWorker() as worker:
        done = import_world(world, worker, options.seed, datetime.now(UTC).isoformat(timespec="seconds"))
        _write_findings(store_uri, done)
        row = _commit(store_uri, done, worker.strength.name)
        chains = _chains(store_uri, done, worker, options) if done.database is not None else {}
    faults = Counter(finding.fault for finding in done.findings)
    return {
        "folder": world.folder,
        "env_id": row.env_id,
        "state": row.state,
        "reason": row.reason,
        "test_only": row.split == "test",
        "benchmark": done.benchmark,
        "tools": len(done.tools),
        "tools_given": len(world.tools),
        "described": sum(tool.kind not in ("read", "write") for tool in done.tools),
        "faults": dict(sorted(faults.items())),
        "questions": len(done.questions),
        "questions_usable": sum(question.usable for question in done.questions),
        "probes": done.probes,
        **{"chains": 0, "mean_calls": 0.0, "candidates": 0, "own_tasks": 0, "own_tasks_left_out": {}, **chains},
    }


def _write_findings(store_uri: str, done: Imported) -> None:
    store, key = open_store(store_uri), done.world.env_id
    write_dataset(store, "import_findings", key, done.findings)
    write_dataset(store, "imported_questions", key, done.questions)
    write_dataset(store, "rejections", f"import-{key}", done.rejections)


def _source(done: Imported) -> Source:
    if done.sources:
        return done.sources[0]
    world = done.world
    return Source(
        source_id=content_hash([world.uri, world.origin, world.sha256])[:16], uri=world.uri, version=world.origin,
        sha256=world.sha256, retrieved_at=datetime.now(UTC).isoformat(timespec="seconds"), licence=world.licence,
        title=world.name,
    )  # fmt: skip


def _commit(store_uri: str, done: Imported, sandbox: str) -> Environment:
    """Write the world's theme, source and environment; a world that gave no environment is recorded as rejected."""
    from tasks.imports import STAGE_VERSION

    store, world, source = open_store(store_uri), done.world, _source(done)
    theme = theme_of(world, source.source_id)
    write_dataset(store, "themes", f"import-{world.env_id}", [theme])
    row = Environment(
        env_id=world.env_id,
        theme_id=theme.theme_id,
        name=world.name,
        category_l1=theme.category_l1,
        category_l2=theme.category_l2,
        state="accepted",
        build_key=cache_key("import", STAGE_VERSION, world.sha256),
        sandbox=sandbox,
        split="test" if done.test_only else "",
        origin=world.origin,
    )
    if done.database is None:
        reason = done.rejections[-1].reason if done.rejections else "nothing could be imported"
        row = row.model_copy(update={"state": "rejected", "reason": reason})
        write_dataset(store, "sources", world.env_id, [source])
        write_dataset(store, "environments", world.env_id, [row])
        return row
    return commit_environment(
        store, row, done.database, done.snapshot, done.tools, done.tests, done.provenance, [source]
    )


def _chains(store_uri: str, done: Imported, worker: Any, options: ImportOptions) -> dict[str, Any]:
    """Synthesise verified chains by the same pipeline as for native environments; a benchmark's own tasks come first,
    and all of its tasks are for measuring."""
    from tasks.imports import reference_tasks
    from tasks.synthesis import synthesize

    if done.database is None:
        return {}
    store, use = open_store(store_uri), "test" if done.test_only else "imported"
    own, left_out = reference_tasks(done, worker, options.seed) if done.world.origin == "tau2" else ((), ())
    chains: list[AgentTask] = []
    rejections, candidates = list(left_out), 0
    if options.chains:
        result = synthesize(
            done.database, done.snapshot, done.tools, seed=options.seed, n=options.chains, kinds=("graph",),
            min_calls=options.min_calls, lengths=CHAIN_LENGTHS, worker=worker,
        )  # fmt: skip
        chains = [task_.model_copy(update={"split": use}) for task_ in result.tasks]
        rejections += result.rejections
        candidates = result.stats["candidates"]
    write_dataset(store, "agent_tasks", f"{use}/{done.database.env_id}", [*own, *chains])
    write_dataset(store, "rejections", f"tasks-{use}-{done.database.env_id}", rejections)
    calls = [task_.oracle_calls for task_ in chains]
    return {
        "chains": len(chains),
        "mean_calls": round(fmean(calls), 2) if calls else 0.0,
        "candidates": candidates,
        "own_tasks": len(own),
        "own_tasks_left_out": dict(sorted(Counter(row.gate for row in left_out).items())),
    }


@task(name="import-world", task_run_name="import {world.folder}")
def convert_task(store_uri: str, world: ForeignWorld, options: ImportOptions) -> dict[str, Any]:
    """Run `convert` on a worker; what breaks is recorded and does not fail the others."""
    try:
        return compute(convert, store_uri, world, options)
    except Exception as error:  # recorded; the other worlds go on
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
        failure = Rejection(stage="import", key=world.folder, gate="failed", reason=reason, env_id=world.env_id)
        write_dataset(open_store(store_uri), "rejections", f"import-{world.env_id}", [failure])
        return {"folder": world.folder, "env_id": world.env_id, "state": "failed", "reason": reason, "chains": 0,
                "tools": 0, "tools_given": len(world.tools), "faults": {}, "mean_calls": 0.0}  # fmt: skip


@flow(name="import", flow_run_name=run_name("import"))
def import_worlds(
    kind: str,
    path: str,
    store: str | None = None,
    seed: int = 7,
    chains: int = 10,
    licence: str = "",
    only: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Import the worlds below a path; one that fails never fails the others.

    Args:
        kind: "agent-world" or "tau2".
        chains: verified chains wanted for each world; 0: none.
        licence: SPDX expression, where the release does not say.
        only: folders that start with one of these; empty: all.
    """
    uri = open_store(store or default_store()).uri
    worlds = [w for w in read_worlds(kind, path, licence) if not only or w.folder.startswith(tuple(only))]
    if not worlds:
        raise Refused(f"{path} holds no world whose folder starts with {' or '.join(only)}")
    options = ImportOptions(seed=seed, chains=chains)
    results: list[dict[str, Any]] = []
    with workers(), bar("Import worlds", len(worlds)) as advance:
        futures = [convert_task.submit(uri, world, options) for world in worlds]
        for future in futures:
            results.append(future.result())
            accepted = sum(r["state"] == "accepted" for r in results)
            advance(1, f"{accepted} accepted, {sum(r['chains'] for r in results)} verified chains")
    assign_splits(uri, seed)
    table = [{k: str(v) for k, v in r.items()} for r in results]
    create_table_artifact(key="imports", table=table, description="What became of each imported world")
    return results


def table_lines(results: Sequence[dict[str, Any]]) -> list[str]:
    """Return the report as lines of text: one a world, then the faults and the yield."""
    lines = [f"{'environment':<46} {'state':<9} {'tools':>7} {'chains':>6} {'calls':>6}  faults"]
    for r in results:
        faults = ", ".join(f"{name} {count}" for name, count in r["faults"].items()) or "none"
        mark = f" [{r['benchmark'] or 'test only'}]" if r.get("test_only") else ""
        lines.append(
            f"{r['env_id']:<46} {r['state']:<9} {r['tools']:>3}/{r['tools_given']:<3} {r['chains']:>6}"
            f" {r['mean_calls']:>6.2f}  {faults}{mark}"
        )
        if r["reason"]:
            lines.append(f"    {r['reason']}")
        if r.get("own_tasks") or r.get("own_tasks_left_out"):
            left_out = ", ".join(f"{name} {count}" for name, count in r["own_tasks_left_out"].items()) or "none"
            lines.append(f"    {r['own_tasks']} of its own tasks execute; left out: {left_out}")
    accepted = [r for r in results if r["state"] == "accepted"]
    yielding = [r for r in accepted if r["chains"]]
    calls = [r["mean_calls"] * r["chains"] for r in yielding]
    total = sum(r["chains"] for r in yielding)
    share = len(yielding) / len(accepted) if accepted else 0.0
    mean = sum(calls) / total if total else 0.0
    lines.append(
        f"{len(accepted)} of {len(results)} accepted; {len(yielding)} of them ({share:.0%}) give verified chains:"
        f" {total} of {mean:.2f} calls on average"
    )
    return lines
