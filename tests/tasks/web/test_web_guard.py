"""Addresses that are refused, in every form that they can be written or hidden in, and those that are let through."""

from __future__ import annotations

import pytest
from web_sites import forbidden_server, moved, page, serve, virtual_clock

from tasks.store import open_store
from tasks.web import Guard, Web, WebError
from tasks.web.address import is_public, parse_target

CLOSED = (
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "169.254.169.254",
    "172.31.255.255", "192.0.0.192", "192.168.1.1", "192.88.99.1", "198.18.0.1", "203.0.113.7", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1",
    "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2001:0:53aa:64c:0:fffe:80ff:fffe", "2001:db8::1",
    "3fff::1", "2600::5efe:7f00:1", "100::1", "not an address",
)  # fmt: skip
OPEN = ("1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8")


@pytest.mark.parametrize("address", CLOSED)
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", OPEN)
def test_addresses_that_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    (
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "data:text/html,x",
        "//example.org/", "example.org", "http://user@example.org/", "http://user:word@example.org/",
        "http://example.org\\@127.0.0.1/", "http://example.org\t/", "http://exa mple.org/", "http://2130706433/",
        "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.1/", "http://127.0.0.01/",
        "http://1.1.1.1.1/", "http://[::1%25lo]/", "http://[:::1]/", "http://example.org:22/", "http://example.org:99999/",
        "http:///path", "http://-bad-.example/", "http://a..b/", "http://xn--\u00e9/",
        f"http://example.org/{'a' * 5000}",
    ),
)  # fmt: skip
def test_urls_that_are_refused_as_they_are_written(url):
    with pytest.raises(WebError) as refused:
        Guard().target(url)
    assert refused.value.gate == "bad_url"


@pytest.mark.parametrize(
    "url",
    ("http://127.0.0.1/", "https://169.254.169.254/latest/", "http://[::1]:8080/", "http://[::ffff:127.0.0.1]/",
     "http://10.0.0.1./"),
)  # fmt: skip
def test_addresses_in_urls_are_refused_without_asking_the_network(url):
    with pytest.raises(WebError) as refused:
        Guard(resolver=lambda host, port: pytest.fail("nothing is to be resolved")).target(url)
    assert refused.value.gate == "forbidden_address"


def test_urls_get_one_normal_form():
    assert parse_target("HTTP://EXAMPLE.org:80/a b".replace(" ", "%20") + "#part").url == "http://example.org/a%20b"
    assert parse_target("https://b\u00fccher.example/\u00fc?q=\u00e4").url == (
        "https://xn--bcher-kva.example/%C3%BC?q=%C3%A4"
    )
    assert parse_target("http://[2606:4700:0:0::1111]:8080").url == "http://[2606:4700::1111]:8080/"


def test_a_name_is_refused_if_any_of_its_addresses_is_internal():
    guard = Guard(resolver=lambda host, port: ["1.1.1.1", "10.0.0.1"])
    with pytest.raises(WebError, match=r"leads to 10\.0\.0\.1") as refused:
        guard.addresses("rebound.example", 80)
    assert refused.value.gate == "forbidden_address"
    assert Guard(resolver=lambda host, port: ["1.1.1.1"]).addresses("fine.example", 443) == ["1.1.1.1"]


def test_a_user_allows_a_host_or_one_of_its_ports():
    def resolver(host: str, port: int) -> list[str]:
        return ["10.0.0.1"]

    assert Guard(["wiki.example"], resolver=resolver).addresses("WIKI.example", 8080) == ["10.0.0.1"]
    one = Guard(["wiki.example:8080", "[::1]:8000"], resolver=resolver)
    assert one.addresses("wiki.example", 8080) == ["10.0.0.1"]
    assert one.target("http://[::1]:8000/").host == "::1"
    for url in ("http://[::1]:8001/", "http://[::1]/"):
        with pytest.raises(WebError):
            one.target(url)
    with pytest.raises(WebError):
        one.addresses("wiki.example", 80)
    with pytest.raises(ValueError, match="no host or host:port"):
        Guard(["http://wiki.example"])


def test_a_connection_goes_to_the_address_that_was_checked(tmp_path):
    """DNS rebinding gains nothing: a connection resolves the name once, and the name itself is never connected to."""
    with forbidden_server() as forbidden, serve({"/": page("reached")}) as site:
        asked: list[str] = []

        def resolver(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"]

        port = site.host.rpartition(":")[2]
        name, other = f"pinned.example:{port}", f"rebound.example:{forbidden.host.rpartition(':')[2]}"
        store, clock = open_store(str(tmp_path)), virtual_clock()[0]
        web = Web(store, allow=[name], resolver=resolver, browser="", clock=clock)
        assert web.open_page(f"http://{name}/").text == "reached"
        assert asked == ["pinned.example"] * len(site.asked) == ["pinned.example"] * 2
        with pytest.raises(WebError) as refused:
            web.open_page(f"http://{other}/")
        assert refused.value.gate == "forbidden_address" and forbidden.hits == []


def test_redirects_are_checked_at_each_step(tmp_path):
    with forbidden_server() as forbidden, serve({"/a": moved("/b"), "/b": moved(f"{forbidden.url}/admin")}) as site:
        web = Web(open_store(str(tmp_path)), allow=[site.host], browser="", clock=virtual_clock()[0])
        with pytest.raises(WebError) as refused:
            web.open_page(f"{site.url}/a")
        assert refused.value.gate == "forbidden_address"
        assert site.asked == ["/robots.txt", "/a", "/b"] and forbidden.hits == []
