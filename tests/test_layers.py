"""Imports only point down: flows -> tasks -> schemas; stages do not import one another; only flows know Prefect."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "store", "models", "environment", "dialogue", "sandbox", "rollout", "policies", "serve", "retrieval", "files",
    "web",
)  # fmt: skip
STAGES = ("themes", "mining", "coding", "taxonomy", "synthesis", "training", "arena", "quality", "report", "imports")
OURS = ("flows", "tasks", "schemas")


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            yield node.module or ""


def ours(path: Path) -> Iterator[str]:
    return (name for name in imports(path) if name.split(".")[0] in OURS)


@pytest.mark.parametrize("path", modules("schemas"), ids=lambda p: p.name)
def test_schemas_import_schemas_only(path):
    assert {name.split(".")[0] for name in ours(path)} <= {"schemas"}


@pytest.mark.parametrize("path", modules("tasks"), ids=lambda p: str(p.relative_to(ROOT)))
def test_tasks_import_downwards(path):
    assert not [name for name in imports(path) if name.split(".")[0] in ("flows", "prefect", "prefect_dask")]
    place = path.relative_to(ROOT / "tasks").parts[0]
    for name in ours(path):
        parts = name.split(".")
        if parts[0] != "tasks" or len(parts) < 2 or parts[1] == place:
            continue
        if place in STAGES:
            assert parts[1] in ROOMS, f"the stage {place} imports the stage {parts[1]}: {path}"
        else:
            assert parts[1] in ROOMS and ROOMS.index(parts[1]) < ROOMS.index(place), (
                f"the room {place} imports {parts[1]}, which is not below it: {path}"
            )


def test_every_folder_of_tasks_is_a_known_room_or_stage():
    found = {path.name for path in (ROOT / "tasks").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert found <= set(ROOMS + STAGES)


def test_nothing_is_pickled():
    for folder in OURS:
        for path in modules(folder):
            bad = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"} & {
                name.split(".")[0] for name in imports(path)
            }
            assert not bad, f"{path} imports {bad}"
