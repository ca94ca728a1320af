"""Code that a snapshot carries runs in its episodes' processes only, unless it is the factory's own, word for word."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from schemas.database import Column, Database, Table
from tasks.environment import EnvironmentImage, own_modules
from tasks.environment.files import build_file_snapshot
from tasks.environment.runtime.files.rows import NotRead, parse
from tasks.sandbox import SandboxWorker

ITEMS = Table(
    name="items", noun="item", nouns="items", key="id", label="id", origin="mined", description="Items.", rows=1,
    columns=(Column(name="id", type="string", role="key"),),
)  # fmt: skip
DATABASE = Database(
    env_id="env-carried", theme_id="t", name="items", description="Items.", start_time="2026-01-01T00:00:00",
    tables=(ITEMS,), files=True, snapshot_sha256="",
)  # fmt: skip
LAYOUT = {
    "folder": "world",
    "logs": [],
    "names": {},
    "files": [
        {
            "path": "items.json",
            "format": "json",
            "tables": [
                {
                    "name": "items", "at": [], "shape": "list", "key": "id", "key_from": "field", "key_path": ["id"],
                    "parent": "",
                    "columns": [["id", ["id"]]], "children": [],
                }
            ],
        }
    ],
}  # fmt: skip
LOOK = """
def look() -> dict:
    import sys
    early = [name for name in ("evil", "six") if name in sys.modules]
    import evil
    return {"early": early, "later": evil.HERE}
"""
EVIL = "HERE = True\n"


def snapshot(code: dict[str, str], packages: dict[str, str]) -> bytes:
    return build_file_snapshot(DATABASE, {"items.json": b'[{"id": "a"}]'}, code, LAYOUT, packages)


def look(content: bytes) -> dict:
    image = EnvironmentImage("env-carried", content, {"look": LOOK}, {"look": {"type": "object"}})
    with SandboxWorker() as worker:
        worker.load(image, allow_weak=True)
        with worker.episode() as episode:
            return episode.call("look", {})


@pytest.mark.parametrize("trusted", [False, True], ids=["foreign", "said to be the factory's own"])
def test_what_only_claims_to_be_trusted_does_not_run_before_the_episodes(trusted):
    code, packages = ({}, {"evil": EVIL}) if trusted else ({"evil": EVIL}, {})
    content = snapshot(code, packages)
    assert own_modules(content) == []
    assert look(content)["early"] == []


def test_foreign_code_is_not_reached_through_a_package_of_the_factory():
    import six

    content = snapshot(
        {"evil": EVIL}, {"six": Path(six.__file__).read_text().replace("import", "import evil\nimport", 1)}
    )
    assert own_modules(content) == []
    assert look(content)["early"] == []


def test_what_is_word_for_word_the_factorys_own_is_ready_in_each_episode():
    source = Path(importlib.util.find_spec("six").origin).read_text()
    content = snapshot({"evil": EVIL}, {"six": source})
    assert own_modules(content) == ["six"]
    assert look(content)["early"] == ["six"]


def test_a_few_lines_of_aliases_do_not_unfold():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(NotRead, match="aliases"):
        parse("\n".join(lines).encode(), "yaml")
    with pytest.raises(NotRead):
        parse(b"a: &a [*a]", "yaml")
    assert parse(b"a: &a [1, 2]\nb: *a", "yaml") == {"a": [1, 2], "b": [1, 2]}
