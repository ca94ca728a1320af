"""Plain HTTP against real servers on loopback: limits, politeness, retries and the page cache."""

from __future__ import annotations

import gzip
import socket
import zlib
from contextlib import suppress
from email.utils import format_datetime

import pytest
from web_sites import Answer, moved, page, serve, virtual_clock

from tasks.store import open_store
from tasks.web import Limits, Web, WebError, load_page
from tasks.web.fetch import Fetcher
from tasks.web.guard import Guard

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def fetching(tmp_path):
    """Return a function that starts a fetcher for a site, and the list of its sleeps."""
    clock, slept = virtual_clock()

    def start(site, **limits):
        return Fetcher(open_store(str(tmp_path)), Guard([site.host]), limits=Limits(**limits), clock=clock)

    return start, slept


def gate_of(fetcher, url):
    with pytest.raises(WebError) as refused:
        fetcher.fetch(url)
    return refused.value.gate


def test_a_page_is_recorded_and_never_asked_for_twice(fetching):
    start, _ = fetching
    with serve({"/a": moved("/b?x=1"), "/b": page("<p>text</p>")}) as site:
        fetcher = start(site)
        record, body = fetcher.fetch(f"{site.url}/a#part")
        assert (record.url, record.final_url, record.status) == (f"{site.url}/a", f"{site.url}/b?x=1", 200)
        assert (record.media_type, record.charset, record.robots, record.via) == (
            "text/html",
            "utf-8",
            "no_rules",
            "http",
        )
        assert record.retrieved_at.startswith("2026-03-01T12:00") and record.size == len(body)
        asked = list(site.asked)
        assert fetcher.fetch(f"{site.url}/a") == (record, body)
        assert start(site).fetch(f"{site.url}/a") == (record, body)
        assert site.asked == asked
        assert load_page(fetcher.store, f"{site.url}/a") == (record, body)
        assert "AgentWorldFactory/" in site.seen[0]["user-agent"] and "crawler" in site.seen[0]["user-agent"]


def test_a_missing_page_is_remembered_as_missing(fetching):
    start, _ = fetching
    with serve({}) as site:
        fetcher = start(site)
        assert [gate_of(fetcher, f"{site.url}/no") for _ in range(2)] == ["http_status", "http_status"]
        assert site.asked == ["/robots.txt", "/no"]


def test_robots_rules_hold(fetching):
    start, slept = fetching
    rules = (
        "User-agent: *\nDisallow: /\n\n"
        "User-agent: AgentWorldFactory\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 7\n"
    )
    answers = {path: page(path) for path in ("/a", "/b", "/private/x", "/private/open")}
    with serve({"/robots.txt": Answer(rules), **answers, "/to": moved("/private/x")}) as site:
        fetcher = start(site)
        assert fetcher.fetch(f"{site.url}/a")[0].robots == "allowed"
        fetcher.fetch(f"{site.url}/b")
        fetcher.fetch(f"{site.url}/private/open")
        assert slept == [1.0, 7.0, 7.0]
        assert gate_of(fetcher, f"{site.url}/private/x") == "robots"
        assert gate_of(fetcher, f"{site.url}/to") == "robots"
        assert site.asked.count("/robots.txt") == 1 and "/private/x" not in site.asked


@pytest.mark.parametrize(
    ("answer", "finding"),
    (
        (Answer("no", 404), "no_rules"),
        (Answer("no", 403), "no_rules"),
        (moved("/elsewhere.txt"), "allowed"),
        (Answer("broken", 500), "robots"),
        (Answer("later", 429), "robots"),
        (moved("/robots.txt"), "robots"),
    ),
)
def test_robots_that_cannot_be_had(fetching, answer, finding):
    """RFC 9309, 2.3.1: a missing file allows everything, a broken server nothing."""
    start, _ = fetching
    with serve(
        {"/robots.txt": answer, "/elsewhere.txt": Answer("User-agent: *\nDisallow: /b"), "/a": page("x")}
    ) as site:
        fetcher = start(site)
        found = gate_of(fetcher, f"{site.url}/a") if finding == "robots" else fetcher.fetch(f"{site.url}/a")[0].robots
        assert found == finding


def test_robots_are_read_again_after_a_day(fetching):
    start, slept = fetching
    with serve({"/robots.txt": Answer("User-agent: *\nAllow: /"), "/a": page("a"), "/b": page("b")}) as site:
        fetcher = start(site)
        fetcher.fetch(f"{site.url}/a")
        site.answers["/robots.txt"] = Answer("User-agent: *\nDisallow: /")
        slept.append(25 * 3600.0)
        assert gate_of(fetcher, f"{site.url}/b") == "robots"


