"""Import worlds that others made: import agent-world, import tau2."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import JsonOption, SeedOption, StoreOption
from flows.runtime import DEFAULT_STORE

commands = typer.Typer(
    help="Import worlds that others made as native environments, and report their faults.\n\n"
    "Example: agentworld import agent-world ./release",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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
    answer(results, as_json, lambda: say(*table_lines(results), f"next: agentworld ls --store {store}"))
    raise typer.Exit(1 if any(r["state"] == "failed" for r in results) else 0)


@commands.command("agent-world", epilog="Example: agentworld import agent-world ./release --store ./store")
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


@commands.command("tau2", epilog="Example: agentworld import tau2 ./tau2-bench --store ./store")
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
    never enter a training split. Tasks whose reference actions execute become tasks of the set `test`; the others are
    counted by reason. Exit codes as `import agent-world`."""
    _import("tau2", path, store, seed, chains, licence, only, as_json)
