"""Build environments: mine a theme's world, write and test its tools, commit. Each stage is cached by its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.context import TaskRunContext

from flows.console import bar
from flows.costs import measured
from flows.discover import selected_themes, theme_hash
from flows.inputs import check_paths
from flows.remembered import like_before, like_last, recall, remember
from flows.runtime import cache_key, compute, default_store, run_name, stored, workers
from schemas.base import canonical_json
from schemas.database import Database
from schemas.environment import Environment, Rejection
from schemas.settings import DEFAULTS, Settings
from schemas.theme import Provenance, Source, Theme
from schemas.tool import Tool, ToolTest
from tasks.store import (
    commit_environment,
    environment_rows,
    get_blob,
    load_environment,
    open_store,
    put_blob,
    read_dataset,
    write_dataset,
)
from tasks.store.blobs import blob_key
from tasks.store.datasets import dataset_key


def _put_records(store_uri: str, records: Sequence[Any]) -> str:
    return put_blob(open_store(store_uri), canonical_json([r.model_dump(mode="json") for r in records]).encode())


def _get_records(store_uri: str, sha256: str, model: type) -> list[Any]:
    import json

    return [model.model_validate(row) for row in json.loads(get_blob(open_store(store_uri), sha256))]


def mine_world(
    store_uri: str,
    theme: Theme,
    corpus: tuple[str, ...],
    seed: int,
    rounds: int,
    guideline: dict[str, Any] | None,
) -> dict[str, Any]:
    """Mine a theme's world into blobs; return their hashes, or the rejections of a theme that gives no world."""
    from tasks.mining import MiningError, mine, open_corpus

    store = open_store(store_uri)
    with measured() as cost:
        try:
            world = mine(theme, open_corpus(corpus), seed=seed, rounds=rounds, guideline=guideline)
        except MiningError as error:
            rejections = [r.model_dump() for r in error.rejections]
            return {"rejected": str(error), "rejections": rejections, "cost": cost.as_dict()}
    return {
        "env_id": world.database.env_id,
        "name": world.database.name,
        "database": put_blob(store, canonical_json(world.database).encode()),
        "snapshot": put_blob(store, world.snapshot),
        "provenance": _put_records(store_uri, world.provenance),
        "sources": _put_records(store_uri, world.sources),
        "rejections": [rejection.model_dump() for rejection in world.rejections],
        "cost": cost.as_dict(),
    }


def code_tools(store_uri: str, mined: dict[str, Any], seed: int) -> dict[str, Any]:
    """Write an environment's tools and tests, run the tests in the sandbox, and keep what passes."""
    from tasks.coding import crosscheck, write_tests, write_tools
    from tasks.sandbox import SandboxWorker, sandbox_strength

    store = open_store(store_uri)
    with measured() as cost:
        database = Database.model_validate_json(get_blob(store, mined["database"]))
        snapshot = get_blob(store, mined["snapshot"])
        tools = write_tools(database, seed, snapshot)
        with SandboxWorker() as worker:
            tests = write_tests(database, snapshot, tools, seed)
            result = crosscheck(database, snapshot, tools, tests, worker, mutants_per_tool=MUTANTS)
    return {
        "tools": _put_records(store_uri, result.tools),
        "tests": _put_records(store_uri, result.tests),
        "n_tools": len(result.tools),
        "rejections": [rejection.model_dump() for rejection in result.rejections],
        "sandbox": sandbox_strength().name,
        "cost": cost.as_dict(),
    }


def _mine_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from tasks.mining import STAGE_VERSION

    return cache_key(
        "mine",
        STAGE_VERSION,
        theme_hash(arguments["theme"]),
        arguments["corpus_sha256"],
        arguments["seed"],
        arguments["rounds"],
        arguments["guideline"],
    )


