"""Plain HTTP, politely: cache, guard, robots.txt, a rate limit a host, limits on everything, retries."""

from __future__ import annotations

import contextlib
import hashlib
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

import httpcore

from schemas.pages import PageRecord, RobotsFinding
from tasks.store import Store
from tasks.web.address import Target
from tasks.web.cache import load_page, save_page
from tasks.web.errors import WebError
from tasks.web.guard import Guard
from tasks.web.headers import content_type, file_name
from tasks.web.licence import find_licence
from tasks.web.limits import Clock, Limits
from tasks.web.pace import Pace
from tasks.web.request import AGENT, BUSY, MOVED, Answer, ask
from tasks.web.robots import Robots

_WORTH_ANOTHER = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError)


class Fetcher:
    """Fetches pages over HTTP and keeps them. Safe to use from several threads."""

    def __init__(
        self, store: Store, guard: Guard | None = None, *, limits: Limits | None = None, clock: Clock | None = None
    ) -> None:
        self.store, self.guard = store, guard or Guard()
        self.limits, self.clock = limits or Limits(), clock or Clock()
        self._pace = Pace(self.clock)
        self._robots = Robots(self._robots_txt, AGENT, self.clock.now)

    def fetch(self, url: str) -> tuple[PageRecord, bytes]:
        """Return a page's record and its bytes, unpacked; from the store if it was ever opened before.

        Raises:
            WebError: if it cannot or may not be had. An answer of 400 or more is stored like a page and raised as
                `http_status`; what may pass (429, 5xx, time-outs) is tried again and then not stored.
        """
        target = self.guard.target(url)
        found = load_page(self.store, target.url)
        if found is None:
            found = self._get(target)
        if found[0].status >= 400:
            raise WebError("http_status", url, f"answers {found[0].status}: there is no such page to be had")
        return found

    def _robots_txt(self, url: str) -> tuple[PageRecord, bytes]:
        found = load_page(self.store, url)
        day_ago = (self.clock.now().astimezone(UTC) - timedelta(hours=24)).isoformat(timespec="seconds")
        if found is not None and found[0].retrieved_at > day_ago:
            return found
        return self._get(self.guard.target(url), robots=True)

    def _get(self, target: Target, *, robots: bool = False) -> tuple[PageRecord, bytes]:
        """Follow redirects from an address to a page, each checked as the first address was, and store it."""
        passed: list[str] = []
        here = target
        while True:
            finding: RobotsFinding = "not_asked" if robots else self._allowed(here)
            answer = self._answer(here, robots)
            if answer.status not in MOVED or "location" not in answer.headers:
                record = self._record(target, here, passed[1:], answer, finding)
                return save_page(self.store, record, answer.body), answer.body
            passed.append(here.url)
            if len(passed) > self.limits.redirects:
                raise WebError("too_many_redirects", target.url, f"leads on more than {self.limits.redirects} times")
            here = self.guard.target(urljoin(here.url, answer.headers["location"]))
            if here.url in passed:
                raise WebError("too_many_redirects", target.url, "leads back to itself")

    def _allowed(self, target: Target) -> RobotsFinding:
        finding = self._robots.finding(target)
        if finding == "disallowed":
            raise WebError("robots", target.url, "is closed to crawlers by its host's robots.txt")
        if finding == "unreachable":
            raise WebError("robots", target.url, "is not opened, since its host's robots.txt cannot be read now")
        return finding

    def _answer(self, target: Target, robots: bool) -> Answer:
        """Ask until there is an answer that will last, at most `attempts` times."""
        longest = self.limits.longest_wait
        delay = 0.0 if robots else self._robots.crawl_delay(target)
        if delay > longest:
            raise WebError("busy", target.url, f"wants {delay:.0f} seconds between requests: too long to wait")
        error = WebError("unreachable", target.url, "was not asked: no attempt is allowed")
        for attempt in range(self.limits.attempts):
            self._pace.wait(target.host, max(self.limits.host_interval, delay))
            pause = 2.0**attempt
            try:
                answer = ask(self.guard, target, self.limits, robots=robots)
            except httpcore.TimeoutException:
                error = WebError("too_slow", target.url, f"takes longer than {self.limits.request_seconds:g} seconds")
            except _WORTH_ANOTHER as failure:
                error = WebError("unreachable", target.url, f"cannot be read ({type(failure).__name__})")
            else:
                if answer.status not in BUSY:
                    return answer
                error = WebError("busy", target.url, f"answers {answer.status}: try again later")
                pause = max(pause, self._retry_after(answer.headers.get("retry-after", "")))
            if pause > longest or attempt + 1 == self.limits.attempts:
                raise error
            self.clock.sleep(pause)
        raise error

    def _retry_after(self, value: str) -> float:
        """Return the seconds that a Retry-After header asks for (RFC 9110, 10.2.3); 0 if it says nothing usable."""
        if value.isdigit():
            return float(value[:9])
        with contextlib.suppress(ValueError, TypeError):
            return max(0.0, (parsedate_to_datetime(value) - self.clock.now()).total_seconds())
        return 0.0

    def _record(
        self, asked: Target, answered: Target, redirects: list[str], answer: Answer, finding: RobotsFinding
    ) -> PageRecord:
        media_type, charset = content_type(answer.headers)
        licence, evidence = find_licence(answer.headers, answer.body, media_type, charset)
        return PageRecord(
            url=asked.url,
            final_url=answered.url,
            redirects=tuple(redirects),
            status=answer.status,
            media_type=media_type,
            charset=charset,
            file_name=file_name(answer.headers, answered.url),
            retrieved_at=self.clock.now().astimezone(UTC).isoformat(timespec="seconds"),
            sha256=hashlib.sha256(answer.body).hexdigest(),
            size=len(answer.body),
            robots=finding,
            licence=licence,
            licence_evidence=evidence,
        )
