"""Frames on a stream socket: two little-endian lengths, a JSON text and a binary payload."""

from __future__ import annotations

import socket
import struct
import time

_HEADER = struct.Struct("<II")
_unpack = _HEADER.unpack_from
_FIRST = 16384
"""Bytes that are first asked for: most frames are smaller, and larger buffers cost more to make."""


class WireError(Exception):
    """The other side closed the socket, sent too much, or did not answer in time."""


class Closed(WireError):
    """The other side closed the socket."""


class TooLong(WireError):
    """A frame is longer than the limit."""


class Late(WireError):
    """No whole frame came in time."""


def send(sock: socket.socket, text: bytes, payload: bytes = b"") -> None:
    """Send one frame.

    Raises:
        Closed: if the other side is gone.
        Late: if the other side does not read for as long as `set_patience` said.
    """
    try:
        if payload:
            sock.sendall(_HEADER.pack(len(text), len(payload)) + text)
            sock.sendall(payload)
        else:
            sock.sendall(_HEADER.pack(len(text), 0) + text)
    except BlockingIOError as error:
        raise Late("the other side does not read") from error
    except OSError as error:
        raise Closed(str(error)) from error


def set_patience(sock: socket.socket, seconds: float) -> None:
    """Let sending and receiving wait so long at most: by socket options, so that each costs one system call only."""
    value = struct.pack("@ll", *divmod(int(seconds * 1_000_000) + 1, 1_000_000))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)


def _receive_more(sock: socket.socket, buffer: bytearray, size: int, deadline: float | None) -> None:
    while len(buffer) < size:
        if deadline is not None and buffer and time.monotonic() > deadline:
            raise Late("the answer comes too slowly")
        buffer += _receive_some(sock, min(max(size - len(buffer), 65536), 1 << 20))


def _receive_some(sock: socket.socket, size: int) -> bytes:
    try:
        chunk = sock.recv(size)
    except BlockingIOError as error:
        raise Late("no answer in time") from error
    except OSError as error:
        raise Closed(str(error)) from error
    if not chunk:
        raise Closed("the other side closed the socket")
    return chunk


def receive(sock: socket.socket, limit: int, deadline: float | None = None) -> tuple[bytes, bytes]:
    """Receive one frame as (text, payload). One frame is under way at a time, so nothing is read beyond it.

    Args:
        sock: a stream socket.
        limit: the most bytes of text and payload together.
        deadline: `time.monotonic` value after which no more parts are waited for; see `set_patience` for each part.

    Raises:
        Closed, TooLong, Late: as their names say.
    """
    first = _receive_some(sock, _FIRST)
    if len(first) < _HEADER.size:
        buffer = bytearray(first)
        _receive_more(sock, buffer, _HEADER.size, deadline)
        first = bytes(buffer)
    length, payload = _unpack(first)
    end = _HEADER.size + length
    if length + payload > limit:
        raise TooLong(f"a frame of {length + payload} bytes, more than {limit}")
    if len(first) < end + payload:
        buffer = bytearray(first)
        _receive_more(sock, buffer, end + payload, deadline)
        first = bytes(buffer)
    if len(first) > end + payload:
        raise WireError("more than one frame came for one request")
    return first[_HEADER.size : end], first[end:]
