"""Pages made on the spot, in a browser and without: scripts, paging, encodings, broken and endless documents."""

from __future__ import annotations

import pytest
from web_sites import Answer, page, serve, virtual_clock

from tasks.store import collect_garbage, open_store
from tasks.web import Limits, Web, find_chromium

needs_browser = pytest.mark.skipif(not find_chromium(), reason="no Chromium on this machine (apt install chromium)")

_ROWS = "[['Ada', 36], ['Grace', 85]]"
_TABLE_SCRIPT = (
    "const t = document.createElement('table'); t.innerHTML = '<tr><th>Name</th><th>Age</th></tr>' + "
    f"{_ROWS}.map((r) => `<tr><td>${{r[0]}}</td><td>${{r[1]}}</td></tr>`).join('');"
)


def opener(tmp_path, site, browser=None, **limits):
    return Web(
        open_store(str(tmp_path / "store")),
        allow=[site.host],
        browser=browser,
        limits=Limits(**limits),
        clock=virtual_clock()[0],
    )


@needs_browser
def test_tables_that_scripts_make_are_read_and_kept(tmp_path):
    answers = {
        "/now": page(f"<script>{_TABLE_SCRIPT} document.body.append(t)</script>"),
        "/later": page(f"<script>{_TABLE_SCRIPT} setTimeout(() => document.body.append(t), 120)</script>"),
        "/fetched": page(
            "<script>fetch('/rows.json').then((a) => a.json()).then((rows) => { document.body.innerHTML = "
            "'<table><tr><th>Name</th><th>Age</th></tr>' + rows.map((r) => `<tr><td>${r[0]}</td><td>${r[1]}</td></tr>`)"
            ".join('') + '</table>' })</script>"
        ),
        "/rows.json": Answer(_ROWS.replace("'", '"'), headers={"Content-Type": "application/json"}),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site)
        for path in ("/now", "/later", "/fetched"):
            found = web.open_page(site.url + path)
            assert found.tables[0].rows == (("Ada", 36), ("Grace", 85)), path
            assert [(column.name, column.type) for column in found.tables[0].columns] == [
                ("Name", "string"),
                ("Age", "integer"),
            ]
            assert found.tables[0].locators == ("table 1 row 2", "table 1 row 3")
            assert found.record.via == "browser" and found.record.rendered_sha256
        asked = len(site.asked)
        again = opener(tmp_path, site)
        assert again.open_page(f"{site.url}/fetched").tables == found.tables and len(site.asked) == asked
        kept = collect_garbage(web.store)
        assert kept == []  # an audit finds the page's bytes and what the browser made of them
        web = opener(tmp_path / "other", site, browser="")
        assert web.open_page(f"{site.url}/now").tables == ()


@needs_browser
def test_a_page_cannot_lie_to_its_reader_by_changing_the_dom_s_methods(tmp_path):
    script = (
        "Object.defineProperty(HTMLElement.prototype, 'innerText', {get: () => 'a lie'});"
        "JSON.stringify = () => 'a lie'; window.getComputedStyle = () => ({display: 'none'});"
    )
    with serve({"/": page(f"<p>the truth</p><script>{script}</script>")}) as site:
        assert opener(tmp_path, site).open_page(site.url).text == "the truth"


@needs_browser
def test_pages_that_never_rest_are_left_in_time(tmp_path):
    ticking = "setInterval(() => { document.body.append('x') }, 5); setInterval(() => fetch('/f'), 5)"
    answers = {
        "/busy": page("<p>words</p><script>setTimeout(() => { while (true); }, 0)</script>"),
        "/ticking": page(f"<p>words</p><script>{ticking}</script>"),
        "/after": page("<p>still here</p>"),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site, render_seconds=2)
        busy = web.open_page(f"{site.url}/busy")
        assert busy.text == "words" and busy.record.via == "http" and "without its scripts" in busy.notes[0]
        assert web.open_page(f"{site.url}/ticking").text.startswith("words")
        assert web.open_page(f"{site.url}/after").text == "still here"


@needs_browser
def test_what_a_page_loads_besides_itself_is_bounded(tmp_path):
    large = Answer(b"x" * 3_000_000, headers={"Content-Type": "text/plain"})
    with serve({"/": page("<p>words</p><script>fetch('/large'); fetch('/large?2')</script>"), "/large": large}) as site:
        found = opener(tmp_path, site, render_bytes=1_000_000).open_page(site.url)
        assert found.text == "words" and any("loads more than one may" in note for note in found.notes)


def test_a_browser_that_cannot_start_leaves_plain_http(tmp_path):
    with serve({"/": page("<p>words</p>")}) as site:
        found = opener(tmp_path, site, browser="/bin/false").open_page(site.url)
        assert found.text == "words" and "cannot be started as a browser" in found.notes[0]


