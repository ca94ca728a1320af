"""What runs inside the sandbox stands on the standard library alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tasks.sandbox.inner.seccomp import program

ROOT = Path(__file__).resolve().parents[3]
INSIDE = ("tasks.environment.runtime", "tasks.sandbox.inner")
MODULES = sorted(path for name in INSIDE for path in (ROOT / name.replace(".", "/")).glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_only_the_standard_library_is_imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names or name.startswith(INSIDE), (
                f"{path.name} imports {name}"
            )


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine):
    text = program(machine)
    assert len(text) % 8 == 0
    length = len(text) // 8
    for place in range(length):
        code, true, false = (
            int.from_bytes(text[place * 8 : place * 8 + 2], "little"),
            *text[place * 8 + 2 : place * 8 + 4],
        )
        assert place + max(true, false) + 1 < length or code == 0x06, "no jump leads beyond the end"
