"""The stages that make an environment, each run on a worker, retried, and cached by all that it depends on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from prefect import task
from prefect.context import TaskRunContext

from flows.costs import measured
from flows.discover import theme_hash
from flows.runtime import cache_key, compute, stored
from schemas.base import canonical_json
from schemas.database import Database
from schemas.settings import Settings
from schemas.theme import Theme
from tasks.store import get_blob, open_store, put_blob
from tasks.store.blobs import blob_key

MUTANTS = 4
"""Mutants of each tool that its tests are tried on."""


def put_records(store_uri: str, records: Sequence[Any]) -> str:
    """Keep records as one blob; return its hash."""
    return put_blob(open_store(store_uri), canonical_json([r.model_dump(mode="json") for r in records]).encode())


def get_records(store_uri: str, sha256: str, model: type) -> list[Any]:
    """Return the records that `put_records` kept.

    Raises:
        StoreError: if the blob is missing or damaged.
    """
    import json

    return [model.model_validate(row) for row in json.loads(get_blob(open_store(store_uri), sha256))]


def mine_world(
    store_uri: str, theme: Theme, settings: Settings, rounds: int, guideline: dict[str, Any] | None
) -> dict[str, Any]:
    """Mine a theme's world into blobs; return their hashes, or the rejections of a theme that gives no world.

    Where the role "researcher" has a model, it finds the data, and rules do where it fails. A model that did not
    answer, or was not paid for, leaves the result `unfinished`: a later run tries again.
    """
    from flows.research import KEEP, record_of, researcher
    from tasks.mining import MiningError, mine, open_corpus

    store = open_store(store_uri)
    with measured() as cost:
        try:
            world = mine(
                theme,
                open_corpus(settings.corpus),
                seed=settings.seed,
                rounds=rounds,
                guideline=guideline,
                researcher=researcher(store_uri, settings),
            )
        except MiningError as error:
            rejections = [r.model_dump() for r in error.rejections]
            unfinished = any(r.gate in KEEP for r in error.rejections)
            return {
                "rejected": str(error), "rejections": rejections, "unfinished": unfinished, "made_at": time.time(),
                "cost": cost.as_dict(),
            }  # fmt: skip
    return {
        "env_id": world.database.env_id,
        "name": world.database.name,
        "database": put_blob(store, canonical_json(world.database).encode()),
        "snapshot": put_blob(store, world.snapshot),
        "provenance": put_records(store_uri, world.provenance),
        "sources": put_records(store_uri, world.sources),
        "research": put_records(store_uri, [record_of(store, world, theme.theme_id)]),
        "rejections": [rejection.model_dump() for rejection in world.rejections],
        "unfinished": any(rejection.gate in KEEP for rejection in world.rejections),
        "made_at": time.time(),
        "cost": cost.as_dict(),
    }


def code_tools(store_uri: str, mined: dict[str, Any], theme: Theme, settings: Settings) -> dict[str, Any]:
    """Write an environment's tools and tests, run the tests in the sandbox, and keep what passes.

    Rules write the base; where the role "coder" has a model, it adds tools that serve the theme's operations. A model
    that did not answer, or was not paid for, leaves the result `unfinished`: a later run tries again.
    """
    from flows.models import gateway
    from tasks.coding import add_tools, crosscheck, write_tests, write_tools
    from tasks.sandbox import SandboxWorker, sandbox_strength

    store, seed, models = open_store(store_uri), settings.seed, gateway(store_uri, settings)
    with measured() as cost:
        database = Database.model_validate_json(get_blob(store, mined["database"]))
        snapshot = get_blob(store, mined["snapshot"])
        tools = write_tools(database, seed, snapshot)
        with SandboxWorker() as worker:
            tests = write_tests(database, snapshot, tools, seed)
            results = [crosscheck(database, snapshot, tools, tests, worker, mutants_per_tool=MUTANTS)]
            if models.has("coder"):
                kept = results[0].tools
                results.append(
                    add_tools(
                        database, snapshot, kept, worker, models, theme, seed=seed, mutants_per_tool=MUTANTS
                    )
                )  # fmt: skip
    accepted = [tool for result in results for tool in result.tools]
    rejections = [rejection for result in results for rejection in result.rejections]
    actions = (*database.actions, *(action for result in results for action in result.actions))
    return {
        "database": put_blob(store, canonical_json(database.model_copy(update={"actions": actions})).encode()),
        "tools": put_records(store_uri, accepted),
        "tests": put_records(store_uri, [test for result in results for test in result.tests]),
        "n_tools": len(accepted),
        "rejections": [rejection.model_dump() for rejection in rejections],
        "sandbox": sandbox_strength().name,
        "unfinished": any(rejection.gate in ("model_unreachable", "model_cost") for rejection in rejections),
        "made_at": time.time(),
        "cost": cost.as_dict(),
    }


def _mine_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from flows.research import research_key
    from tasks.mining import STAGE_VERSION

    settings = arguments["settings"]
    return cache_key(
        "mine",
        STAGE_VERSION,
        theme_hash(arguments["theme"]),
        arguments["corpus_sha256"],
        settings.seed,
        arguments["rounds"],
        arguments["guideline"],
        *research_key(settings),
    )


def _code_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from flows.models import model_ids
    from tasks.coding import STAGE_VERSION, TEMPLATES
    from tasks.models import templates_hash

    mined, settings = arguments["mined"], arguments["settings"]
    key = [mined["database"], mined["snapshot"], settings.seed, MUTANTS]
    models = {role: model for role, model in model_ids(settings).items() if role in ("coder", "tester")}
    if "coder" in models:
        key += [models, theme_hash(arguments["theme"]), templates_hash(*TEMPLATES)]
    return cache_key("code", STAGE_VERSION, *key)


@task(
    name="mine",
    task_run_name="mine {theme.theme_id}",
    cache_key_fn=_mine_key,
    persist_result=True,
    result_serializer="json",
    retries=1,
    retry_delay_seconds=2,
)
def mine_task(
    store_uri: str,
    theme: Theme,
    settings: Settings,
    corpus_sha256: str,
    rounds: int,
    guideline: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Run `mine_world` on a worker. `corpus_sha256` is the hash of all data that it may find, for the cache key."""
    return compute(mine_world, store_uri, theme, settings, rounds, guideline)