def _code_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from tasks.coding import STAGE_VERSION

    mined = arguments["mined"]
    return cache_key("code", STAGE_VERSION, mined["database"], mined["snapshot"], arguments["seed"])


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
    corpus: tuple[str, ...],
    corpus_sha256: str,
    seed: int,
    rounds: int,
    guideline: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Run `mine_world` on a worker. `corpus_sha256` is the hash of all data that it may find, for the cache key."""
    return compute(mine_world, store_uri, theme, corpus, seed, rounds, guideline)


@task(
    name="code",
    task_run_name="code {theme_id}",
    cache_key_fn=_code_key,
    persist_result=True,
    result_serializer="json",
    retries=1,
    retry_delay_seconds=2,
)
def code_task(store_uri: str, theme_id: str, mined: dict[str, Any], seed: int) -> dict[str, Any]:
    """Run `code_tools` on a worker."""
    return compute(code_tools, store_uri, mined, seed)


def _cached(work: Any, store_uri: str, blobs: Sequence[str], *arguments: Any) -> dict[str, Any]:
    """Run a cached stage; a cached result whose blobs are gone from the store is made again.

    Args:
        blobs: the names under which the result holds hashes of blobs.
    """
    objects = open_store(store_uri)
    result = stored(work, store_uri)(*arguments)
    if all(objects.exists(blob_key(result[name])) for name in blobs if name in result):
        return result
    return stored(work, store_uri).with_options(refresh_cache=True)(*arguments)


def _mined(store_uri: str, *arguments: Any) -> dict[str, Any]:
    return _cached(mine_task, store_uri, ("database", "snapshot", "provenance", "sources"), store_uri, *arguments)


def _coded(store_uri: str, *arguments: Any) -> dict[str, Any]:
    return _cached(code_task, store_uri, ("tools", "tests"), store_uri, *arguments)


MUTANTS = 4
"""Mutants of each tool that its tests are tried on."""

MINIMUM_TOOLS = 8
"""An environment with fewer accepted tools is rejected."""


def _commit(
    store_uri: str, theme: Theme, mined: dict[str, Any], coded: dict[str, Any], parent: Environment | None = None
) -> Environment:
    store = open_store(store_uri)
    env_id = mined["env_id"]
    rejections = [Rejection.model_validate(r) for r in (*mined["rejections"], *coded["rejections"])]
    few = f"{coded['n_tools']} accepted tools, at least {MINIMUM_TOOLS} are needed"
    if coded["n_tools"] < MINIMUM_TOOLS:
        rejections.append(Rejection(stage="build", key=env_id, gate="too_few_tools", reason=few, env_id=env_id))
    write_dataset(store, "rejections", f"build-{env_id if parent else theme.theme_id}", rejections)
    row = Environment(
        env_id=env_id,
        theme_id=theme.theme_id,
        name=mined["name"],
        category_l1=theme.category_l1,
        category_l2=theme.category_l2,
        state="accepted",
        build_key=cache_key("build", "1", mined, coded),
        lineage=parent.env_id if parent else "",
        split=parent.split if parent else "",
        sandbox=coded["sandbox"],
    )
    if coded["n_tools"] < MINIMUM_TOOLS:
        row = row.model_copy(update={"state": "rejected", "reason": few})
        write_dataset(store, "environments", env_id, [row])
        return row
    if parent is None:
        store.delete(dataset_key("environments", unbuilt_id(theme)))
    return commit_environment(
        store,
        row,
        Database.model_validate_json(get_blob(store, mined["database"])),
        get_blob(store, mined["snapshot"]),
        _get_records(store_uri, coded["tools"], Tool),
        _get_records(store_uri, coded["tests"], ToolTest),
        _get_records(store_uri, mined["provenance"], Provenance),
        _get_records(store_uri, mined["sources"], Source),
    )


def unbuilt_id(theme: Theme) -> str:
    """Return the id under which a build is recorded that ended without an environment."""
    return f"{theme.theme_id}-unbuilt"


def _not_built(store_uri: str, theme: Theme, state: str, reason: str, rejections: Sequence[Rejection]) -> Environment:
    """Record a build that ended without an environment, under the theme's id; an older accepted one stays."""
    store = open_store(store_uri)
    row = Environment(
        env_id=unbuilt_id(theme),
        theme_id=theme.theme_id,
        name=theme.name,
        category_l1=theme.category_l1,
        category_l2=theme.category_l2,
        state=state,
        reason=reason,
    )
    write_dataset(store, "rejections", f"build-{theme.theme_id}", rejections)
    older = [r for r in environment_rows(store, "accepted") if r.theme_id == theme.theme_id and not r.lineage]
    if not older:
        write_dataset(store, "environments", row.env_id, [row])
    return row


