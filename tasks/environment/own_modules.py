"""Which modules a snapshot carries are the factory's own, whatever it says of them."""

from __future__ import annotations

import importlib.util
import sqlite3
from pathlib import Path

from tasks.environment.difference import open_state
from tasks.environment.rows import StateError
from tasks.environment.runtime.files.engine import CODE


def _installed(package: str) -> dict[str, str]:
    """Return module name -> source of a top-level package or module installed here; it is read, not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return {}
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        return {package: origin.read_text()}
    sources = {}
    for file in origin.parent.rglob("*.py"):
        parts = (package, *file.relative_to(origin.parent).with_suffix("").parts)
        sources[".".join(parts).removesuffix(".__init__")] = file.read_text()
    return sources


def own_modules(snapshot: bytes) -> list[str]:
    """Return the names of the carried modules that are word for word those of packages installed here.

    The sandbox runs only these before it forks the episodes' processes. A snapshot that marks others as trusted, from
    whoever it comes, is not believed.
    """
    if CODE.encode() not in snapshot:
        return []
    try:
        connection = open_state(snapshot)
    except StateError:
        return []
    try:
        carried = dict(connection.execute(f"SELECT name, source FROM {CODE} WHERE trusted").fetchall())
    except sqlite3.Error:
        return []
    finally:
        connection.close()
    installed: dict[str, str] = {}
    for package in {str(name).partition(".")[0] for name in carried}:
        if package.isidentifier():
            installed |= _installed(package)
    return sorted(name for name, source in carried.items() if installed.get(name) == source)
