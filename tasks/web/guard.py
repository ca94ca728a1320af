"""The guard: every connection of the web room is made here, to an address that was resolved and checked just before.

The address that was checked is the one connected to, so a name that answers differently the second time (DNS
rebinding) gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Sequence

from tasks.web.address import Target, check_host, is_public, parse_target
from tasks.web.errors import WebError

Resolver = Callable[[str, int], Sequence[str]]
"""Turns a host and a port into IP addresses. Raises OSError if there are none."""


def resolve(host: str, port: int) -> list[str]:
    """Ask the system for the IP addresses of a host, each once, in its order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Guard:
    """Lets through what leads to the public internet, and the hosts that the user allows by name.

    `allow` holds hosts (`intranet.example`) or hosts with a port (`127.0.0.1:8000`); these may have any address.
    """

    def __init__(self, allow: Collection[str] = (), *, resolver: Resolver = resolve) -> None:
        self._allowed = frozenset(_allowed(entry) for entry in allow)
        self._resolve = resolver

    def target(self, url: str) -> Target:
        """Take a URL apart and check it as far as that goes without the network.

        Raises:
            WebError: gates `bad_url` and, for an IP address that is not public, `forbidden_address`.
        """
        target = parse_target(url)
        self._check(target.host, target.port, [target.host] if _is_address(target.host) else [], url)
        return target

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the IP addresses of a host, all of them checked; connect to these, never to the name.

        Raises:
            WebError: gate `forbidden_address` if one of them is not public, `unreachable` if there are none.
        """
        url = f"{host}:{port}"
        name = check_host(host, url)
        try:
            found = [name] if _is_address(name) else list(self._resolve(name, port))
        except OSError:
            raise WebError("unreachable", url, "has no address: the name does not resolve") from None
        if not found:
            raise WebError("unreachable", url, "has no address: the name does not resolve")
        self._check(name, port, found, url)
        return found

    def _check(self, host: str, port: int, found: Sequence[str], url: str) -> None:
        if (host, 0) in self._allowed or (host, port) in self._allowed:
            return
        closed = [address for address in found if not is_public(address)]
        if closed:
            named = "is" if closed[0] == host else f"leads to {closed[0]}, which is"
            raise WebError("forbidden_address", url, f"{named} no public address: only a user can allow such a host")


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _allowed(entry: str) -> tuple[str, int]:
    try:
        target = parse_target(f"http://{entry}")
        if set(entry) & set("/?#"):
            raise WebError("bad_url", entry, "is more than that")
    except WebError as error:
        raise ValueError(f"{entry!r} is no host or host:port to allow: {error.reason}") from None
    has_port = entry.rpartition(":")[2].isdigit() and not (entry.startswith("[") and entry.endswith("]"))
    return target.host, target.port if has_port and ":" in entry else 0
