"""Search engines, and what they cost: nothing is asked for twice."""

from __future__ import annotations

import json

import pytest
from web_sites import Answer, serve, virtual_clock

from tasks.store import open_store
from tasks.web import Hit, LocalIndex, Searxng, Web, WebError

JSON = {"Content-Type": "application/json"}


def test_a_searxng_server_is_asked_once(tmp_path):
    found = {"results": [
        {"url": "https://example.org/a", "title": "A \u200b title", "content": "some\n words", "engine": "x"},
        {"url": "https://example.org/b"},
        {"url": "https://example.org/c", "title": None},
    ]}  # fmt: skip
    with serve({"/search": Answer(json.dumps(found), headers=JSON)}) as site:
        web = Web(open_store(str(tmp_path)), engine=Searxng(site.url), browser="", clock=virtual_clock()[0])
        hits = web.search("open data & more", 2)
        assert hits == [
            Hit("https://example.org/a", "A title", "some words"),
            Hit("https://example.org/b", "", ""),
        ]
        assert site.asked == ["/search?q=open+data+%26+more&format=json"]
        assert web.search("open data & more", 2) == hits and len(site.asked) == 1
    kept = json.loads(web.store.get(next(iter(web.store.list("searches/")))))
    assert kept["query"] == "open data & more" and kept["retrieved_at"] == "2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("answer", "reason"),
    (
        (Answer("Forbidden", 403), "search.formats"),
        (Answer("<html>", headers=JSON), "does not answer as a SearXNG"),
        (Answer('{"results": 3}', headers=JSON), "does not answer as a SearXNG"),
        (Answer("", 500), "answers 500"),
    ),
)
def test_a_searxng_server_that_fails_says_why(tmp_path, answer, reason):
    with serve({"/search": answer}) as site:
        web = Web(open_store(str(tmp_path)), engine=Searxng(f"{site.url}/search"), browser="")
        with pytest.raises(WebError, match=reason) as failed:
            web.search("x")
        assert failed.value.gate == "no_search" and list(web.store.list("searches/")) == []
    with pytest.raises(WebError, match="cannot be asked"):
        web.search("x")


def test_a_search_result_is_no_permission(tmp_path):
    results = {"results": [{"url": "http://169.254.169.254/latest/", "title": "t", "content": "c"}]}
    with serve({"/search": Answer(json.dumps(results), headers=JSON)}) as site:
        web = Web(open_store(str(tmp_path)), engine=Searxng(site.url), browser="")
        with pytest.raises(WebError) as refused:
            web.open_page(web.search("x")[0].url)
        assert refused.value.gate == "forbidden_address"
        with pytest.raises(WebError):
            web.open_page(f"{site.url}/search")  # that the server may be searched does not open its pages


def test_without_an_engine_there_is_no_search(tmp_path):
    with pytest.raises(WebError, match="SearXNG URL"):
        Web(open_store(str(tmp_path)), browser="").search("x")


def test_a_local_index_ranks_documents():
    index = LocalIndex("mine", [("u:1", "Ferry timetables", "Boats\nleave at nine"), ("u:2", "Trains", "Ferries too")])
    assert [hit.url for hit in index.search("ferry boats", 5)] == ["u:1", "u:2"]
    assert index.search("ferry boats", 1)[0].snippet == "Boats" and index.search("nothing like it", 5) == []


def test_only_the_folder_s_own_files_are_opened(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text("<title>T</title><p>inside</p>")
    (tmp_path / "secret.html").write_text("outside")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    web = Web(open_store(str(tmp_path / "store")), folder=folder, browser="", clock=virtual_clock()[0])
    assert web.open_page((folder / "a.html").as_uri()).text == "inside"
    for path in (tmp_path / "secret.html", folder / ".." / "secret.html", folder / "link.html", folder / "none.html"):
        with pytest.raises(WebError):
            web.open_page(f"file://{path}")
    with pytest.raises(WebError):
        Web(open_store(str(tmp_path / "store")), browser="").open_page("file:///etc/passwd")
