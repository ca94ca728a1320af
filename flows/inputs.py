"""What the user names as input: looked for before any work, and what of it was refused told in plain lines after."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

from flows.errors import Refused
from schemas.environment import Rejection
from schemas.settings import Settings
from tasks.store import open_store, read_dataset
from tasks.store.datasets import dataset_key

MOST_LINES = 20
"""Refused inputs that are told one by one; of more, only the number."""

REFUSALS = ("themes", "corpus")
"""The keys of `rejections` that hold what became of source documents and of data files."""


def check_paths(settings: Settings) -> None:
    """Look for every file and folder that the settings name.

    Raises:
        Refused: naming the first that is not there.
    """
    for option, paths in (("--spec", settings.specs), ("--corpus", settings.corpus)):
        for path in paths:
            if not os.path.exists(path):
                raise Refused(f"{option} {path}: there is no such file or folder, so nothing was done; check the path")


def check_sources(settings: Settings) -> None:
    """Check, before a discovery, that its settings name sources and that these are there.

    Raises:
        Refused: if a path is missing, if a command cannot be split or an address is none, or if the settings leave no
            source at all.
    """
    asked = (*settings.registries, *settings.mcp_urls)
    if not (settings.embedded or settings.specs or asked or settings.mcp_commands):
        raise Refused(
            "--no-embedded leaves no source of themes, so nothing was done: name your own with --spec PATH, --registry "
            "URL, --mcp-url URL or --mcp-command COMMAND"
        )
    for address in asked:
        if urlparse(address).scheme not in ("http", "https") or not urlparse(address).netloc:
            raise Refused(f"{address} is no http or https address, so nothing was done")
    for command in settings.mcp_commands:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise Refused(f"--mcp-command {command}: {error}, so nothing was done") from None
        if not words:
            raise Refused("--mcp-command is empty, so nothing was done")
    check_paths(settings)


def refused_inputs(store_uri: str, paths: Sequence[str]) -> list[Rejection]:
    """Return the rejections of the newest discovery and build that concern files at or below the given paths."""
    if not paths:
        return []
    store = open_store(store_uri)
    roots = {form for path in paths for form in (Path(path).absolute(), Path(path).resolve())}
    return [
        rejection
        for key in REFUSALS
        if store.exists(dataset_key("rejections", key))
        for rejection in read_dataset(store, "rejections", key)
        if any(place.is_relative_to(root) for place in _places(rejection) for root in roots)
    ]


def refusal_lines(store_uri: str, paths: Sequence[str]) -> list[str]:
    """Return one line for each refused input below the given paths: what, where, why and what to do."""
    found = refused_inputs(store_uri, paths)
    lines = [f"not used: {' '.join(r.reason.split())} [{r.gate}]" for r in found[:MOST_LINES]]
    if len(found) > MOST_LINES:
        lines.append(f"not used: {len(found) - MOST_LINES} more; `agentworld ls rejections --store {store_uri}`")
    return lines


def _places(rejection: Rejection) -> Iterator[Path]:
    """Yield the files that a rejection is about: its key, or the file: address that its reason begins with."""
    yield Path(rejection.key).absolute()
    if rejection.reason.startswith("file:"):
        yield Path(unquote(urlparse(rejection.reason.split(": ", 1)[0]).path))
