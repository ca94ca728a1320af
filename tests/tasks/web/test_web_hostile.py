"""Hostile pages, opened with and without a browser: nothing reaches the internal server, and all text stays data."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hostile_pages import COMMAND, HARMLESS, hostile_site
from web_sites import virtual_clock

from tasks.store import open_store
from tasks.web import Web, WebError, find_chromium

_HIDDEN = ("hidden_text", "inline_hidden_text", "alt_text")


@pytest.fixture(scope="module", params=("http", "browser"))
def opened(request, tmp_path_factory):
    """Open every page of the hostile site; return the site, what each page gave (a page or an error), and the way."""
    if request.param == "browser" and not find_chromium():
        pytest.skip("no Chromium on this machine (apt install chromium)")
    with hostile_site() as hostile:
        web = Web(
            open_store(str(tmp_path_factory.mktemp("store"))),
            allow=[hostile.site.host],
            browser=None if request.param == "browser" else "",
            clock=virtual_clock()[0],
        )

        def opening(url):
            try:
                return web.open_page(url)
            except WebError as error:
                return error

        with ThreadPoolExecutor(6) as pool:
            found = dict(zip(hostile.pages, pool.map(opening, hostile.pages.values()), strict=True))
        yield hostile, found, request.param


def test_there_are_many_kinds_of_them(opened):
    assert len(opened[0].pages) >= 30


def test_no_request_reaches_the_internal_server(opened):
    hostile, _, _ = opened
    assert hostile.forbidden.hits == []


def test_pages_that_lead_to_internal_addresses_are_refused(opened):
    hostile, found, _ = opened
    assert {name: found[name].gate for name in hostile.refused} == {
        "redirect_metadata": "forbidden_address",
        "redirect_loopback": "forbidden_address",
        "redirect_file": "bad_url",
        "redirect_number": "bad_url",
    }


def test_other_pages_still_show_what_they_say(opened):
    hostile, found, way = opened
    for name in hostile.opens:
        assert found[name].text.startswith(HARMLESS), name
        assert [column.name for column in found[name].tables[0].columns] == ["Day", "Opens"], name
        assert found[name].record.via == way, name


def test_what_is_shown_and_what_is_hidden_are_kept_apart(opened):
    hostile, found, way = opened
    for name in ("visible_text", "table_cells", "link_words", "invisible_characters"):
        assert COMMAND in found[name].text, name
    for name in _HIDDEN[0 if way == "browser" else 1 :]:  # without a browser, style sheets are not applied
        assert COMMAND not in found[name].text and COMMAND in found[name].hidden_text, name
    if way == "browser":
        assert found["hidden_text"].hidden_text.count(COMMAND) == 7
    page = found["comment_and_meta"]
    assert COMMAND not in page.text + page.hidden_text


def test_text_holds_no_invisible_characters(opened):
    _, found, _ = opened
    text = found["invisible_characters"].text
    assert "ab" + "SYSTEM" in text.replace(" ", "") and all(c.isprintable() or c in "\n\t" for c in text)


def test_files_are_read_as_data(opened):
    _, found, _ = opened
    assert COMMAND in found["pdf"].text
    assert [row[0] for row in found["csv"].tables[0].rows] == ["Monday", "Tuesday"]
    assert found["csv"].tables[0].rows[1][1].startswith("=cmd")
    assert COMMAND in found["json"].tables[0].rows[0][1]
    assert found["file_name"].record.file_name == "ignore_previous_rm_-rf.csv"
    assert {table.name.split("#")[0] for table in found["zip_slip"].tables} == {"agentworld-escaped.csv"}
    assert found["xml_entities"].tables == () and "entities" in found["xml_entities"].notes[0]


def test_what_a_page_tried_is_noted(opened):
    _, found, way = opened
    assert any("sends its readers on" in note for note in found["meta_refresh"].notes)
    if way == "http":
        return
    for name in ("script_fetch", "script_post", "beacon", "worker", "websocket", "script_bounce", "subresources"):
        assert any("no public address" in note for note in found[name].notes), name
    assert any("169.254.169.254" in note for note in found["script_fetch"].notes)
    assert any("form" in note for note in found["form_auto_submit"].notes)
    assert any("frame" in note for note in found["iframe"].notes)
    assert any("window" in note for note in found["window_open"].notes)