@task(name="build", task_run_name="build {theme.theme_id}")
def build_environment(store_uri: str, theme: Theme, settings: Settings, corpus_sha256: str) -> dict[str, Any]:
    """Build one environment from its stages, each of them retried and cached; every build ends in a recorded state.

    Returns {env_id, state, reason, tools, stages: {name: {wall_s, cpu_s}}}.
    """
    stages: dict[str, Any] = {}
    try:
        rounds = settings.complexify_rounds
        mined = _mined(store_uri, theme, settings.corpus, corpus_sha256, settings.seed, rounds)
        stages["mine"] = mined["cost"]
        if "rejected" in mined:
            rejections = [Rejection.model_validate(r) for r in mined["rejections"]]
            row = _not_built(store_uri, theme, "rejected", mined["rejected"], rejections)
        else:
            coded = _coded(store_uri, theme.theme_id, mined, settings.seed)
            stages["code"] = coded["cost"]
            row = _commit(store_uri, theme, mined, coded)
    except Exception as error:  # a broken build is recorded and must not fail the others
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
        failure = Rejection(stage="build", key=theme.theme_id, gate="failed", reason=reason)
        row = _not_built(store_uri, theme, "failed", reason, [failure])
    return {"env_id": row.env_id, "state": row.state, "reason": row.reason, "tools": row.n_tools, "stages": stages}


@task(name="regenerate-environment", task_run_name="regenerate {row.env_id} round {round_number}")
def regenerate_environment(
    store_uri: str, row: Environment, guideline: dict[str, Any], round_number: int, settings: Settings
) -> dict[str, Any]:
    """Build a grown version of an environment, one round of complexification further, steered by a guideline.

    It is an environment of its own, in the same split; the old one stays as it is. Returns as `build_environment`.
    """
    store = open_store(store_uri)
    stages: dict[str, Any] = {}
    name = f"{row.env_id}-round-{round_number}"
    end = {"env_id": name, "state": "failed", "reason": "", "tools": 0, "stages": stages}
    try:
        from tasks.mining import corpus_fingerprint

        theme = next(t for t in read_dataset(store, "themes", "all") if t.theme_id == row.theme_id)
        rounds = load_environment(store, row.env_id).database.complexified + 1
        corpus_sha256 = corpus_fingerprint(settings.corpus)
        mined = _mined(store_uri, theme, settings.corpus, corpus_sha256, settings.seed, rounds, guideline)
        stages["mine"] = mined["cost"]
        if "rejected" in mined:
            rejections = [Rejection.model_validate(r) for r in mined["rejections"]]
            write_dataset(store, "rejections", f"build-{name}", rejections)
            return {**end, "state": "rejected", "reason": mined["rejected"]}
        coded = _coded(store_uri, theme.theme_id, mined, settings.seed)
        stages["code"] = coded["cost"]
        grown = _commit(store_uri, theme, mined, coded, row)
        counts = {"env_id": grown.env_id, "tools": grown.n_tools}
        return {**end, **counts, "state": grown.state, "reason": grown.reason}
    except Exception as error:  # recorded; training goes on in the old environment
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
        failure = Rejection(stage="build", key=name, gate="failed", reason=reason, env_id=row.env_id)
        write_dataset(store, "rejections", f"build-{name}", [failure])
        return {**end, "reason": reason}


