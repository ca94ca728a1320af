"""What runs inside the sandbox stands on the standard library alone, and the benchmark measures the real engine."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from worlds import shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.sandbox.benchmark import measure
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


def test_the_benchmark_reports_every_rate():
    image = EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())
    order = next(row["order_id"] for row in shop_rows()["orders"] if row["status"] == "pending")
    calls = [Call(tool=name, arguments={"order_id": order}) for name in ("get_order", "cancel_order")]
    rates = measure(image, calls, seconds=0.05)
    names = ("resets", "reused_resets", "calls", "batched_calls", "episodes", "batched_episodes")
    assert set(rates) == {"start_s", "load_s", *(f"{n}_per_{unit}" for n in names for unit in ("s", "cpu_s"))}
    assert all(rate > 0 for rate in rates.values()) and rates["batched_calls_per_s"] > 500
