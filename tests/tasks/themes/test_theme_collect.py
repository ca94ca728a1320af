"""Collecting the default set and the user's own files; merging near-duplicates."""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.theme import Operation, Theme
from tasks.themes import Collection, SourceSpec, collect, default_sources, merge_duplicates
from tasks.themes.decode import MAX_BYTES
from tasks.themes.duplicates import similarity
from tasks.themes.versions import version_key

NAMES = "waf waf-regional acm polly kms".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def default() -> Collection:
    return collect()


def services(names: list[str]) -> list[SourceSpec]:
    return [SourceSpec("botocore", f"data/{name}/*/service-2.json*", licence="Apache-2.0") for name in names]


def test_the_default_set_is_read_whole(default: Collection) -> None:
    assert default.rejections == []
    assert {theme.kind for theme in default.themes} == {"mcp", "openapi", "botocore", "prd"}
    external = [theme for theme in default.themes if theme.source_uri.startswith("pkg:pypi/")]
    assert len(external) >= 9
    for theme in default.themes:
        assert theme.needs, f"{theme.theme_id} names no data"
        assert len(theme.terms) >= 4 and len(theme.operations) >= 2
        if not theme.source_uri.startswith("pkg:pypi/"):
            assert len(theme.rules) >= 5, f"{theme.theme_id} states few rules"
            assert len(theme.operations) >= 10


def test_every_theme_points_to_its_source(default: Collection) -> None:
    sources = {source.source_id: source for source in default.sources}
    for theme in default.themes:
        source = sources[theme.source_id]
        assert (source.uri, source.sha256) == (theme.source_uri, theme.source_sha256)
        assert source.licence in {"Apache-2.0", "MIT"} and source.version
        assert source.retrieved_at.endswith("Z") and len(source.retrieved_at) == 20
        assert theme.theme_id.endswith(theme.source_sha256[:8])


def test_the_stated_licences_are_those_of_the_packages() -> None:
    for spec in default_sources():
        if spec.package.startswith("tasks"):
            continue
        metadata = importlib.metadata.metadata(spec.distribution or spec.package)
        stated = metadata.get("License-Expression") or metadata.get("License") or ""
        stated = {"Apache License 2.0": "Apache-2.0", "Apache 2.0": "Apache-2.0"}.get(stated, stated)
        assert stated == spec.licence, f"{spec.package} is {stated}"


def test_the_default_set_has_near_duplicates_that_are_merged(default: Collection) -> None:
    kept, rejections = merge_duplicates(default.themes)
    merged = {one.key for one in rejections}
    assert {one.gate for one in rejections} == {"near_duplicate"}
    assert any(key.startswith("amazon-cloudsearch") for key in merged)  # two API versions of one service
    assert any(key.startswith("flight-booking") for key in merged)  # OpenAPI and MCP of one interface
    assert len(kept) + len(rejections) == len(default.themes) and len(kept) >= 18
    assert merged == {alias for theme in kept for alias in theme.aliases}
    flight = next(theme for theme in kept if theme.name == "Flight booking")
    assert flight.kind == "openapi" and "operations have the same names" in rejections[0].reason


def test_two_flavours_of_one_service_are_duplicates_and_others_are_not() -> None:
    themes = collect(services(NAMES)).themes
    kept, rejections = merge_duplicates(themes)
    assert [one.key.startswith("aws-waf-") for one in rejections] == [True]
    assert len(kept) == 4
    assert merge_duplicates(kept) == (kept, [])


def test_the_order_of_sources_does_not_matter() -> None:
    specs = [one for one in default_sources() if not one.command]
    first = collect(specs)
    random.Random(3).shuffle(specs)
    assert collect(specs) == first
    themes = list(first.themes)
    random.Random(4).shuffle(themes)
    assert merge_duplicates(themes) == merge_duplicates(first.themes)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), max_size=8), st.randoms(use_true_random=False))
def test_merging_loses_no_theme_and_ignores_order(names: list[set[str]], rng: random.Random) -> None:
    themes = [made(f"theme {i}", sorted(own)) for i, own in enumerate(names)]
    kept, rejections = merge_duplicates(themes)
    held = [theme.theme_id for theme in kept] + [alias for theme in kept for alias in theme.aliases]
    assert sorted(held) == sorted(theme.theme_id for theme in themes)
    shuffled = list(themes)
    rng.shuffle(shuffled)
    assert merge_duplicates(shuffled) == (kept, rejections)


def test_similarity_is_symmetric_and_one_for_the_same() -> None:
    one, other = made("one", ["list_orders", "cancel_order"]), made("two", ["list_order", "pay_order"])
    assert similarity(one, one) == 1.0
    assert similarity(one, other) == similarity(other, one) == pytest.approx(1 / 3)  # plurals count as the same


