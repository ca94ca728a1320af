"""A scripted OpenAI-compatible chat server on the loopback address, for tests that drive agents over real HTTP.

    with ChatServer([answer({"name": "hotels"}), status(429, retry_after=0)]) as server:
        ... base_url=server.base_url ...
    assert server.requests[0].headers["authorization"] == "Bearer key"

A script is a list of replies given in turn, a function of the request's body, or a mapping from a marker to one of
these: the first marker that occurs in a request's messages decides, which keeps the roles of a run apart.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One reply: an assistant's message, or an HTTP error, a body that is no JSON, or silence."""

    content: str | None = ""
    tool_calls: tuple[tuple[str, str], ...] = ()
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    silent: bool = False
    trickles: bool = False
    usage: tuple[int, int] | None = None
    counted: bool = True


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; header names are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All that its messages say."""
        return "\n".join(str(message.get("content") or "") for message in self.body.get("messages", ()))


Script = Sequence[Scripted] | Callable[[dict[str, Any]], Scripted]


def say(text: str, **others: Any) -> Scripted:
    """Return a reply in plain text."""
    return Scripted(text, **others)


def answer(value: Any, **others: Any) -> Scripted:
    """Return a reply that is a JSON text."""
    return Scripted(json.dumps(value), **others)


def fenced(value: Any, before: str = "Here it is:", after: str = "Tell me if you need more.") -> Scripted:
    """Return a reply with JSON in a code fence amid words."""
    return Scripted(f"{before}\n```json\n{json.dumps(value, indent=1)}\n```\n{after}")


def call(name: str, arguments: Any, content: str | None = None) -> Scripted:
    """Return a reply that calls one tool; arguments that are a text are sent as they are, well formed or not."""
    return calls((name, arguments), content=content)


def calls(*named: tuple[str, Any], content: str | None = None) -> Scripted:
    """Return a reply that calls several tools."""
    made = tuple((name, given if isinstance(given, str) else json.dumps(given)) for name, given in named)
    return Scripted(content, tool_calls=made, finish_reason="tool_calls")


def refusal(text: str = "I can't help with that.") -> Scripted:
    """Return a refusal in the field that the API has for it."""
    return Scripted(None, refusal=text)


def filtered() -> Scripted:
    """Return an answer that the provider's content filter stopped."""
    return Scripted("", finish_reason="content_filter")


def truncated(text: str) -> Scripted:
    """Return an answer that max_tokens cut off."""
    return Scripted(text, finish_reason="length")


def status(code: int, retry_after: float | str | None = None, message: str = "scripted failure") -> Scripted:
    """Return an HTTP error."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Scripted(message, status=code, headers=headers)


def no_json() -> Scripted:
    """Return a response with status 200 whose body is no JSON."""
    return Scripted(raw=b"<html>gateway</html>")


def hang() -> Scripted:
    """Return silence until the server is closed."""
    return Scripted(silent=True)


def trickle() -> Scripted:
    """Return a response that goes on for as long as the server is open, a byte at a time."""
    return Scripted(trickles=True)


class ChatServer:
    """The server; `requests` are the completions asked for, `looked` the other paths. Use it in a `with` block."""

    def __init__(self, script: Script | Mapping[str, Script]) -> None:
        self._scripts: dict[str, Script] = dict(script) if isinstance(script, Mapping) else {"": script}
        self._given: dict[str, int] = {}
        self._lock, self._closing = threading.Lock(), threading.Event()
        self.requests: list[Seen] = []
        self.looked: list[Seen] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ChatServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def choose(self, seen: Seen) -> Scripted:
        """Return the reply to a request; one that no script has a reply for gets status 400, which says so."""
        with self._lock:
            self.requests.append(seen)
            marker = next((marker for marker in self._scripts if marker in seen.text), None)
            if marker is None:
                return status(400, message=f"no script for: {seen.text[:300]}")
            script = self._scripts[marker]
            if callable(script):
                return script(seen.body)
            number = self._given.get(marker, 0)
            self._given[marker] = number + 1
        if number >= len(script):
            return status(400, message=f"the script {marker!r} has only {len(script)} replies")
        return script[number]

    def wait_for_close(self, seconds: float = 60) -> bool:
        """Return when the server is closed, or after a time; say which."""
        return self._closing.wait(seconds)


def _completion(reply: Scripted, seen: Seen) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(reply.tool_calls)
        ]
    read, written = reply.usage or (len(seen.text) // 4, len(reply.content or "") // 4 + 8)
    body = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": seen.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
    }
    if reply.counted:
        body["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return body


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def _seen(self) -> Seen:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            return Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body)

        def _send(self, code: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _trickle(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                while not server.wait_for_close(0.05):
                    self.wfile.write(b" ")

        def do_GET(self) -> None:
            server.looked.append(self._seen())
            self._send(
                200, json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode(), {}
            )

        def do_POST(self) -> None:
            seen = self._seen()
            reply = server.choose(seen)
            if reply.silent:
                server.wait_for_close()
                self.close_connection = True
            elif reply.trickles:
                self._trickle()
            elif reply.raw is not None:
                self._send(reply.status, reply.raw, reply.headers)
            elif reply.status != 200:
                error = {"error": {"message": reply.content, "type": "scripted", "code": reply.status}}
                self._send(reply.status, json.dumps(error).encode(), reply.headers)
            else:
                self._send(200, json.dumps(_completion(reply, seen)).encode(), reply.headers)

    return Handler
