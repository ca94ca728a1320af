"""A loopback MCP registry for tests: answers that are written out by path, and a note of what was asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Answer = tuple[int, dict[str, str], bytes]


class Registry:
    """`answers` maps a path with its query to what is answered in turn; the last answer stays."""

    def __init__(self, answers: dict[str, list[Any]]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.address = ""

    def next_answer(self, path: str) -> Answer:
        """Return the next answer of a path: a JSON value, bytes, or (status, headers) is turned into a whole one."""
        left = self.answers.get(path, [(404, {})])
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, tuple):
            return answer[0], answer[1], b"{}"
        return 200, {}, answer if isinstance(answer, bytes) else json.dumps(answer).encode()


@contextlib.contextmanager
def registry_server(answers: dict[str, list[Any]]) -> Iterator[Registry]:
    """Yield a registry that listens at `.address` while the block runs."""
    registry = Registry(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            registry.asked.append(self.path)
            registry.headers.append(dict(self.headers))
            status, headers, body = registry.next_answer(f"{parts.path}?{parts.query}" if parts.query else parts.path)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