@pytest.mark.parametrize("browser", ["", pytest.param(None, marks=needs_browser)])
def test_encodings(tmp_path, browser):
    text = "<p>Caf\u00e9 \u201cq\u201d</p>"
    japanese = "<p>\u56f3\u66f8\u9928\u306e\u6642\u9593 \u2460</p>"
    meta = "<meta charset=shift_jis>"
    answers = {
        "/header": Answer(text.encode("cp1252"), headers={"Content-Type": "text/html; charset=ISO-8859-1"}),
        "/meta": Answer((meta + japanese).encode("cp932"), headers={"Content-Type": "text/html"}),
        "/utf16": Answer(japanese.encode("utf-16"), headers={"Content-Type": "text/html"}),
        "/utf16le": Answer(japanese.encode("utf-16-le"), headers={"Content-Type": "text/html; charset=utf-16"}),
        "/bom": Answer(b"\xef\xbb\xbf" + text.encode(), headers={"Content-Type": "text/html; charset=latin1"}),
        "/wrong": Answer(text.encode(), headers={"Content-Type": "text/html; charset=no-such-charset"}),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site, browser)
        paths = list(answers)[: 3 if browser is None else None]  # how a browser gets its text does not depend on more
        found = {path: web.open_page(site.url + path).text for path in paths}
    japanese_text = "\u56f3\u66f8\u9928\u306e\u6642\u9593 \u2460"
    expected = {
        "/header": "Caf\u00e9 \u201cq\u201d",
        "/meta": japanese_text,
        "/utf16": japanese_text,
        "/utf16le": japanese_text,
        "/bom": "Caf\u00e9 \u201cq\u201d",
        "/wrong": "Caf\u00e9 \u201cq\u201d",
    }
    assert found == {path: expected[path] for path in paths}


def test_broken_html_still_gives_its_table(tmp_path):
    broken = (
        "<html><body><h1>Prices<table><tr><th>Item<th>Price<tr><td>Tea<td>2.5<tr><td>Caf\u00e9 <b>au lait<td>3</tr>"
        "</table></div></p><p>end <a href='/x'>more"
    )
    deep = "<div>" * 50_000 + "deep" + "</div>" * 50_000
    html = {"Content-Type": "text/html; charset=utf-8"}
    answers = {
        "/": Answer(broken, headers=html),
        "/deep": page(deep),
        "/empty": page(""),
        "/nothing": Answer("", 200, html),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site, "")
        found = web.open_page(site.url)
        assert found.tables[0].rows == (("Tea", 2.5), ("Caf\u00e9 au lait", 3.0))
        assert "end more" in found.text
        assert [web.open_page(site.url + path).text for path in ("/empty", "/nothing")] == ["", ""]
        web.open_page(f"{site.url}/deep")


def test_paging_links_and_downloads(tmp_path):
    def listing(number, more):
        rows = f"<table><tr><th>id</th><th>name</th></tr><tr><td>{number}</td><td>n{number}</td></tr></table>"
        return page(rows + more)

    answers = {
        "/list": listing(1, "<a href='?page=2'>2</a> <a href='/list2'>Next \u00bb</a> <a href='data/all.csv'>all</a>"),
        "/list2": listing(2, "<a rel=next href='list3'>go on</a><a href='mailto:x@example.org'>m</a>"),
        "/list3": listing(3, "<a href='/list'>first</a><a href='javascript:x()'>next</a><a href='#'>Next</a>"),
        "/data/all.csv": Answer("id;name\n1;n1\n2;n2\n", headers={"Content-Type": "text/csv"}),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site, "")
        ids, url = [], f"{site.url}/list"
        first = web.open_page(url)
        while url:
            found = web.open_page(url)
            ids.append(found.tables[0].rows[0][0])
            url = found.next_url
        assert ids == [1, 2, 3]
        assert [link.url for link in first.downloads] == [f"{site.url}/data/all.csv"]
        assert web.open_page(first.downloads[0].url).tables[0].records() == [
            {"id": 1, "name": "n1"},
            {"id": 2, "name": "n2"},
        ]


def test_signposts_are_followed_and_loops_of_them_end(tmp_path):
    answers = {
        "/start": page("moved", "<meta http-equiv=refresh content=\"0;URL='there'\">"),
        "/there": page("<p>arrived</p>"),
        "/a": page("a", "<meta http-equiv=refresh content='0; url=/b'>"),
        "/b": page("b", "<meta http-equiv=refresh content='0; url=/a'>"),
    }
    with serve(answers) as site:
        web = opener(tmp_path, site, "")
        found = web.open_page(f"{site.url}/start")
        assert found.text == "arrived" and found.record.url == f"{site.url}/there"
        assert web.open_page(f"{site.url}/a").text in ("a", "b") and site.asked.count("/a") == 1


def test_long_pages_are_cut_and_say_so(tmp_path):
    links = "".join(f"<a href='/{i}'>{i}</a> " for i in range(50))
    with serve({"/": page(f"<p>{'word ' * 1000}</p>{links}")}) as site:
        found = opener(tmp_path, site, "", text_chars=100, links=10).open_page(site.url)
        assert len(found.text) == 100 and len(found.links) == 10
        assert "50 links; the first 10" in found.notes[0] and "text; the first 100 are given" in found.notes[1]
