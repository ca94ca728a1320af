"""Loopback web sites for tests: a site of given answers, a folder served as it is, and a counter of connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tasks.web import Clock


@dataclass
class Answer:
    """What a site answers at a path. `write` may send the body itself, piece by piece."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    write: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass
class Site:
    """A running site: its address, what it answers (to be changed at will), and the paths asked for so far."""

    url: str
    host: str
    answers: dict[str, Answer]
    asked: list[str] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)


def page(body: str, head: str = "") -> Answer:
    """Return an HTML page in UTF-8."""
    text = f"<!doctype html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    return Answer(text, headers={"Content-Type": "text/html; charset=utf-8"})


def moved(to: str, status: int = 302) -> Answer:
    """Return a redirect."""
    return Answer(status=status, headers={"Location": to})


@contextmanager
def serve(answers: dict[str, Answer]) -> Iterator[Site]:
    """Run a site on a free port of 127.0.0.1; what it has no answer for is a 404."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.asked.append(self.path)
            site.seen.append({name.lower(): value for name, value in self.headers.items()})
            answer = site.answers.get(self.path.split("?")[0], Answer("not here", 404, {"Content-Type": "text/plain"}))
            with suppress(OSError):
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.write is not None:
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.close_connection = True
                    answer.write(self)
                    return
                body = answer.body.encode() if isinstance(answer.body, str) else answer.body
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *arguments: object) -> None:
            pass

    with _running(Handler) as port:
        site = Site(f"http://127.0.0.1:{port}", f"127.0.0.1:{port}", answers)
        yield site


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder's files on a free port of 127.0.0.1; yield its address."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object, **named: object) -> None:
            super().__init__(*arguments, directory=str(folder), **named)  # type: ignore[arg-type]

        def log_message(self, *arguments: object) -> None:
            pass

    with _running(Handler) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Forbidden:
    """A server that nobody may reach: every connection to it, of whatever kind, is counted, with its first bytes."""

    url: str
    host: str
    hits: list[bytes] = field(default_factory=list)


@contextmanager
def forbidden_server() -> Iterator[Forbidden]:
    """Listen on a free port of 127.0.0.1 (TCP and UDP) and count what arrives."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", port))
    found = Forbidden(f"http://127.0.0.1:{port}", f"127.0.0.1:{port}")

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            found.hits.append(b"connected")
            with connection, suppress(OSError):
                connection.settimeout(2)
                found.hits[-1] = connection.recv(200) or b"connected"
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")

    def receive() -> None:
        while True:
            try:
                data = datagrams.recv(200)
            except OSError:
                return
            if not data:
                return
            found.hits.append(data)

    threads = [threading.Thread(target=work, daemon=True) for work in (accept, receive)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        with suppress(OSError):
            datagrams.shutdown(socket.SHUT_RDWR)
        datagrams.close()


def virtual_clock(start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> tuple[Clock, list[float]]:
    """Return a clock on which only sleeping passes time, and the list of its sleeps so far."""
    slept: list[float] = []
    return Clock(lambda: start + timedelta(seconds=sum(slept)), lambda: sum(slept), slept.append), slept
