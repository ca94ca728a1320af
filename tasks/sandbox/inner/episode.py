"""What the confined children do: answer an episode's requests, or run a solution script."""

from __future__ import annotations

import socket
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.engine import Engine, OutputTooLong, StateLost
from tasks.environment.runtime.text import dumps, loads
from tasks.sandbox.inner import wire

_NO_LIMIT = 1 << 31


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
        identity, operation, *arguments = loads(text.decode())
        payload, lost = b"", False
        try:
            if operation == "call":
                answer = engine.call(*arguments)
            elif operation == "run":
                answer = f"[{','.join(engine.run(arguments[0]))}]"
            elif operation == "start":
                engine.start(arguments[0])
                answer = "true"
            elif operation == "state":
                answer = "true" if engine.written else "false"
                payload = engine.state() if engine.written else b""
            elif operation == "changes":
                answer, payload = _difference(engine)
            elif operation == "episode":
                steps = ",".join(engine.run(arguments[0]))
                journal, payload = _difference(engine)
                answer = f"[[{steps}],{journal}]"
            elif operation == "episodes":
                answer, payload = _many(engine, arguments[0])
            else:
                raise ValueError(f"unknown operation {operation!r}")
            answer = f'["{identity}","ok",{answer}]'
        except OutputTooLong as error:
            answer = _failure(identity, "output", str(error))
        except StateLost as error:
            answer, lost = _failure(identity, "state", str(error)), True
        wire.send(sock, answer.encode(), payload)
        if lost:
            return


def _failure(identity: str, outcome: str, message: str) -> str:
    return f'["{identity}","fail",{dumps([outcome, message[:500]])}]'


def _difference(engine: Engine) -> tuple[str, bytes]:
    """Return what the factory computes the difference from: the journal, or "null" and the whole state."""
    journal = engine.changed()
    return journal, engine.state() if journal == "null" else b""


def _many(engine: Engine, episodes: list[list[Any]]) -> tuple[str, bytes]:
    """Run whole episodes one after the other in this process; each result is [steps, journal, bytes of its state]."""
    results, states = [], []
    for seed, calls in episodes:
        engine.start(seed)
        try:
            steps = f"[{','.join(engine.run(calls))}]"
            journal, state = _difference(engine)
        except OutputTooLong as error:
            steps, journal, state = dumps(str(error)), "[]", b""
        states.append(state)
        results.append(f"[{steps},{journal},{len(state)}]")
    return f"[{','.join(results)}]", b"".join(states)


class ScriptStopped(BaseException):
    """The factory ended the script; no handler of the script's own should catch this."""


def run_script(
    sock: socket.socket, source: str, start_time: str, seed: int, frozen: bool, output_bytes: int = _NO_LIMIT
) -> None:
    """Run a module's `solve(call)`; each call goes to the factory, which has the tool run elsewhere."""
    sock.setblocking(True)
    if frozen:
        freeze.freeze(start_time)
        freeze.seed(seed)

    def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its observation."""
        wire.send(sock, dumps(["call", tool, arguments]).encode())
        text, _ = wire.receive(sock, _NO_LIMIT)
        kind, value = loads(text.decode())
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
        if len(text) > output_bytes:
            text = dumps(["failed", f"output: an answer of {len(text)} bytes"]).encode()
    except MemoryError:
        text = b'["failed","memory"]'
    except Exception as error:
        text = dumps(["failed", f"{type(error).__name__}: {error}"[:500]]).encode()
    wire.send(sock, text)
