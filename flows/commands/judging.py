"""Judge what was made: audit, redteam, report, bench."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import JsonOption, StoreOption
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()


@commands.command(epilog="Example: agentworld audit --store s3://bucket/factory")
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
    answer(outcome, as_json, lambda: say(*lines))
    raise typer.Exit(1 if outcome["failed"] else 0)


@commands.command(epilog="Example: agentworld redteam --seed 5")
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
    answer(outcome, as_json, lambda: say(*lines))


@commands.command(epilog="Example: agentworld report --store ./store")
def report(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Draw report.html again from what the store holds now; a run does so at its end."""
    from flows.redraw import redraw

    outcome = redraw(store)
    answer(outcome, as_json, lambda: say(f"Report: {outcome['report']}"))


@commands.command(epilog="Example: agentworld bench --json")
def bench(
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Time for each round of a figure")] = 0.5,
    megabytes: Annotated[float, typer.Option("--megabytes", min=0.1, max=100, help="Size of the world")] = 2.0,
    store: Annotated[str | None, typer.Option("--store", help="Measure this store's own tasks as well")] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the engine beside two stand-ins at the same work: resets, calls, judged episodes, per core."""
    from flows.bench import measure_engine, table

    report = measure_engine(seconds, megabytes, store)
    answer(report, as_json, lambda: say(*table(report)))
