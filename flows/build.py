"""Build environments: mine a theme's world, write and test its tools, commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.console import bar
from flows.discover import selected_themes
from flows.endings import commit, not_built
from flows.inputs import check_paths
from flows.models import calls_so_far
from flows.remembered import like_before, like_last, recall, remember
from flows.runtime import default_store, run_name, workers
from flows.stages import coded_tools, mined_world
from schemas.environment import Environment, Rejection
from schemas.settings import DEFAULTS, Settings
from schemas.theme import Theme
from tasks.store import environment_rows, load_environment, open_store, read_dataset, write_dataset


@task(name="build", task_run_name="build {theme.theme_id}")
def build_environment(store_uri: str, theme: Theme, settings: Settings, corpus_sha256: str) -> dict[str, Any]:
    """Build one environment from its stages, each of them retried and cached; every build ends in a recorded state.

    Returns {env_id, state, reason, tools, stages: {name: {wall_s, cpu_s}}}.
    """
    stages: dict[str, Any] = {}
    try:
        rounds = settings.complexify_rounds
        mined = mined_world(store_uri, theme, settings, corpus_sha256, rounds)
        stages["mine"] = mined["cost"]
        if "rejected" in mined:
            rejections = [Rejection.model_validate(r) for r in mined["rejections"]]
            row = not_built(store_uri, theme, "rejected", mined["rejected"], rejections)
        else:
            coded = coded_tools(store_uri, mined, theme, settings)
            stages["code"] = coded["cost"]
            row = commit(store_uri, theme, mined, coded)
    except Exception as error:  # a broken build is recorded and must not fail the others
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
        failure = Rejection(stage="build", key=theme.theme_id, gate="failed", reason=reason)
        row = not_built(store_uri, theme, "failed", reason, [failure])
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
        mined = mined_world(store_uri, theme, settings, corpus_sha256, rounds, guideline)
        stages["mine"] = mined["cost"]
        if "rejected" in mined:
            rejections = [Rejection.model_validate(r) for r in mined["rejections"]]
            write_dataset(store, "rejections", f"build-{name}", rejections)
            return {**end, "state": "rejected", "reason": mined["rejected"]}
        coded = coded_tools(store_uri, mined, theme, settings)
        stages["code"] = coded["cost"]
        grown = commit(store_uri, theme, mined, coded, row)
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
    with workers(), bar("Build environments", len(themes), calls_so_far(uri, settings)) as advance:
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
