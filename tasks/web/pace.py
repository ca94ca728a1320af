"""The least time between two requests to one host, kept by all threads of a process."""

from __future__ import annotations

import threading

from tasks.web.limits import Clock


class Pace:
    """Lets one request a host through at a time, each so long after the last as the host wants."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, host: str, interval: float) -> None:
        """Return when the next request to the host may be made; the next turn is `interval` seconds later."""
        with self._lock:
            now = self._clock.monotonic()
            turn = max(now, self._next.get(host, now))
            self._next[host] = turn + interval
        if turn > now:
            self._clock.sleep(turn - now)
