"""One HTTP request over a guarded connection, with bounds on time, type and size."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

import httpcore

from tasks.web.address import Target
from tasks.web.connect import GuardedBackend
from tasks.web.errors import WebError
from tasks.web.guard import Guard
from tasks.web.headers import content_type
from tasks.web.limits import Limits
from tasks.web.robots import LARGEST_ROBOTS
from tasks.web.unpack import ACCEPT_ENCODING, read_body

AGENT = "AgentWorldFactory"
"""The product token that robots.txt files can name."""

MOVED = (301, 302, 303, 307, 308)
BUSY = (429, 500, 502, 503, 504)
_ACCEPT = "text/html,application/xhtml+xml,application/json,text/csv,text/plain,application/pdf,*/*;q=0.5"
_CLOSED_TYPES = ("image/", "video/", "audio/", "font/", "application/x-msdownload", "application/x-executable")


@dataclass(frozen=True)
class Answer:
    """What a server answered; header names are in lower case. Redirects and busy answers carry no body."""

    status: int
    headers: dict[str, str]
    body: bytes = b""


def user_agent() -> str:
    """Return the User-Agent that all requests carry: the project's name, its version and what it does."""
    return f"{AGENT}/{version('agentworld-factory')} (research crawler; obeys robots.txt)"


def ask(guard: Guard, target: Target, limits: Limits, *, robots: bool = False) -> Answer:
    """Make one GET request. `robots` is for a robots.txt: of any type, and read up to its first 500 KiB.

    Raises:
        WebError: gates `forbidden_address`, `unreachable` (no such host), `media_type`, `too_large`, `content_coding`.
        httpcore.NetworkError, TimeoutException, ProtocolError: for what may go better the next time.
    """
    headers = {
        "Host": target.origin.split("//")[1],
        "User-Agent": user_agent(),
        "Accept": _ACCEPT,
        "Accept-Encoding": ACCEPT_ENCODING,
        "Accept-Language": "en, *;q=0.5",
        "Connection": "close",
    }
    backend = GuardedBackend(guard, limits.request_seconds)
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), limits.request_seconds)
    with (
        httpcore.ConnectionPool(network_backend=backend) as pool,
        pool.stream("GET", target.url, headers=headers, extensions={"timeout": timeout}) as response,
    ):
        found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status in MOVED or response.status in BUSY:
            return Answer(response.status, found)
        if not robots:
            _check_head(found, target.url, limits, response.status)
        limit = LARGEST_ROBOTS if robots else limits.page_bytes
        coding = found.get("content-encoding", "")
        body = read_body(response.iter_stream(), coding, limit, target.url, cut=robots)
        return Answer(response.status, found, body)


def _check_head(headers: dict[str, str], url: str, limits: Limits, status: int) -> None:
    media_type = content_type(headers)[0]
    if status < 400 and media_type.startswith(_CLOSED_TYPES):
        raise WebError("media_type", url, f"is {media_type}, which is not read")
    size = headers.get("content-length", "")
    if size.isdigit() and int(size[:18]) > limits.page_bytes:
        raise WebError("too_large", url, f"holds {size} bytes, more than {limits.page_bytes}")