def assign_splits(store_uri: str, seed: int) -> None:
    """Write the split of every accepted environment into its row; those that are for measuring only keep theirs."""
    from tasks.arena import split_environments

    store = open_store(store_uri)
    accepted = [row for row in environment_rows(store, "accepted") if row.split != "test"]
    splits = split_environments(accepted, seed)
    for row in accepted:
        if row.split != splits[row.env_id]:
            write_dataset(store, "environments", row.env_id, [row.model_copy(update={"split": splits[row.env_id]})])


def read_corpora(store_uri: str, corpora: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return the fingerprint of each corpus, and write down which of the user's files in them cannot be used."""
    from tasks.mining import corpus_fingerprint, refused_files

    hashes = {corpus: corpus_fingerprint(corpus) for corpus in sorted(corpora)}
    refused = refused_files(sorted({path for corpus in hashes for path in corpus}))
    write_dataset(open_store(store_uri), "rejections", "corpus", refused)
    return hashes


def built_before(store_uri: str, settings: Settings) -> list[Theme]:
    """Return the stored themes that a build was begun for; in a store that remembers none, those that a build takes."""
    known = recall(store_uri)["themes"]
    everything = selected_themes(store_uri, settings.model_copy(update={"themes": (), "environments": 0}))
    return [t for t in everything if t.theme_id in known] or selected_themes(store_uri, settings)


@flow(name="build", flow_run_name=run_name("build"))
def build(
    store: str | None = None,
    settings: Settings = DEFAULTS,
    only_failed: bool = False,
    theme_ids: list[str] | None = None,
    given: list[str] | None = None,
) -> list[dict[str, Any]]:
    """Build the environments of the stored themes; one that fails never fails the others.

    Args:
        only_failed: only themes whose build failed or was rejected, or was never ended.
        theme_ids: only these themes.
        given: names of settings; all others of a theme that was built before are as they were then, and without
            "themes" or "environments" among them the themes are those that were built before.

    Raises:
        Refused: if the store has no themes, or a named path is missing.
    """
    uri = open_store(store or default_store()).uri
    if given is None or {"themes", "environments"} & set(given):
        themes = selected_themes(uri, settings)
    else:
        themes = built_before(uri, settings)
    if theme_ids is not None:
        themes = [theme for theme in themes if theme.theme_id in theme_ids]
    if only_failed:
        done = {row.theme_id for row in environment_rows(open_store(uri), "accepted") if not row.lineage}
        themes = [theme for theme in themes if theme.theme_id not in done]
    plans = {t.theme_id: settings for t in themes} if given is None else like_before(uri, themes, settings, given)
    for plan in (settings, *plans.values()):
        check_paths(plan)
    remember(uri, settings, plans)
    hashes = read_corpora(uri, {plan.corpus for plan in (settings, *plans.values())})
    results: list[dict[str, Any]] = []
    with workers(), bar("Build environments", len(themes)) as advance:
        futures = [
            build_environment.submit(uri, theme, plan, hashes[plan.corpus])
            for theme, plan in zip(themes, plans.values(), strict=True)
        ]
        for future in futures:
            results.append(future.result())
            accepted = sum(r["state"] == "accepted" for r in results)
            advance(1, f"{accepted} accepted, {len(results) - accepted} not, {sum(r['tools'] for r in results)} tools")
    assign_splits(uri, settings.seed)
    table = [{key: r[key] for key in ("env_id", "state", "tools", "reason")} for r in results]
    create_table_artifact(key="builds", table=table, description="How each build ended")
    return results


@flow(name="rebuild-failed", flow_run_name=run_name("rebuild-failed"))
def rebuild_failed(store: str | None = None, settings: Settings | None = None) -> list[dict[str, Any]]:
    """Build again what failed or was rejected, by default with the settings of its build before; finished stages come
    from the cache."""
    if settings is not None:
        return build(store, settings, only_failed=True)
    uri = open_store(store or default_store()).uri
    return build(uri, like_last(uri, DEFAULTS), only_failed=True, given=[])
