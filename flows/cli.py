"""The command line: `agentworld`. Heavy imports wait inside the commands, so that --help answers at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from flows.runtime import DEFAULT_STORE, configure

app = typer.Typer(
    name="agentworld",
    help="A factory of executable environments and verified tasks that trains and diagnoses tool-using agents.\n\n"
    "Example: agentworld run --store ./store",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich costs more to import than all else that --help needs
    context_settings={"help_option_names": ["-h", "--help"]},
)

StoreOption = Annotated[
    str, typer.Option("--store", envvar="AGENTWORLD_STORE", help="Where data lives: a folder, file:// or s3://bucket/x")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of every random choice  [default: 7]")]
SpecOption = Annotated[
    list[str] | None, typer.Option("--spec", help="A source document or folder of them, beside the embedded (repeat)")
]
CorpusOption = Annotated[
    list[str] | None, typer.Option("--corpus", help="A data file or folder, beside the embedded packages (repeat)")
]
ThemeOption = Annotated[
    list[str] | None, typer.Option("--theme", help="Only themes whose id starts with this (repeat)")
]
CountOption = Annotated[
    int | None,
    typer.Option("--environments", min=0, help="At most so many themes, spread over categories; 0: all  [default: 12]"),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="A small scale that shows the loop in minutes; its figures mean nothing")
]
SERVE_EXAMPLES = """Example: agentworld serve ENV --task TASK

Example: agentworld serve ENV --http --port 8765

In the configuration of a client that starts its servers: {"mcpServers": {"world": {"command": "agentworld", "args":
["serve", "ENV", "--store", "/path/to/store"]}}}; of one that connects: {"mcpServers": {"world": {"url":
"http://127.0.0.1:8765/mcp"}}}"""
EmbeddedOption = Annotated[bool, typer.Option("--embedded/--no-embedded", help="Use the embedded themes as well")]
AgainOption = Annotated[
    bool | None,
    typer.Option("--embedded/--no-embedded", help="Use the embedded themes as well  [default: as in the build before]"),
]


def _settings(
    seed: int | None = None,
    quick: bool = False,
    specs: list[str] | None = None,
    corpus: list[str] | None = None,
    themes: list[str] | None = None,
    embedded: bool = True,
    **others: Any,
) -> Any:
    from schemas.settings import DEFAULTS, QUICK

    changes: dict[str, Any] = {key: value for key, value in others.items() if value is not None}
    if seed is not None:
        changes["seed"] = seed
    base = QUICK if quick else DEFAULTS
    return base.model_validate(
        {
            **base.model_dump(),
            "specs": tuple(specs or ()),
            "corpus": tuple(corpus or ()),
            "themes": tuple(themes or ()),
            "embedded": embedded,
            **changes,
        }
    )


def _print(value: Any, as_json: bool, text: Callable[[], None]) -> None:
    if as_json:
        sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")
    else:
        text()


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line)


def _tell_refused(store: str, *paths: list[str] | tuple[str, ...] | None) -> None:
    """Say on standard error which of the user's own files were not used."""
    from flows.inputs import refusal_lines

    for line in refusal_lines(store, [path for some in paths for path in some or ()]):
        typer.echo(line, err=True)


def _like_built(store: str, settings: Any) -> Any:
    """Return the settings with the corpus that the store's environments were built from."""
    import os

    from flows.remembered import like_last

    corpus = like_last(store, settings).corpus
    for path in corpus:
        if not os.path.exists(path):
            typer.echo(f"the corpus {path} of the last build is gone: variants are made without it", err=True)
    return settings.model_copy(update={"corpus": tuple(path for path in corpus if os.path.exists(path))})