def test_broken_files_of_the_user_are_rejected_one_by_one(tmp_path: Path) -> None:
    good = {"name": "Kiosk", "tools": [{"name": "sell_paper", "description": "Only what is in stock."}]}
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "kiosk.json").write_text(json.dumps(good))
    (tmp_path / "copy.json").write_text(json.dumps(good))
    (tmp_path / "cut.json").write_text(json.dumps(good)[:-9])
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\x00\xff")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "old.yaml").write_text("swagger: '1.2'\ninfo: {title: Old}\npaths: {}\n")
    (tmp_path / "huge.json").write_bytes(b" " * (MAX_BYTES + 1))
    (tmp_path / "script.py").write_text("not looked at")
    (tmp_path / "bare").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "gone.json")
    missing = tmp_path / "absent.json"
    result = collect((), extra_paths=[tmp_path, missing, tmp_path / "bare"])
    assert [theme.name for theme in result.themes] == ["Kiosk"]
    gates = {Path(one.key).name: one.gate for one in result.rejections}
    same = gates.pop("kiosk.json", None) or gates.pop("copy.json", None)
    assert same == "same_document"
    assert gates == {
        "cut.json": "broken_json",
        "picture.json": "not_text",
        "empty.yaml": "empty",
        "old.yaml": "openapi_version",
        "huge.json": "too_large",
        "absent.json": "unreadable",
        "link.json": "unreadable",
        "bare": "no_documents",
    }
    assert all(one.key in one.reason and "\n" not in one.reason for one in result.rejections)


def test_a_theme_is_the_same_whoever_reads_it_and_its_source_says_when(tmp_path: Path) -> None:
    path = tmp_path / "spec.md"
    path.write_text("# Bikes\n\n## Workflows\n\n### Rent a bike\nOnly a free bike can be rented.\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    first = collect((), extra_paths=[path])
    assert first.sources[0].retrieved_at == "2023-11-14T22:13:20Z"
    assert first.themes[0].licence == "NOASSERTION" and first.sources[0].uri.startswith("file:///")
    again = collect((), extra_paths=[path], retrieved_at=lambda _: "2020-01-01T00:00:00Z")
    assert again.themes == first.themes and again.sources[0].retrieved_at == "2020-01-01T00:00:00Z"
    path.write_text(path.read_text() + "\n### Return a bike\n")
    assert collect((), extra_paths=[path]).themes[0].theme_id != first.themes[0].theme_id


def test_a_package_that_is_not_there_is_a_rejection() -> None:
    specs = [SourceSpec("no_such_package_here", "x.json"), SourceSpec("botocore", "data/no-such-service/*")]
    assert [one.gate for one in collect(specs).rejections] == ["missing", "missing"]


def test_of_versions_of_one_api_the_newest_that_is_no_preview_is_kept() -> None:
    operations = [[f"{verb}_{what}" for verb in ("list", "get")] for what in ("book", "shelf", "author", "loan")]
    versions = [
        made("Books", operations[0], "host:books", "v1"),
        made("Books", operations[1] + operations[2], "host:books", "v2"),
        made("Books", operations[2] + operations[3] + operations[1], "host:books", "v3beta1"),
        made("Book store", operations[3], "host:store", "v1"),
    ]
    versions = [one.model_copy(update={"theme_id": f"t{i}"}) for i, one in enumerate(versions)]
    kept, rejections = merge_duplicates(versions)
    assert [(one.name, one.api_version) for one in kept] == [("Books", "v2"), ("Book store", "v1")]
    assert {one.key: one.gate for one in rejections} == {"t0": "older_version", "t2": "near_duplicate"}
    assert kept[0].aliases == ("t0", "t2")
    assert "version v1 of host:books; kept version v2" in rejections[0].reason


def test_a_name_that_was_used_again_is_no_version() -> None:
    one, other = made("Ledger", ["a_b"], "x:", "1"), made("Garden", ["c_d"], "x:", "2")
    assert len(merge_duplicates([one, other])[0]) == 2


@pytest.mark.parametrize(
    ("older", "newer"),
    [("v1", "v2"), ("2013-01-01", "2021-05-04"), ("1.9.0", "1.10.0"), ("v2beta1", "v1"), ("2020-01-01-preview", "1")],
)
def test_versions_have_an_order(older: str, newer: str) -> None:
    assert version_key(older) < version_key(newer)


def test_services_that_share_their_makers_habits_only_are_no_duplicates() -> None:
    habits = ["list_locations", "get_location", "list_operations", "cancel_operation"]
    one, other = (
        made(name, habits).model_copy(update={"terms": terms})
        for name, terms in (("Chains", ("blockchain", "ledger")), ("Chips", ("accelerator", "tensor")))
    )
    assert similarity(one, other) >= 0.5
    assert len(merge_duplicates([one, other])[0]) == 2


def made(name: str, operations: list[str], api: str = "", version: str = "") -> Theme:
    """A theme of nothing but a name and operations."""
    return Theme(
        theme_id=name.replace(" ", "-"), kind="mcp", name=name, description="", terms=(),
        operations=tuple(Operation(name=one) for one in operations), source_id="0" * 16, source_uri="file:///x",
        source_version="1", source_sha256="0" * 64, licence="MIT", api=api, api_version=version,
    )  # fmt: skip
