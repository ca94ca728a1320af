"""What a host's robots.txt allows (RFC 9309), read once a day."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from protego import Protego

from schemas.pages import PageRecord, RobotsFinding
from tasks.web.address import Target
from tasks.web.errors import WebError

LARGEST_ROBOTS = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309, 2.5); the rest is ignored."""

_KEPT = timedelta(hours=24)

FetchRobots = Callable[[str], tuple[PageRecord, bytes]]
"""Fetches a robots.txt, cached or not older than a day. Raises WebError."""


@dataclass(frozen=True)
class Rules:
    """What one host says: its finding when no rule is asked (`no_rules`, `unreachable`), else the rules."""

    read_at: datetime
    without: RobotsFinding
    rules: Protego | None = None


class Robots:
    """The rules of all hosts asked so far. Safe to use from several threads."""

    def __init__(self, fetch: FetchRobots, agent: str, now: Callable[[], datetime]) -> None:
        self._fetch, self._agent, self._now = fetch, agent, now
        self._known: dict[str, Rules] = {}
        self._lock = threading.Lock()

    def finding(self, target: Target) -> RobotsFinding:
        """Say what the host's robots.txt says of an address."""
        found = self._of(target)
        if found.rules is None:
            return found.without
        return "allowed" if found.rules.can_fetch(target.url, self._agent) else "disallowed"

    def crawl_delay(self, target: Target) -> float:
        """Return how many seconds the host wants between two requests; 0 if it does not say."""
        rules = self._of(target).rules
        return float((rules.crawl_delay(self._agent) if rules else 0) or 0)

    def _of(self, target: Target) -> Rules:
        with self._lock:
            found = self._known.get(target.origin)
        if found is None or self._now() - found.read_at > _KEPT:
            found = self._read(f"{target.origin}/robots.txt")
            with self._lock:
                self._known[target.origin] = found
        return found

    def _read(self, url: str) -> Rules:
        now = self._now()
        try:
            record, body = self._fetch(url)
        except WebError as error:
            # An address that the guard refuses is refused as such, whatever its robots.txt would say.
            if error.gate in ("forbidden_address", "bad_url"):
                raise
            return Rules(now, "unreachable")
        if record.status == 429 or record.status >= 500:
            return Rules(now, "unreachable")
        if record.status >= 300:
            return Rules(now, "no_rules")
        return Rules(now, "allowed", Protego.parse(body[:LARGEST_ROBOTS].decode("utf-8-sig", "replace")))
