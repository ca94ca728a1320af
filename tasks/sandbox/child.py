"""The factory's end of one confined child: requests with a nonce, answers in time and in bounds, or an error."""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from collections.abc import Sequence
from typing import Any

from schemas.task import Call
from tasks.environment.runtime.text import dumps
from tasks.sandbox.errors import SandboxError, from_status
from tasks.sandbox.inner import wire
from tasks.sandbox.supervisor import Supervisor
from tasks.sandbox.untrusted import read_json

_CLAIMS = ("output", "protocol", "state")
"""The outcomes that a child may tell of itself; all others are found out here. After any but "output" it is dead."""

_NONCE = 12
_NONCES = 256
_REFERENCE = '"$ref"'  # a quote within a text is escaped, so that only a key, or a text that is just this, looks so


def encode_calls(calls: Sequence[Call]) -> str:
    """Return the JSON text of calls as [tool, arguments, whether they hold references] each."""
    texts = []
    for call in calls:
        arguments = dumps(call.arguments)
        texts.append(f"[{dumps(call.tool)},{arguments},{'true' if _REFERENCE in arguments else 'false'}]")
    return f"[{','.join(texts)}]"


def _told(failure: Any) -> SandboxError:
    """Return the error that a child tells of itself.

    Raises:
        ValueError: if it has another form, or claims what only the factory can know.
    """
    if isinstance(failure, list) and len(failure) == 2 and failure[0] in _CLAIMS and isinstance(failure[1], str):
        return SandboxError(failure[0], failure[1][:500])
    raise ValueError("a failure of an unknown form")


class Child:
    """One confined child. After an error other than "output" it is dead, and every request raises that error."""

    def __init__(self, sock: socket.socket, supervisor: Supervisor, token: str) -> None:
        self._sock = sock
        self._supervisor = supervisor
        self._token = token
        self._dead: SandboxError | None = None
        self._patience = 0.0
        self._nonces: list[str] = []

    @property
    def alive(self) -> bool:
        """Whether requests can still be made."""
        return self._dead is None

    def request(self, operation: str, arguments: str = "", *, seconds: float, limit: int) -> tuple[Any, bytes]:
        """Make a request and return the result and its binary payload.

        Args:
            operation: what to do, see `tasks.sandbox.inner.episode`.
            arguments: the JSON texts of its arguments, with commas between.
            seconds: how long the answer may take.
            limit: the most bytes of the answer.

        Raises:
            SandboxError: as its outcome says.
            ValueError: if the arguments are no Unicode text.
        """
        if self._dead is not None:
            raise self._dead
        identity = self._nonce()
        text = f'["{identity}","{operation}"{arguments and ","}{arguments}]'.encode()
        try:
            self._wait_at_most(seconds)
            wire.send(self._sock, text)
            answer, payload = wire.receive(self._sock, limit, time.monotonic() + seconds)
            result = read_json(answer)
            if not isinstance(result, list) or len(result) != 3 or result[0] != identity:
                raise ValueError("an answer to another request")
            if result[1] != "ok":
                error = _told(result[2])
                raise error if error.outcome == "output" else self._end(error)
        except wire.Closed as error:
            raise self._end(None) from error
        except wire.Late as error:
            raise self._end(SandboxError("timeout", f"no answer within {seconds:g} s")) from error
        except wire.TooLong as error:
            raise self._end(SandboxError("output", str(error))) from error
        except (wire.WireError, ValueError) as error:
            raise self._end(SandboxError("protocol", f"malformed answer: {error}")) from error
        return result[2], payload

    def _nonce(self) -> str:
        """Return what the answer must begin with: unforeseeable, so that none can be sent in advance."""
        if not self._nonces:
            digits = secrets.token_hex(_NONCE * _NONCES // 2)
            self._nonces = [digits[start : start + _NONCE] for start in range(0, len(digits), _NONCE)]
        return self._nonces.pop()

    def _wait_at_most(self, seconds: float) -> None:
        if seconds != self._patience:
            wire.set_patience(self._sock, seconds)
            self._patience = seconds

    def send(self, text: bytes) -> None:
        """Send a frame without a request's form, to a script.

        Raises:
            SandboxError: if the child is gone.
        """
        try:
            wire.send(self._sock, text)
        except wire.Late as error:
            raise self._end(SandboxError("timeout", str(error))) from error
        except wire.WireError as error:
            raise self._end(None) from error

    def receive(self, deadline: float, limit: int) -> Any:
        """Return the next frame of a script as JSON, waiting until a `time.monotonic` value at most.

        Raises:
            SandboxError: as its outcome says.
        """
        try:
            self._wait_at_most(max(0.001, deadline - time.monotonic()))
            text, _ = wire.receive(self._sock, limit, deadline)
            return read_json(text)
        except wire.Closed as error:
            raise self._end(None) from error
        except wire.Late as error:
            raise self._end(SandboxError("timeout", "the script took too long")) from error
        except wire.TooLong as error:
            raise self._end(SandboxError("output", str(error))) from error
        except (wire.WireError, ValueError) as error:
            raise self._end(SandboxError("protocol", f"malformed message: {error}")) from error

    def _end(self, error: SandboxError | None) -> SandboxError:
        """Bury the child; without an error, its wait status tells one.

        A child that has closed its socket is killed at once: if it is ending by itself, its status is set already.
        """
        self._sock.close()
        try:
            status = self._supervisor.end(self._token)
        except ConnectionError:
            status = -1
        self._dead = error or from_status(status)
        return self._dead

    def close(self) -> None:
        """End the child, whatever it does, without waiting for it."""
        if self._dead is None:
            self._dead = SandboxError("closed", "the episode is over")
            self._sock.close()
            with contextlib.suppress(ConnectionError):
                self._supervisor.drop(self._token)
