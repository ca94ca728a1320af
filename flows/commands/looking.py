"""Look at what a store holds: ls, show, play."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import JsonOption, StoreOption
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()


@commands.command("ls", epilog="Example: agentworld ls tasks --json")
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
    answer(rows, as_json, lambda: say(*lines(rows, sys.stdout.isatty())))
    if not rows and not as_json:
        typer.echo(nothing(store, what), err=True)


@commands.command(epilog="Example: agentworld show <an id that ls printed>")
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
    answer(found, as_json, lambda: say(describe(found)))


@commands.command(epilog="Example: agentworld play <a task id that `agentworld ls tasks` printed>")
def play(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A task's id, or its start")],
    store: StoreOption = DEFAULT_STORE,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the episode")] = 0,
) -> None:
    """Solve a task by hand in the terminal: call its tools, answer, and see the reward."""
    from flows.play import play as session

    raise typer.Exit(1 if session(store, identifier, seed) is False else 0)
