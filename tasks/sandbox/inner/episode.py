"""What the confined children do: answer an episode's requests, or run a solution script."""

from __future__ import annotations

import json
import signal
import socket
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.engine import Engine, OutputTooLong, dumps
from tasks.sandbox.inner import wire

_NO_LIMIT = 1 << 31


def _fail(outcome: str, message: str) -> bytes:
    return b'"fail",' + dumps([outcome, message[:500]]).encode()


def serve_episode(sock: socket.socket, engine: Engine, seed: int, wall_s: float) -> None:
    """Answer requests [id, operation, ...] with [id, "ok" or "fail", result] until the factory closes the socket."""
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
                signal.setitimer(signal.ITIMER_REAL, wall_s)
                answer = b'"ok",' + engine.call(request[2], request[3]).encode()
            elif operation == "run":
                answer = b'"ok",[' + _run(engine, request[2], wall_s) + b"]"
            elif operation == "start":
                engine.start(request[2])
                answer = b'"ok",true'
            elif operation == "state":
                answer = b'"ok",' + (b"true" if engine.written else b"false")
                payload = engine.state() if engine.written else b""
            elif operation == "episode":
                answer, payload = _whole(engine, request[2], wall_s)
            elif operation == "episodes":
                answer, payload = _many(engine, request[2], wall_s)
            else:
                answer = _fail("protocol", f"unknown operation {operation!r}")
        except OutputTooLong as error:
            answer = _fail("output", str(error))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        wire.send(sock, b'["' + identity.encode() + b'",' + answer + b"]", payload)


def _run(engine: Engine, calls: list[list[Any]], wall_s: float) -> bytes:
    signal.setitimer(signal.ITIMER_REAL, wall_s * max(1, len(calls)))
    return ",".join(engine.run(calls)).encode()


def _whole(engine: Engine, calls: list[list[Any]], wall_s: float) -> tuple[bytes, bytes]:
    steps = _run(engine, calls, wall_s)
    return b'"ok",[' + steps + b"]", engine.state() if engine.written else b""


def _many(engine: Engine, episodes: list[list[Any]], wall_s: float) -> tuple[bytes, bytes]:
    """Run whole episodes one after the other in this process; each result is [steps, bytes of its state]."""
    results, states = [], []
    for seed, calls in episodes:
        engine.start(seed)
        try:
            steps = b"[" + _run(engine, calls, wall_s) + b"]"
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
