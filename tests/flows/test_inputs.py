"""What the user names as input: refusals in plain lines, and the settings that a build leaves for the next."""

from __future__ import annotations

import json
from pathlib import Path

from flows.inputs import MOST_LINES, refusal_lines
from flows.remembered import like_before, like_last, remember
from schemas.environment import Rejection
from schemas.settings import DEFAULTS
from schemas.theme import Theme
from tasks.mining import refused_files
from tasks.store import open_store, write_dataset
from tasks.themes import collect, merge_duplicates


def test_only_the_users_own_refused_files_are_told(tmp_path: Path) -> None:
    store, specs = str(tmp_path / "store"), tmp_path / "my specs"
    specs.mkdir()
    tools = [
        {"name": f"{verb}_paper", "description": "Papers of a kiosk."} for verb in ("sell", "buy", "count", "find")
    ]
    (specs / "a.json").write_text(json.dumps({"name": "Kiosk", "tools": tools}))
    (specs / "b.json").write_text(json.dumps({"name": "Kiosk", "tools": tools[:3]}))
    (specs / "cut.json").write_text('{"openapi": "3.0.0", "paths": {')
    found = collect((), extra_paths=[specs])
    _, merged = merge_duplicates(found.themes)
    alien = Rejection(stage="themes", key="botocore#x", gate="missing", reason="botocore#x: package has no file")
    write_dataset(open_store(store), "rejections", "themes", [alien, *found.rejections, *merged])
    lines = refusal_lines(store, [str(specs)])
    assert [line.rpartition("[")[2] for line in lines] == ["broken_json]", "near_duplicate]"]
    assert str(specs / "cut.json") in lines[0] and (specs / "b.json").as_uri() in lines[1]
    assert refusal_lines(store, []) == [] == refusal_lines(store, [str(tmp_path / "other")])


def test_of_many_refused_files_the_rest_is_counted(tmp_path: Path) -> None:
    for number in range(MOST_LINES + 3):
        (tmp_path / f"{number:02}.csv").write_bytes(b"")
    store = str(tmp_path / "store")
    write_dataset(open_store(store), "rejections", "corpus", refused_files([tmp_path])[: MOST_LINES + 3])
    lines = refusal_lines(store, [str(tmp_path)])
    assert len(lines) == MOST_LINES + 1 and "3 more" in lines[-1]


def _theme(theme_id: str) -> Theme:
    return Theme(
        theme_id=theme_id, kind="mcp", name=theme_id, description="", terms=(), operations=(), source_id="0" * 16,
        source_uri="file:///x", source_version="1", source_sha256="0" * 64, licence="MIT",
    )  # fmt: skip


def test_a_rebuild_uses_what_each_theme_was_built_with_unless_told_otherwise(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    first = DEFAULTS.model_copy(update={"seed": 3, "corpus": (str(tmp_path),), "embedded": False})
    second = DEFAULTS.model_copy(update={"seed": 4, "complexify_rounds": 2})
    remember(store, first, {"a": first})
    remember(store, second, {"b": second})
    again = like_before(store, [_theme("a"), _theme("b"), _theme("c")], like_last(store, DEFAULTS), [])
    assert (again["a"].seed, again["a"].corpus, again["a"].embedded) == (3, (str(tmp_path),), False)
    assert (again["b"].seed, again["b"].complexify_rounds) == (4, 2) == (again["c"].seed, again["c"].complexify_rounds)
    told = like_before(store, [_theme("a")], DEFAULTS, ["corpus", "embedded"])["a"]
    assert (told.seed, told.corpus, told.embedded) == (3, (), True)
