"""Look after machine and store: doctor, gc."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import JsonOption, StoreOption
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()


@commands.command(epilog="Example: agentworld doctor --json")
def doctor(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Say what this machine offers (sandbox, browser, torch, models, store) and what is missing for what."""
    from flows.doctor import examine

    findings = examine(store)
    answer(findings, as_json, lambda: say(*(f"{f['state']:<8} {f['what']:<10} {f['detail']}" for f in findings)))
    raise typer.Exit(1 if any(f["state"] == "missing" and f["needed"] for f in findings) else 0)


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
