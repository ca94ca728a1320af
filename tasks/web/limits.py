"""Bounds on what one page may cost, and the clock that politeness runs on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Limits:
    """Bounds of one page; what passes one is refused, or cut where the field says so.

    Sizes are bytes after decompression, times are seconds.
    """

    page_bytes: int = 32 * 2**20
    request_seconds: float = 30.0
    redirects: int = 5
    attempts: int = 3
    longest_wait: float = 60.0
    """Longest pause that a server's Retry-After or Crawl-delay may ask for; a longer one means: not now."""
    host_interval: float = 1.0
    """Least time between two requests to one host."""
    render_seconds: float = 20.0
    """Time that a page's own scripts get; what is there by then is taken."""
    render_bytes: int = 48 * 2**20
    """What a page may load besides itself, as it goes over the wire."""
    text_chars: int = 400_000
    """Text is cut here, and the page says so."""
    links: int = 2_000
    """Links are cut here, and the page says so."""
    moves: int = 3
    """How often a page may send its reader on (by script or meta refresh)."""


@dataclass(frozen=True)
class Clock:
    """Where the time in records comes from, and what waits between requests."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
