"""Make environments and tasks: run, discover, build, rebuild, synthesize."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from flows.commands.answers import answer, say, tell_refused
from flows.commands.options import (
    AgainOption,
    CorpusOption,
    CountOption,
    EmbeddedOption,
    HostOption,
    JsonOption,
    MaxCostOption,
    ModelsOption,
    PageOption,
    QuickOption,
    ResearchOption,
    SearchOption,
    SeedOption,
    SpecOption,
    StoreOption,
    ThemeOption,
    WebOption,
    research_of,
    settings_of,
    with_models,
)
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()
MOST_IDS = 100
"""Themes that `discover` lists one by one; of more, it counts those of each category."""


@commands.command(epilog="Example: agentworld run --store ./store --seed 7")
def run(
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    quick: QuickOption = False,
    spec: SpecOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: EmbeddedOption = True,
    models: ModelsOption = None,
    max_cost: MaxCostOption = None,
    web: WebOption = None,
    search: SearchOption = None,
    page: PageOption = None,
    allow_host: HostOption = None,
    research: ResearchOption = None,
    force: Annotated[bool, typer.Option("--force", help="Run again although nothing has changed")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the whole loop once: themes, environments, tasks, training, arena, diagnosis, regeneration, report."""
    from flows.inputs import check_sources

    settings = settings_of(
        seed,
        quick,
        spec,
        corpus,
        theme,
        embedded,
        models,
        environments=environments,
        max_cost=max_cost,
        research=research_of(web, search, page, allow_host, research),
    )
    check_sources(settings)
    with_models(settings)
    from flows.launch import launch_run

    try:
        outcome = launch_run(store, settings, force=force, quiet=as_json)
    finally:
        tell_refused(store, spec, corpus)
    answer(outcome, as_json, lambda: None)
    raise typer.Exit(0 if outcome["ok"] else 1)


@commands.command(epilog="Example: agentworld discover --spec ./my-openapi.yaml")
def discover(
    store: StoreOption = DEFAULT_STORE,
    spec: SpecOption = None,
    registry: Annotated[
        list[str] | None,
        typer.Option("--registry", help="The address of an MCP registry's listing, of the official or Smithery's kind"),
    ] = None,
    mcp_command: Annotated[
        list[str] | None,
        typer.Option("--mcp-command", help="A command that starts an MCP server; $NAME is read from the environment"),
    ] = None,
    mcp_url: Annotated[
        list[str] | None, typer.Option("--mcp-url", help="The URL of a running MCP server (streamable HTTP)")
    ] = None,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the taxonomy anew; without it, placed themes keep their places")
    ] = False,
    embedded: EmbeddedOption = True,
    as_json: JsonOption = False,
) -> None:
    """Collect themes from documents, registries and live MCP servers; filter, merge and classify them.

    A document is recognised by its content: OpenAPI 2 to 3.1, tools/list JSON, server.json, Smithery exports, Google
    discovery documents, botocore models, PRDs in Markdown, docx or PDF. Each option can be repeated.
    """
    from flows.inputs import check_sources

    settings = settings_of(
        specs=spec, embedded=embedded, registries=registry, mcp_commands=mcp_command, mcp_urls=mcp_url
    )
    check_sources(settings)
    from flows.discover import discover as flow
    from flows.discover import discovery_counts

    try:
        ids = flow(store, settings, refit, not as_json)
    finally:
        tell_refused(store, spec)
    counts = discovery_counts(store)
    lines = [f"{number:>6}  {name}" for name, number in counts["categories"].items()] if len(ids) > MOST_IDS else ids
    refused = ", ".join(f"{number} {gate}" for gate, number in counts["refused"].items()) or "nothing"
    ending = [f"refused: {refused}", f"{len(ids)} themes; next: agentworld build --store {store}"]
    answer({"themes": ids, **counts}, as_json, lambda: say(*lines, *ending))


def _builds(results: list[dict[str, Any]], store: str, models: str | None, as_json: bool) -> None:
    accepted = sum(r["state"] == "accepted" for r in results)
    lines = [f"{r['state']:<9} {r['env_id']}  {r['reason']}".rstrip() for r in results]
    following = f"next: agentworld synthesize --store {store}{f' --models {models}' if models else ''}"
    lines.append(f"{accepted} of {len(results)} environments accepted; {following}")
    answer(results, as_json, lambda: say(*lines))
    raise typer.Exit(1 if any(r["state"] == "failed" for r in results) else 0)


@commands.command(epilog="Example: agentworld build --theme flight")
def build(
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: EmbeddedOption = True,
    models: ModelsOption = None,
    max_cost: MaxCostOption = None,
    web: WebOption = None,
    search: SearchOption = None,
    page: PageOption = None,
    allow_host: HostOption = None,
    research: ResearchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the environments of the discovered themes; finished stages come from the cache."""
    from flows.inputs import check_paths
    from flows.ready import need_themes

    settings = settings_of(
        seed, corpus=corpus, themes=theme, embedded=embedded, models=models, environments=environments,
        max_cost=max_cost, research=research_of(web, search, page, allow_host, research),
    )  # fmt: skip
    check_paths(settings)
    with_models(settings)
    need_themes(store)
    from flows.build import build as flow

    results = flow(store, settings)
    tell_refused(store, settings.corpus)
    _builds(results, store, models, as_json)


@commands.command(epilog="Example: agentworld rebuild --failed")
def rebuild(
    store: StoreOption = DEFAULT_STORE,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed, was rejected or never ended")] = False,
    seed: SeedOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: AgainOption = None,
    models: ModelsOption = None,
    max_cost: MaxCostOption = None,
    web: WebOption = None,
    search: SearchOption = None,
    page: PageOption = None,
    allow_host: HostOption = None,
    research: ResearchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build environments again, those that failed or (without --failed) all, each with the seed, corpus and
    --no-embedded of its build before, unless options say otherwise."""
    from flows.inputs import check_paths
    from flows.ready import need_themes
    from flows.remembered import like_last

    looks = research_of(web, search, page, allow_host, research)
    options = {
        "seed": seed, "corpus": corpus, "themes": theme, "environments": environments, "embedded": embedded,
        "research": looks,
    }  # fmt: skip
    given = [name for name, value in options.items() if value is not None]
    settings = settings_of(
        seed, corpus=corpus, themes=theme, embedded=embedded is not False, models=models, environments=environments,
        max_cost=max_cost, research=looks,
    )  # fmt: skip
    settings = like_last(store, settings, given)
    check_paths(settings)
    with_models(settings)
    need_themes(store)
    from flows.build import build as flow

    results = flow(store, settings, only_failed=failed, given=given)
    tell_refused(store, settings.corpus)
    _builds(results, store, models, as_json)


@commands.command(epilog="Example: agentworld synthesize --seed 7")
def synthesize(
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    quick: QuickOption = False,
    models: ModelsOption = None,
    max_cost: MaxCostOption = None,
    as_json: JsonOption = False,
) -> None:
    """Synthesise verified tasks for every accepted environment."""
    from flows.ready import need_environments

    need_environments(store)
    settings = with_models(settings_of(seed, quick, models=models, max_cost=max_cost))
    from flows.synthesize import synthesize as flow

    results = flow(store, settings)
    made = sum(sum(r["made"].values()) for r in results)
    answer(results, as_json, lambda: say(f"{made} tasks accepted; next: agentworld train --store {store}"))