@app.command(epilog="Example: agentworld run --store ./store --seed 7")
def run(
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    quick: QuickOption = False,
    spec: SpecOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: EmbeddedOption = True,
    force: Annotated[bool, typer.Option("--force", help="Run again although nothing has changed")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the whole loop once: themes, environments, tasks, training, arena, diagnosis, regeneration, report."""
    from flows.inputs import check_sources

    settings = _settings(seed, quick, spec, corpus, theme, embedded, environments=environments)
    check_sources(settings)
    from flows.launch import launch_run

    try:
        outcome = launch_run(store, settings, force=force, quiet=as_json)
    finally:
        _tell_refused(store, spec, corpus)
    _print(outcome, as_json, lambda: None)
    raise typer.Exit(0 if outcome["ok"] else 1)


@app.command(epilog="Example: agentworld discover --spec ./my-openapi.yaml")
def discover(
    store: StoreOption = DEFAULT_STORE,
    spec: SpecOption = None,
    embedded: EmbeddedOption = True,
    as_json: JsonOption = False,
) -> None:
    """Collect themes from source documents, merge near-duplicates and classify them."""
    from flows.inputs import check_sources

    settings = _settings(specs=spec, embedded=embedded)
    check_sources(settings)
    from flows.discover import discover as flow

    try:
        ids = flow(store, settings)
    finally:
        _tell_refused(store, spec)
    _print({"themes": ids}, as_json, lambda: _say(f"{len(ids)} themes; next: agentworld build --store {store}", *ids))


def _builds(results: list[dict[str, Any]], store: str, as_json: bool) -> None:
    accepted = sum(r["state"] == "accepted" for r in results)
    lines = [f"{r['state']:<9} {r['env_id']}  {r['reason']}".rstrip() for r in results]
    lines.append(f"{accepted} of {len(results)} environments accepted; next: agentworld synthesize --store {store}")
    _print(results, as_json, lambda: _say(*lines))
    raise typer.Exit(1 if any(r["state"] == "failed" for r in results) else 0)


@app.command(epilog="Example: agentworld build --theme flight")
def build(
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: EmbeddedOption = True,
    as_json: JsonOption = False,
) -> None:
    """Build the environments of the discovered themes; finished stages come from the cache."""
    from flows.inputs import check_paths
    from flows.ready import need_themes

    settings = _settings(seed, corpus=corpus, themes=theme, embedded=embedded, environments=environments)
    check_paths(settings)
    need_themes(store)
    from flows.build import build as flow

    results = flow(store, settings)
    _tell_refused(store, settings.corpus)
    _builds(results, store, as_json)


@app.command(epilog="Example: agentworld rebuild --failed")
def rebuild(
    store: StoreOption = DEFAULT_STORE,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed, was rejected or never ended")] = False,
    seed: SeedOption = None,
    corpus: CorpusOption = None,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: AgainOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build environments again, those that failed or (without --failed) all, each with the seed, corpus and
    --no-embedded of its build before, unless options say otherwise."""
    from flows.inputs import check_paths
    from flows.ready import need_themes
    from flows.remembered import like_last

    options = {"seed": seed, "corpus": corpus, "themes": theme, "environments": environments, "embedded": embedded}
    given = [name for name, value in options.items() if value is not None]
    settings = _settings(seed, corpus=corpus, themes=theme, embedded=embedded is not False, environments=environments)
    settings = like_last(store, settings, given)
    check_paths(settings)
    need_themes(store)
    from flows.build import build as flow

    results = flow(store, settings, only_failed=failed, given=given)
    _tell_refused(store, settings.corpus)
    _builds(results, store, as_json)


@app.command(epilog="Example: agentworld synthesize --seed 7")
def synthesize(
    store: StoreOption = DEFAULT_STORE, seed: SeedOption = None, quick: QuickOption = False, as_json: JsonOption = False
) -> None:
    """Synthesise verified tasks for every accepted environment."""
    from flows.ready import need_environments

    need_environments(store)
    from flows.synthesize import synthesize as flow

    results = flow(store, _settings(seed, quick))
    made = sum(sum(r["made"].values()) for r in results)
    _print(results, as_json, lambda: _say(f"{made} tasks accepted; next: agentworld train --store {store}"))


@app.command(epilog="Example: agentworld train --quick")
def train(
    store: StoreOption = DEFAULT_STORE, seed: SeedOption = None, quick: QuickOption = False, as_json: JsonOption = False
) -> None:
    """Train the policy: SFT on oracle trajectories, then GRPO beside an SFT arm of equal compute."""
    from flows.ready import need_environments, need_tasks, need_training

    need_training()
    need_environments(store)
    need_tasks(store)
    from flows.train import train as flow

    outcome = flow(store, _like_built(store, _settings(seed, quick)))
    _print(outcome, as_json, lambda: _say(f"policy {outcome['policy_id']}; next: agentworld arena --store {store}"))


@app.command(epilog="Example: agentworld arena")
def arena(
    store: StoreOption = DEFAULT_STORE, seed: SeedOption = None, quick: QuickOption = False, as_json: JsonOption = False
) -> None:
    """Evaluate the newest policy on unseen tasks and diagnose its weak environments."""
    from flows.ready import need_policy, need_training

    need_training()
    need_policy(store)
    from flows.arena import arena as flow

    outcome = flow(store, _like_built(store, _settings(seed, quick)))
    lines = [f"success {outcome['successes']} of {outcome['attempts']}", *outcome["weaknesses"]]
    _print(outcome, as_json, lambda: _say(*lines, f"next: agentworld evolve --rounds 1 --store {store}"))


@app.command(epilog="Example: agentworld evolve --rounds 2")
def evolve(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of arena, diagnosis and regeneration")] = 1,
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    quick: QuickOption = False,
    as_json: JsonOption = False,
) -> None:
    """Go round: arena, diagnosis, regeneration, continued training beside its control, and the arena again."""
    from flows.ready import need_policy, need_training

    need_training()
    need_policy(store)
    from flows.regenerate import evolve as flow

    outcome = flow(store, _like_built(store, _settings(seed, quick)), rounds)
    lines = [f"round {r['round']}: " + ", ".join(f"{k} {v:.1%}" for k, v in r["success"].items()) for r in outcome]
    _print(outcome, as_json, lambda: _say(*lines, f"next: agentworld audit --store {store}"))


@app.command(epilog="Example: agentworld audit --store s3://bucket/factory")
def audit(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Validate every dataset against its contract, quarantine rows that fail, build Data Docs and cut a release."""
    from flows.audit import audit as flow

    outcome = flow(store)
    lines = [
        f"{outcome['rows']} rows, {outcome['quarantined']} quarantined, "
        f"{outcome['expectations'] - outcome['failed']} of {outcome['expectations']} expectations met",
        f"release {outcome['release']}; Data Docs: {outcome['docs']}",
        f"{outcome['survivors']} wrong episodes got full reward in accepted tasks; "
        f"without skill: {outcome['without_skill'] or 'nothing was measured'}",
    ]
    _print(outcome, as_json, lambda: _say(*lines))
    raise typer.Exit(1 if outcome["failed"] else 0)


@app.command(epilog="Example: agentworld report --store ./store")
def report(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Draw report.html again from what the store holds now; a run does so at its end."""
    from flows.redraw import redraw

    outcome = redraw(store)
    _print(outcome, as_json, lambda: _say(f"Report: {outcome['report']}"))


@app.command(epilog="Example: agentworld up --port 4200")
def up(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[int, typer.Option("--port", help="The port of the Prefect server and its UI")] = 4200,
) -> None:
    """Start a Prefect server and a worker with all deployments; Ctrl-C stops both."""
    from flows.up import serve

    serve(store, port)


@app.command("ls", epilog="Example: agentworld ls tasks --json")
def list_items(
    what: Annotated[
        str, typer.Argument(help="environments, themes, tasks, scores, survivors, rejections, releases or runs")
    ] = "environments",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """List what the store holds."""
    from flows.browse import lines, listing, nothing

    rows = listing(store, what)
    _print(rows, as_json, lambda: _say(*lines(rows, sys.stdout.isatty())))
    if not rows and not as_json:
        typer.echo(nothing(store, what), err=True)


@app.command(epilog="Example: agentworld show <an id that ls printed>")
def show(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="An environment, theme, task or episode, or its start")
    ],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show one environment, theme, task or episode whole, with where it came from."""
    from flows.browse import describe, find

    found = find(store, identifier)
    _print(found, as_json, lambda: _say(describe(found)))


@app.command(epilog="Example: agentworld play <a task id that `agentworld ls tasks` printed>")
def play(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A task's id, or its start")],
    store: StoreOption = DEFAULT_STORE,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the episode")] = 0,
) -> None:
    """Solve a task by hand in the terminal: call its tools, answer, and see the reward."""
    from flows.play import play as session

    raise typer.Exit(1 if session(store, identifier, seed) is False else 0)


@app.command(epilog=SERVE_EXAMPLES)
def serve(
    identifier: Annotated[str, typer.Argument(metavar="ENV", help="An environment's id, or its start")],
    task: Annotated[str, typer.Option("--task", help="A task of it: its tools, its prompt, and scoring")] = "",
    store: StoreOption = DEFAULT_STORE,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of standard input and output")] = False,
    host: Annotated[str, typer.Option("--host", help="The address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0: a free one")] = 8765,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow a --host that other machines reach")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="A further host name that clients may call it by (repeat)")
    ] = None,
    sessions: Annotated[int, typer.Option("--sessions", min=1, help="The most sessions live at once")] = 16,
    calls: Annotated[int, typer.Option("--calls", min=1, help="The most calls of a session")] = 500,
    call_seconds: Annotated[float, typer.Option("--call-seconds", min=0.01, help="The longest call")] = 5.0,
    session_seconds: Annotated[float, typer.Option("--session-seconds", min=1, help="The longest session")] = 3600.0,
    idle_seconds: Annotated[
        float, typer.Option("--idle-seconds", min=0.1, help="A session without a request ends after this")
    ] = 900.0,
    output_chars: Annotated[int, typer.Option("--output-chars", min=100, help="The longest observation")] = 200_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of every session's episode")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Say that it is ready in one line of JSON")] = False,
) -> None:
    """Serve an environment to any MCP client: tools, documents, a private episode a session, and scoring.

    Scoring is no tool: the operator sends the JSON-RPC request agentworld/score with {"token", "answer"} over the
    session, or over HTTP POST /sessions/ID/score with the token as bearer token (GET /sessions lists them). The token
    is printed at the start (over stdio on standard error), or set AGENTWORLD_SCORE_TOKEN.
    """
    from flows.serve import Address, load_served, serve_over_http, serve_over_stdio
    from tasks.serve import ServeLimits

    limits = ServeLimits(calls, call_seconds, session_seconds, idle_seconds, sessions, output_chars)
    served = load_served(store, identifier, task)
    if http:
        serve_over_http(served, limits, Address(host, port, allow_remote, tuple(name or ())), seed, as_json)
    else:
        serve_over_stdio(served, limits, seed, as_json)


@app.command(epilog="Example: agentworld doctor --json")
def doctor(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Say what this machine offers (sandbox, browser, torch, models, store) and what is missing for what."""
    from flows.doctor import examine

    findings = examine(store)
    _print(findings, as_json, lambda: _say(*(f"{f['state']:<8} {f['what']:<10} {f['detail']}" for f in findings)))
    raise typer.Exit(1 if any(f["state"] == "missing" and f["needed"] for f in findings) else 0)


imports = typer.Typer(
    help="Import worlds that others made as native environments, and report their faults.\n\n"
    "Example: agentworld import agent-world ./release",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(imports, name="import")
PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="The release's folder")]
ChainsOption = Annotated[int, typer.Option("--chains", min=0, help="Verified chains wanted for each environment")]
LicenceOption = Annotated[str, typer.Option("--licence", help="SPDX expression, where the release does not say")]
OnlyOption = Annotated[list[str] | None, typer.Option("--only", help="Only folders that start with this (repeat)")]


def _import(
    kind: str, path: str, store: str, seed: int | None, chains: int, licence: str, only: list[str] | None, as_json: bool
) -> None:
    from flows.releases import check_release

    check_release(kind, path)
    from flows.imports import import_worlds, table_lines

    results = import_worlds(kind, path, store, 7 if seed is None else seed, chains, licence, only or [])
    _print(results, as_json, lambda: _say(*table_lines(results), f"next: agentworld ls --store {store}"))
    raise typer.Exit(1 if any(r["state"] == "failed" for r in results) else 0)


@imports.command("agent-world", epilog="Example: agentworld import agent-world ./release --store ./store")
def import_agent_world(
    path: PathArgument,
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    chains: ChainsOption = 10,
    licence: LicenceOption = "",
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import environments in the layout of the official Agent-World release: <id>/, <id>_step4_checkpoint.json and
    questions/<id>.json. Exit code 0: each ended accepted or rejected; 1: one failed; 2: PATH holds no release."""
    _import("agent-world", path, store, seed, chains, licence, only, as_json)


@imports.command("tau2", epilog="Example: agentworld import tau2 ./tau2-bench --store ./store")
def import_tau2(
    path: PathArgument,
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    chains: ChainsOption = 0,
    licence: LicenceOption = "",
    only: OnlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import domains of tau2-bench (tools.py, data_model.py, db.json, policy.md, tasks.json) for measuring only: they
    never enter a training split. Exit codes as `import agent-world`."""
    _import("tau2", path, store, seed, chains, licence, only, as_json)


@app.command(epilog="Example: agentworld redteam --seed 5")
def redteam(
    store: StoreOption = DEFAULT_STORE,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the attacks")] = 101,
    as_json: JsonOption = False,
) -> None:
    """Attack all accepted tasks once more, other ways than when they were made; write down what gets through."""
    from flows.ready import need_tasks

    need_tasks(store)
    from flows.redteam import redteam as flow

    outcome = flow(store, seed)
    lines = [
        f"{outcome['tasks']} tasks: full reward for {outcome['oracle']} oracles, {outcome['null']} times for nothing, "
        f"{outcome['guess']} times for the likeliest answer",
        f"{outcome['killed']} of {outcome['mutants']} wrong episodes refused, {outcome['survivors']} survived; "
        f"next: agentworld audit --store {store}",
    ]
    _print(outcome, as_json, lambda: _say(*lines))


@app.command(epilog="Example: agentworld bench --json")
def bench(
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Time for each round of a figure")] = 0.5,
    megabytes: Annotated[float, typer.Option("--megabytes", min=0.1, max=100, help="Size of the world")] = 2.0,
    store: Annotated[str | None, typer.Option("--store", help="Measure this store's own tasks as well")] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the engine beside two stand-ins at the same work: resets, calls, judged episodes, per core."""
    from flows.bench import measure_engine, table

    report = measure_engine(seconds, megabytes, store)
    _print(report, as_json, lambda: _say(*table(report)))


@app.command(epilog="Example: agentworld gc --delete")
def gc(
    store: StoreOption = DEFAULT_STORE,
    delete: Annotated[bool, typer.Option("--delete", help="Remove them; without it they are only listed")] = False,
    as_json: JsonOption = False,
) -> None:
    """List, or remove, blobs that nothing refers to. Run it while no flow writes."""
    from tasks.store import collect_garbage, open_store

    keys = collect_garbage(open_store(store), dry_run=not delete)
    _print(keys, as_json, lambda: _say(*keys, f"{len(keys)} blobs {'removed' if delete else 'unreferenced'}"))


def main() -> None:
    """Run the command line. Exit code 0: done; 1: done, but something failed; 2: it could not be done as asked."""
    from flows.ends import explained, flushed

    configure()
    try:
        with flushed():
            app(standalone_mode=True)
    except KeyboardInterrupt:
        typer.echo("agentworld: interrupted; what was finished is kept, run it again to go on", err=True)
        sys.exit(1)
    except Exception as error:
        end = explained(error)
        if end is None:
            raise
        typer.echo(f"agentworld: {end.line}", err=True)
        sys.exit(end.code)


if __name__ == "__main__":
    main()
