"""The factory's end of a control socket: has children started, killed and reaped inside the sandbox."""

from __future__ import annotations

import json
import os
import secrets
import socket
from typing import Any

from tasks.sandbox.errors import SandboxError

_ANSWER_S = 15.0


class Supervisor:
    """A control socket to the zygote or to an environment's supervisor.

    Raises:
        ConnectionError: by any method, when the process at the other end is gone.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def start(self, operation: str, descriptors: list[int], **settings: Any) -> str:
        """Have a child started with these descriptors and return its token; nothing is awaited."""
        token = secrets.token_hex(8)
        message = json.dumps({"op": operation, "token": token, **settings}).encode()
        try:
            socket.send_fds(self._control, [message], descriptors)
        except OSError as error:
            raise ConnectionError(f"the sandbox is gone: {error}") from error
        return token

    def receive(self, seconds: float = _ANSWER_S) -> dict[str, Any]:
        """Return the next message from the other end."""
        self._control.settimeout(seconds)
        try:
            data = self._control.recv(1 << 16)
        except OSError as error:
            raise ConnectionError(f"the sandbox does not answer: {error}") from error
        finally:
            self._control.settimeout(None)
        if not data:
            raise ConnectionError("the sandbox is gone")
        return json.loads(data)

    def _tell(self, operation: str, token: str) -> None:
        try:
            self._control.send(f'{{"op":"{operation}","token":"{token}"}}'.encode())
        except OSError as error:
            raise ConnectionError(f"the sandbox is gone: {error}") from error

    def drop(self, token: str) -> None:
        """Have a child killed without waiting for it: one whose episode is over may still be busy with mischief."""
        self._tell("drop", token)

    def end(self, token: str) -> int:
        """Have a child killed and return its wait status, which for one that ended before tells how."""
        self._tell("kill", token)
        answer = self.receive()
        if answer.get("token") != token:
            raise ConnectionError("the sandbox answered for another child")
        return int(answer["status"])

    def close(self) -> None:
        """Close the socket; the other end then kills its children and ends."""
        self._control.close()


def memory_file(content: bytes) -> int:
    """Return a descriptor of an anonymous file with this content.

    Raises:
        SandboxError: with outcome "start", if there is no memory for it.
    """
    try:
        descriptor = os.memfd_create("payload")
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
    except OSError as error:
        raise SandboxError("start", f"cannot hand the environment over: {error}") from error
    return descriptor
