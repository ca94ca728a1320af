"""Registries over real HTTP on the loopback: pages, busy servers, and every way in which a listing can break."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from registry_server import registry_server

from tasks.themes import Collection, SourceSpec, collect
from tasks.themes.registry import MAX_PAGE_BYTES, TOKEN_VARIABLE


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name} for a bike.", "inputSchema": {"type": "object"}}


def server(name: str) -> dict[str, Any]:
    return {"server": {"name": f"io.example/{name}", "description": f"The {name}.", "tools": [tool(f"get_{name}")]}}


def page(names: str, cursor: str = "") -> dict[str, Any]:
    return {"servers": [server(name) for name in names.split()], "metadata": {"nextCursor": cursor}}


def read(address: str) -> Collection:
    return collect([SourceSpec(registry=address)])


def test_all_pages_of_the_official_form_are_read() -> None:
    answers = {"/v0/servers?limit=2": [page("a b", "n 1")], "/v0/servers?limit=2&cursor=n+1": [page("c a")]}
    with registry_server(answers) as registry:
        found = read(f"{registry.address}/v0/servers?limit=2")
        assert len(registry.asked) == 2
    assert [theme.name for theme in found.themes] == ["a", "b", "c"]
    assert found.themes[2].source_uri == f"{registry.address}/v0/servers?limit=2&cursor=n+1#io.example/c"
    assert [one.gate for one in found.rejections] == ["same_document"]
    assert {source.source_id for source in found.sources} == {theme.source_id for theme in found.themes}


def test_smitherys_form_is_paged_and_tools_are_asked_for_server_by_server() -> None:
    listed = {"qualifiedName": "@shop/bikes", "displayName": "Bike shop", "description": "Sells bikes."}
    answers = {
        "/servers": [{"servers": [listed], "pagination": {"currentPage": 1, "totalPages": 2}}],
        "/servers?page=2": [
            {"servers": [{"qualifiedName": "lost"}, 5], "pagination": {"currentPage": 2, "totalPages": 2}}
        ],
        "/servers/@shop/bikes": [{"tools": [tool("sell_bike")]}],
    }
    with registry_server(answers) as registry:
        found = read(f"{registry.address}/servers")
    assert [(theme.name, theme.operations[0].name) for theme in found.themes] == [("Bike shop", "sell_bike")]
    assert sorted(one.gate for one in found.rejections) == ["no_tools", "no_tools"]


def test_a_busy_registry_is_asked_again_and_the_token_goes_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "planted-token")
    with registry_server({"/v0/servers": [(429, {}), (503, {}), page("a")]}) as registry:
        found = read(f"{registry.address}/v0/servers")
        assert {one["Authorization"] for one in registry.headers} == {"Bearer planted-token"}
    assert len(found.themes) == 1 and found.rejections == []
    assert "planted-token" not in repr(found)


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ((404, {}), "status 404"),
        ((500, {}), "status 500, 4 times"),
        ((302, {"Location": "http://169.254.169.254/latest"}), "it redirects to http://169.254.169.254/latest"),
        (b'{"servers": [', "the answer is no JSON"),
        (b"[" * 100_000, "the answer is no JSON"),
        ([1], "no JSON object"),
        ({"servers": 3}, 'no list named "servers"'),
        (page("c", "x"), "the same page twice"),
        (b" " * (MAX_PAGE_BYTES + 1), "a page of more than"),
    ],
)
def test_what_breaks_a_listing_is_told_and_the_pages_before_it_stay(second: Any, reason: str) -> None:
    with registry_server({"/s": [page("a b", "x")], "/s?cursor=x": [second]}) as registry:
        found = read(f"{registry.address}/s")
    assert {theme.name for theme in found.themes} >= {"a", "b"}
    failed = [one for one in found.rejections if one.gate == "registry_failed"]
    assert len(failed) == 1 and reason in failed[0].reason and failed[0].key == f"{registry.address}/s"


def test_a_registry_that_is_not_there_and_one_that_names_another_host(tmp_path: Path) -> None:
    with registry_server({}) as registry:
        address = registry.address
    assert [one.gate for one in read(f"{address}/gone").rejections] == ["registry_failed"]
    stranger = {"servers": [server("a")], "metadata": {"nextCursor": "http://10.0.0.1/evil"}}
    with registry_server({"/s": [stranger], "/s?cursor=http%3A%2F%2F10.0.0.1%2Fevil": [page("b")]}) as registry:
        assert len(read(f"{registry.address}/s").themes) == 2
        assert len(registry.asked) == 2
