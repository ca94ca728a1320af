"""TCP connections for httpcore that go where the guard says, and end when the request's time is up."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any

import httpcore

from tasks.web.guard import Guard


class GuardedBackend(httpcore.NetworkBackend):
    """Resolves, checks and connects to the checked address. All its streams share one deadline, so that a server
    that sends a byte now and then cannot hold a request open. Raises WebError from `connect_tcp`."""

    def __init__(self, guard: Guard, seconds: float) -> None:
        self._guard, self._deadline = guard, time.monotonic() + seconds
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first of the host's checked addresses that answers."""
        last: Exception = httpcore.ConnectError("no address answered")
        for address in self._guard.addresses(host, port):
            try:
                left = _left(self._deadline, timeout)
                return _Stream(self._inner.connect_tcp(address, port, left, local_address), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last

    def connect_unix_socket(self, path: str, timeout: float | None = None, socket_options: Any = None) -> Any:
        """Refuse: a page never lies behind a local socket."""
        raise httpcore.ConnectError("local sockets are not opened")


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(self._deadline, timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, _left(self._deadline, timeout))
        return _Stream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(deadline: float, timeout: float | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the request's time is up")
    return left if timeout is None else min(left, timeout)
