"""Which modules foreign tools import, and those that the sandbox is given as text because it has no packages."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tasks.imports.layout import file_format

PURE = ("yaml", "dateutil", "six", "toml")
"""Packages of pure Python (MIT or BSD) that a snapshot may carry; each works without its compiled part."""


def imported(source: str) -> Iterator[str]:
    """Yield the full names of the modules that a source imports; nothing if it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def carried_modules(sources: Iterable[str], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return module name -> source of the packages that the tools import, or that reading the files needs."""
    wanted = {name.partition(".")[0] for source in sources for name in imported(source)} & set(PURE)
    if any(file_format(path) == "yaml" for path in files):
        wanted.add("yaml")
    if "dateutil" in wanted:
        wanted.add("six")
    found: dict[str, str] = {}
    for package in sorted(wanted):
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        if not spec.submodule_search_locations:
            found[package] = Path(spec.origin).read_text()
            continue
        top = Path(spec.origin).parent
        for file in sorted(top.rglob("*.py")):
            name = ".".join([package, *file.relative_to(top).with_suffix("").parts]).removesuffix(".__init__")
            found[name] = file.read_text()
    return found


def is_standard(name: str) -> bool:
    """Say whether a module is part of Python."""
    return name.partition(".")[0] in sys.stdlib_module_names
