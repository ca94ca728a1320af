"""How commands answer: lines for people, JSON for programs, refusals on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import typer


def answer(value: Any, as_json: bool, text: Callable[[], None]) -> None:
    """Write a result as JSON to standard output, or let `text` say it."""
    if as_json:
        sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")
    else:
        text()


def say(*lines: str) -> None:
    """Print lines for people."""
    for line in lines:
        typer.echo(line)


def tell_refused(store: str, *paths: list[str] | tuple[str, ...] | None) -> None:
    """Say on standard error which of the user's own files were not used."""
    from flows.inputs import refusal_lines

    for line in refusal_lines(store, [path for some in paths for path in some or ()]):
        typer.echo(line, err=True)
