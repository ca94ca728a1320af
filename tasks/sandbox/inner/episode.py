"""What the confined children do: answer an episode's requests, or run a solution script."""

from __future__ import annotations

import json
import socket
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.engine import Engine, OutputTooLong, dumps
from tasks.sandbox.inner import wire

_NO_LIMIT = 1 << 31


def _fail(outcome: str, message: str) -> bytes:
    return b'"fail",' + dumps([outcome, message[:500]]).encode()


def serve_episode(sock: socket.socket, engine: Engine, seed: int) -> None:
    """Answer requests [id, operation, ...] with [id, "ok" or "fail", result] until the factory closes the socket.

    The factory watches the time of each request and ends this process by its supervisor; CPU time is limited here.
    """
    sock.setblocking(True)
    engine.start(seed)
    while True:
        try:
            text, _ = wire.receive(sock, _NO_LIMIT)
        except wire.Closed:
            return
        request = json.loads(text)
        identity, operation = request[0], request[1]
        payload = b""
        try:
            if operation == "call":
                answer = b'"ok",' + engine.call(request[2], request[3]).encode()
            elif operation == "run":
                answer = b'"ok",[' + _run(engine, request[2]) + b"]"
            elif operation == "start":
                engine.start(request[2])
                answer = b'"ok",true'
            elif operation == "state":
                answer = b'"ok",' + (b"true" if engine.written else b"false")
                payload = engine.state() if engine.written else b""
            elif operation == "episode":
                answer, payload = _whole(engine, request[2])
            elif operation == "episodes":
                answer, payload = _many(engine, request[2])
            else:
                answer = _fail("protocol", f"unknown operation {operation!r}")
        except OutputTooLong as error:
            answer = _fail("output", str(error))
        wire.send(sock, b'["' + identity.encode() + b'",' + answer + b"]", payload)


def _run(engine: Engine, calls: list[list[Any]]) -> bytes:
    return ",".join(engine.run(calls)).encode()


def _whole(engine: Engine, calls: list[list[Any]]) -> tuple[bytes, bytes]:
    steps = _run(engine, calls)
    return b'"ok",[' + steps + b"]", engine.state() if engine.written else b""


def _many(engine: Engine, episodes: list[list[Any]]) -> tuple[bytes, bytes]:
    """Run whole episodes one after the other in this process; each result is [steps, bytes of its state]."""
    results, states = [], []
    for seed, calls in episodes:
        engine.start(seed)
        try:
            steps = b"[" + _run(engine, calls) + b"]"
            state = engine.state() if engine.written else b""
        except OutputTooLong as error:
            steps, state = dumps(str(error)).encode(), b""
        states.append(state)
        results.append(b"[" + steps + b"," + str(len(state)).encode() + b"]")
    return b'"ok",[' + b",".join(results) + b"]", b"".join(states)


class ScriptStopped(BaseException):
    """The factory ended the script; no handler of the script's own should catch this."""


def run_script(sock: socket.socket, source: str, start_time: str, seed: int, frozen: bool) -> None:
    """Run a module's `solve(call)`; each call goes to the factory, which has the tool run elsewhere."""
    sock.setblocking(True)
    if frozen:
        freeze.freeze(start_time)
        freeze.seed(seed)

    def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its observation."""
        wire.send(sock, dumps(["call", tool, arguments]).encode())
        text, _ = wire.receive(sock, _NO_LIMIT)
        kind, value = json.loads(text)
        if kind != "observation":
            raise ScriptStopped(value)
        return value

    try:
        module: dict[str, Any] = {"__name__": "solution"}
        exec(compile(source, "<script>", "exec", dont_inherit=True), module)
        answer = module["solve"](call)
        if not isinstance(answer, dict):
            raise TypeError(f"solve returned {type(answer).__name__}, not a dict")
        text = dumps(["answer", answer]).encode()
    except MemoryError:
        text = b'["failed","memory"]'
    except Exception as error:
        text = dumps(["failed", f"{type(error).__name__}: {error}"[:500]]).encode()
    wire.send(sock, text)
