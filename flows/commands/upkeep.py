"""Look after machine, money and store: doctor, estimate, gc."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import (
    CountOption,
    EmbeddedOption,
    JsonOption,
    ModelsOption,
    QuickOption,
    StoreOption,
    ThemeOption,
    settings_of,
)
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()


@commands.command(epilog="Example: agentworld doctor --json")
def doctor(store: StoreOption = DEFAULT_STORE, models: ModelsOption = None, as_json: JsonOption = False) -> None:
    """Say what this machine offers (sandbox, browser, torch, models, store) and what is missing for what."""
    from flows.doctor import examine

    findings = examine(store, models or "")
    answer(findings, as_json, lambda: say(*(f"{f['state']:<8} {f['what']:<10} {f['detail']}" for f in findings)))
    raise typer.Exit(1 if any(f["state"] == "missing" and f["needed"] for f in findings) else 0)


@commands.command(epilog="Example: agentworld estimate --models models.toml")
def estimate(
    store: StoreOption = DEFAULT_STORE,
    quick: QuickOption = False,
    theme: ThemeOption = None,
    environments: CountOption = None,
    embedded: EmbeddedOption = True,
    models: ModelsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the models of a run will cost, by role, before it is begun: from what this store's calls have cost so
    far, else from assumptions."""
    from flows.estimate import estimate as work_out
    from flows.estimate import lines

    settings = settings_of(None, quick, themes=theme, embedded=embedded, models=models, environments=environments)
    found = work_out(store, settings)
    answer(found, as_json, lambda: say(*lines(found)))


@commands.command(epilog="Example: agentworld gc --delete")
def gc(
    store: StoreOption = DEFAULT_STORE,
    delete: Annotated[bool, typer.Option("--delete", help="Remove them; without it they are only listed")] = False,
    as_json: JsonOption = False,
) -> None:
    """List, or remove, blobs that nothing refers to. Run it while no flow writes."""
    from tasks.store import collect_garbage, open_store

    keys = collect_garbage(open_store(store), dry_run=not delete)
    answer(keys, as_json, lambda: say(*keys, f"{len(keys)} blobs {'removed' if delete else 'unreferenced'}"))