def test_busy_servers_are_asked_again_and_then_left_alone(fetching):
    start, slept = fetching
    with serve(
        {"/busy": Answer("", 503, {"Retry-After": "5"}), "/long": Answer("", 429, {"Retry-After": "999"})}
    ) as site:
        fetcher = start(site, host_interval=0.0)
        assert gate_of(fetcher, f"{site.url}/busy") == "busy"
        assert site.asked.count("/busy") == 3 and slept == [5.0, 5.0]
        assert gate_of(fetcher, f"{site.url}/long") == "busy" and site.asked.count("/long") == 1
        site.answers["/busy"] = page("there")
        assert fetcher.fetch(f"{site.url}/busy")[0].status == 200
        until = format_datetime(fetcher.clock.now().replace(microsecond=0), usegmt=True)
        site.answers["/dated"] = Answer("", 503, {"Retry-After": until})
        assert gate_of(fetcher, f"{site.url}/dated") == "busy"


def test_redirect_loops_and_chains_end(fetching):
    start, _ = fetching
    chain = {f"/{i}": moved(f"/{i + 1}") for i in range(9)}
    with serve({"/a": moved("/b"), "/b": moved("/a"), "/self": moved("/self"), **chain}) as site:
        fetcher = start(site)
        assert {gate_of(fetcher, site.url + path) for path in ("/a", "/self", "/0")} == {"too_many_redirects"}


def _drip(handler):
    with suppress(OSError):
        while True:
            handler.wfile.write(b"x")
            handler.wfile.flush()
            handler.connection.settimeout(0.05)
            with suppress(TimeoutError):
                if not handler.connection.recv(1):
                    return


def _bomb(handler):
    packer = zlib.compressobj(9, wbits=31)
    with suppress(OSError):
        for _ in range(4000):
            handler.wfile.write(packer.compress(bytes(1 << 20)))
        handler.wfile.write(packer.flush())


def test_slow_drips_bombs_and_large_bodies_are_cut_off(fetching):
    start, _ = fetching
    answers = {
        "/drip": Answer(headers=HTML, write=_drip),
        "/bomb": Answer(headers={**HTML, "Content-Encoding": "gzip"}, write=_bomb),
        "/large": Answer(b"x" * 200_000, headers=HTML),
        "/brotli": Answer(b"\x8b\x02\x80abc\x03", headers={**HTML, "Content-Encoding": "br"}),
        "/nested": Answer(gzip.compress(gzip.compress(b"x")), headers={**HTML, "Content-Encoding": "gzip, gzip"}),
        "/damaged": Answer(b"\x1f\x8b\x08rubbish", headers={**HTML, "Content-Encoding": "gzip"}),
        "/short": Answer(gzip.compress(b"x" * 9999)[:30], headers={**HTML, "Content-Encoding": "gzip"}),
        "/film": Answer(b"x", headers={"Content-Type": "video/mp4"}),
        "/packed": Answer(gzip.compress(b"fine"), headers={**HTML, "Content-Encoding": "gzip"}),
        "/raw": Answer(zlib.compress(b"fine")[2:-4], headers={**HTML, "Content-Encoding": "deflate"}),
    }
    with serve(answers) as site:
        fetcher = start(site, page_bytes=100_000, request_seconds=0.5, attempts=1)
        found = {path: gate_of(fetcher, site.url + path) for path in list(answers)[:8]}
        assert found == {
            "/drip": "too_slow",
            "/bomb": "too_large",
            "/large": "too_large",
            "/brotli": "content_coding",
            "/nested": "content_coding",
            "/damaged": "content_coding",
            "/short": "content_coding",
            "/film": "media_type",
        }
        assert [fetcher.fetch(site.url + path)[1] for path in ("/packed", "/raw")] == [b"fine", b"fine"]


def test_a_server_that_is_gone_or_talks_nonsense(fetching):
    start, _ = fetching
    with serve({"/robots.txt": Answer("User-agent: *\nAllow: /"), "/odd": page("x")}) as site:
        fetcher = start(site, attempts=1)
        fetcher.fetch(f"{site.url}/odd")
    assert gate_of(fetcher, f"{site.url}/gone") == "unreachable"
    with pytest.raises(WebError) as refused:
        Fetcher(fetcher.store, Guard(resolver=_no_such_name)).fetch("http://nowhere.example/")
    assert refused.value.gate in ("unreachable", "robots")


def _no_such_name(host, port):
    raise socket.gaierror("no such name")


def test_file_names_from_servers_are_harmless(tmp_path):
    cases = {
        'attachment; filename="../../etc/passwd"': "passwd",
        "attachment; filename*=UTF-8''%2e%2e%2fr%C3%A9sum%C3%A9.csv": "r_sum.csv",
        'attachment; filename=".bashrc"': "bashrc",
        'attachment; filename="..\\\\..\\\\run.bat"': "run.bat",
        'attachment; filename="CON.csv"': "",
        "": "d",
    }
    answers = {f"/{i}/d": Answer("a,b\n1,2\n", headers={"Content-Type": "text/csv", "Content-Disposition": said})
               for i, said in enumerate(cases)}  # fmt: skip
    with serve(answers) as site:
        web = Web(open_store(str(tmp_path)), allow=[site.host], browser="", clock=virtual_clock()[0])
        found = [web.read(f"{site.url}/{i}/d")[0].file_name for i in range(len(cases))]
    assert found == ["passwd", found[1], "bashrc", "run.bat", "", "d"]
    assert "/" not in found[1] and found[1].endswith(".csv") and not found[1].startswith(".")