@task(
    name="code",
    task_run_name="code {theme.theme_id}",
    cache_key_fn=_code_key,
    persist_result=True,
    result_serializer="json",
    retries=1,
    retry_delay_seconds=2,
)
def code_task(store_uri: str, mined: dict[str, Any], theme: Theme, settings: Settings) -> dict[str, Any]:
    """Run `code_tools` on a worker."""
    return compute(code_tools, store_uri, mined, theme, settings)


def _cached(work: Any, store_uri: str, blobs: Sequence[str], *arguments: Any) -> dict[str, Any]:
    """Run a cached stage; a cached result that is unfinished, or whose blobs are gone from the store, is made again.

    Args:
        blobs: the names under which the result holds hashes of blobs.
    """
    objects, began = open_store(store_uri), time.time()
    result = stored(work, store_uri)(*arguments)
    stale = result.get("unfinished", False) and result["made_at"] < began
    if not stale and all(objects.exists(blob_key(result[name])) for name in blobs if name in result):
        return result
    return stored(work, store_uri).with_options(refresh_cache=True)(*arguments)


def mined_world(store_uri: str, *arguments: Any) -> dict[str, Any]:
    """Return what `mine_world` makes, from the cache if nothing that it depends on has changed.

    Args:
        arguments: those of `mine_task` after the store.
    """
    return _cached(
        mine_task, store_uri, ("database", "snapshot", "provenance", "sources", "research"), store_uri, *arguments
    )


def coded_tools(store_uri: str, *arguments: Any) -> dict[str, Any]:
    """Return what `code_tools` makes, from the cache if nothing that it depends on has changed.

    Args:
        arguments: those of `code_task` after the store.
    """
    return _cached(code_task, store_uri, ("database", "tools", "tests"), store_uri, *arguments)
