"""The sandbox's first process: forks one supervisor for each environment, which forks one child for each episode.

Three kinds of process, so that code that is not trusted never shares one with what others rely on:
the zygote (forks supervisors and script children), a supervisor (holds an environment's compiled tools and its state,
ready to be inherited), and confined children (run tools or a script; limits, filter of system calls, one socket).
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import struct
from typing import Any

from tasks.environment.runtime import freeze
from tasks.environment.runtime.engine import Engine
from tasks.environment.runtime.files.engine import open_engine
from tasks.sandbox.inner import episode, landlock
from tasks.sandbox.inner.children import Children, supervise
from tasks.sandbox.inner.seccomp import Filter, supported

_PREPARE_S = 10
_PREPARE_BYTES = 2 << 30


def _read_all(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _prepare(payload: bytes, settings: dict[str, Any]) -> Engine:
    """Make the engine from [length of the header][header][snapshot]; stop if the sources take too long to compile."""
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    signal.setitimer(signal.ITIMER_REAL, _PREPARE_S)
    engine = open_engine(
        header, payload[4 + length :], output_bytes=settings["limits"]["output_bytes"], frozen=settings["frozen"]
    )
    signal.setitimer(signal.ITIMER_REAL, 0)
    return engine


def _quiet_heap() -> None:
    """Keep the garbage collector of later children off what is there now, so that its pages stay shared."""
    gc.collect()
    gc.freeze()


def serve_environment(
    control: socket.socket, memory: int, settings: dict[str, Any], call_filter: Filter | None
) -> None:
    """Be an environment's supervisor: prepare its engine, then fork a child for each episode asked for."""
    limits = settings["limits"]
    resource.setrlimit(resource.RLIMIT_AS, (max(_PREPARE_BYTES, 2 * limits["memory_bytes"]), resource.RLIM_INFINITY))
    try:
        engine = _prepare(_read_all(memory), settings)
    except Exception as error:
        control.send(json.dumps({"error": f"{type(error).__name__}: {error}"[:1000]}).encode())
        return
    control.send(json.dumps({"ready": True}).encode())
    _quiet_heap()
    children = Children(limits, call_filter)

    def start(message: dict[str, Any], descriptors: list[int]) -> None:
        with socket.socket(fileno=descriptors[0]) as sock:
            children.fork(
                message["token"],
                (control,),
                lambda: episode.serve_episode(sock, engine, message["seed"]),
                confined=True,
                episodes=message.get("episodes", 1),
            )

    supervise(control, children, start)


def main(descriptor: int, settings: dict[str, Any]) -> None:
    """Be the zygote: say that it is ready, then fork supervisors and script children until the socket is closed."""
    silence = os.open("/dev/null", os.O_RDWR)
    control = socket.socket(fileno=descriptor)
    if settings["clock_skew_s"]:
        freeze.shift_clock(settings["clock_skew_s"])
    if settings["readable"] is not None and settings["landlock"] and landlock.supported():
        landlock.read_only(settings["readable"])
    call_filter = Filter() if supported() and settings["seccomp"] else None
    children = Children(settings["limits"], call_filter)
    for standard in (0, 1, 2):
        os.dup2(silence, standard)
    os.close(silence)
    _quiet_heap()

    def start(message: dict[str, Any], descriptors: list[int]) -> None:
        sock, memory = socket.socket(fileno=descriptors[0]), descriptors[1]
        if message["op"] == "environment":
            children.fork(
                message["token"],
                (control,),
                lambda: serve_environment(sock, memory, settings, call_filter),
                confined=False,
            )
        else:
            children.fork(
                message["token"],
                (control,),
                lambda: episode.run_script(
                    sock,
                    _read_all(memory).decode(),
                    message["start_time"],
                    message["seed"],
                    settings["frozen"],
                    settings["limits"]["output_bytes"],
                ),
                confined=True,
            )
        os.close(memory)
        sock.close()

    control.send(b'{"ready": true}')
    supervise(control, children, start)
