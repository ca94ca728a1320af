"""A forward proxy on loopback that stands between a browser's page and the network.

Why a proxy and not rules inside the browser: everything that a page can start (documents, scripts, redirects, workers,
preflights, websockets) leaves Chromium through its proxy, names unresolved, so one guard sees all of it, resolves each
name once and connects to the address that it checked. Request interception sees neither websockets nor the hops of a
redirect, and a browser that resolves names itself can be led to another address than the one that was checked.
"""

from __future__ import annotations

import asyncio
import contextlib
import re

from tasks.web.errors import WebError
from tasks.web.guard import Guard
from tasks.web.limits import Limits

_HEAD_SECONDS = 10.0
_CHUNK = 1 << 16
_HOP = re.compile(rb"(?im)^(proxy-[a-z-]+|connection|keep-alive)[ \t]*:.*\r\n")


class GuardProxy:
    """The proxy of one page. `refused` says what the page asked for in vain, `received` how many bytes it got."""

    def __init__(self, guard: Guard, limits: Limits) -> None:
        self._guard, self._limits = guard, limits
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.refused: list[str] = []
        self.received = 0

    async def start(self) -> str:
        """Listen on a free port of 127.0.0.1; return the proxy's address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_CHUNK)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """End all connections and stop listening."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # a broken connection is the browser's to notice
        except asyncio.CancelledError:
            pass  # by close(): the task ends here
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_SECONDS)
        line, _, fields = head.partition(b"\r\n")
        method, address, _ = line.decode("latin-1").split(" ", 2)
        tunnel = method == "CONNECT"
        try:
            target = self._guard.target(f"https://{address}" if tunnel else address)
            found = await asyncio.to_thread(self._guard.addresses, target.host, target.port)
            if self.received > self._limits.render_bytes:
                raise WebError("too_large", address, "is not loaded: the page has loaded as much as one may")
        except WebError as error:
            self.refused.append(str(error))
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        up_reader, up_writer = await asyncio.wait_for(
            asyncio.open_connection(found[0], target.port, limit=_CHUNK), self._limits.request_seconds
        )
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = target.url.removeprefix(target.origin)
                up_writer.write(f"{method} {path} HTTP/1.1\r\n".encode("latin-1") + _closing(fields))
                answer = await asyncio.wait_for(up_reader.readuntil(b"\r\n\r\n"), self._limits.request_seconds)
                status, _, rest = answer.partition(b"\r\n")
                writer.write(status + b"\r\n" + _closing(rest))
            await asyncio.gather(self._relay(reader, up_writer, False), self._relay(up_reader, writer, True))
        finally:
            up_writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counted: bool) -> None:
        """Pass bytes on until one side ends; then end the other, so that both directions stop."""
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                self.received += len(data) if counted else 0
                if self.received > self._limits.render_bytes:
                    self.refused.append("the page loads more than one may: the rest is cut off")
                    break
                writer.write(data)
                await writer.drain()
        writer.close()


def _closing(fields: bytes) -> bytes:
    """Return header fields without those of this hop, and with the word that the connection ends after one answer:
    so no later request for another host can follow on it."""
    return b"Connection: close\r\n" + _HOP.sub(b"", fields)
