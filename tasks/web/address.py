"""Which URLs and which IP addresses may be asked at all. Nothing here touches the network.

Address classes: RFC 6890 (special purpose registries), RFC 4291 and 6052 (IPv4 inside IPv6), RFC 3056 (6to4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urlsplit, urlunsplit

from tasks.web.errors import WebError

_BAD = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_PORTS = {"http": 80, "https": 443}
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_CLOSED4 = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3",
        "168.63.129.16/32",  # a cloud's host agent, though its range is public
    )
)  # fmt: skip
_OPEN6 = IPv6Network("2000::/3")
_CLOSED6 = tuple(IPv6Network(net) for net in ("2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"))


@dataclass(frozen=True)
class Target:
    """A URL taken apart: `host` is in ASCII and lower case, `url` is the normal form without fragment."""

    scheme: str
    host: str
    port: int
    url: str

    @property
    def origin(self) -> str:
        """Scheme, host and, where it is not the scheme's own, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def parse_target(url: str) -> Target:
    """Take a URL apart, strictly: forms that two parsers read in two ways are refused.

    Raises:
        WebError: gate `bad_url`, for another scheme than http and https, user names, backslashes, spaces, hosts
            written as odd numbers (octal, hexadecimal, one integer), names that are no host names, and odd ports.
    """
    if len(url) > 4000 or _BAD.search(url):
        raise WebError("bad_url", url, "holds spaces, control characters or backslashes, or is too long")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise WebError("bad_url", url, "is no URL") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise WebError("bad_url", url, "is not http or https: only these are opened")
    if "@" in parts.netloc:
        raise WebError("bad_url", url, "holds a user name: write the address without it")
    host = check_host(parts.hostname or "", url)
    port = _PORTS[scheme] if port is None else port
    if port not in (80, 443) and port < 1024:
        raise WebError("bad_url", url, f"asks for port {port}, which is no web server's")
    target = Target(scheme, host, port, "")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return Target(scheme, host, port, urlunsplit((scheme, target.origin.split("//")[1], path, query, "")))


def check_host(host: str, url: str) -> str:
    """Return a host name or IP address in normal form.

    Raises:
        WebError: gate `bad_url`, if it is neither, or an IP address in another than the usual form.
    """
    if ":" in host:
        if "%" in host:
            raise WebError("bad_url", url, "holds an IPv6 address with a zone")
        try:
            return str(IPv6Address(host))
        except ValueError:
            raise WebError("bad_url", url, "holds no valid IPv6 address") from None
    try:
        name = host.lower() if host.isascii() else host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise WebError("bad_url", url, "holds no valid host name") from None
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(name))
        except ValueError:
            raise WebError("bad_url", url, "writes an IP address in an unusual form") from None
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise WebError("bad_url", url, "holds no valid host name")
    return name


def is_public(address: str) -> bool:
    """Say whether an IP address belongs to the public internet.

    IPv4 inside IPv6 (mapped, compatible, 6to4, NAT64) counts as that IPv4 address; Teredo is refused.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv4Address):
        return not any(found in net for net in _CLOSED4)
    inner = _inside(found)
    if inner is not None:
        return is_public(str(inner))
    return found in _OPEN6 and not any(found in net for net in _CLOSED6)


def _inside(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for."""
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in net for net in _NAT64) or int(address) >> 32 == 0:
        return low
    if (int(address) >> 32) & 0xFFFFFFFF in (0x5EFE, 0x2005EFE):  # ISATAP, RFC 5214
        return low
    return None
