"""Answers by the hash of their request: bought once, whoever asks, on whichever machine, and after a crash."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from schemas.base import Record, canonical_json
from schemas.models import ModelCall
from tasks.store import Store, StoreError

FOLDER = "model_calls"
ANSWERS = f"{FOLDER}/answers/"
_ME = uuid.uuid4().hex
_POLL_S = (0.02, 1.0)

LEASE_S = 90.0
"""A claim that its holder has not renewed for so long is void."""


class Answer(Record):
    """A stored answer: the request as it was hashed, the message, and what it cost. It holds no key and no header."""

    request: dict[str, Any]
    message: dict[str, Any] = Field(description="the message, as LangChain writes it to a dictionary")
    call: ModelCall


class Answers:
    """The answers that a store holds, and the claims of those who are fetching one.

    A claim is an object of its own, written only if absent: of two processes that ask the same at once, one buys and
    the other waits. A claim ends with its answer, with its process, or when its time is over.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, sha256: str) -> Answer | None:
        """Return the answer to the request with that hash, if there is one. A damaged one counts as none."""
        with contextlib.suppress(StoreError, ValueError):
            return Answer.model_validate_json(self._store.get(_place(sha256)))
        return None

    def obtain(self, sha256: str, buy: Callable[[], Answer]) -> tuple[Answer, bool]:
        """Return the answer and whether this call bought it; wait while another process is buying it.

        Raises:
            whatever `buy` raises; the claim is given up then.
        """
        pauses = random.Random(sha256 + _ME)
        pause = _POLL_S[0]
        while True:
            if (found := self.find(sha256)) is not None:
                return found, False
            if claim := self._claim(sha256):
                break
            time.sleep(pause * pauses.uniform(0.5, 1.0))
            pause = min(2 * pause, _POLL_S[1])
        with self._held(claim):
            if (found := self.find(sha256)) is not None:  # it came between the look and the claim
                return found, False
            answer = buy()
            self._store.put(_place(sha256), canonical_json(answer).encode())
            return answer, True

    def _claim(self, sha256: str) -> str:
        """Return the key of the claim that was won, or "". Claims are numbered, so that no one's is overwritten."""
        folder = f"{FOLDER}/claims/{sha256}/"
        held = sorted(self._store.list(folder))
        number = 0
        if held:
            last = held[-1]
            try:
                claim = json.loads(self._store.get(last))
            except (StoreError, ValueError):
                return ""  # it has just been given up
            if not _void(claim):
                return ""
            number = int(last.rpartition("/")[2]) + 1
        mine = f"{folder}{number:06d}"
        if not self._store.put(mine, _body(), if_absent=True):
            return ""
        for old in held:
            self._store.delete(old)
        return mine

    @contextlib.contextmanager
    def _held(self, claim: str) -> Iterator[None]:
        """Renew a claim while the block runs, and give it up then."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(LEASE_S / 3):
                with contextlib.suppress(StoreError):
                    self._store.put(claim, _body())

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._store.delete(claim)


def _body() -> bytes:
    return canonical_json(
        {"holder": _ME, "host": _host(), "pid": os.getpid(), "began": _began(), "until": time.time() + LEASE_S}
    ).encode()


def _place(sha256: str) -> str:
    return f"{ANSWERS}{sha256[:2]}/{sha256}.json"


def _host() -> str:
    return f"{socket.gethostname()}-{uuid.getnode():x}"


def _began(pid: int | None = None) -> float:
    import psutil

    return psutil.Process(pid).create_time()


def _void(claim: dict[str, Any]) -> bool:
    """Say whether a claim's time is over or its process, one of this machine, has ended."""
    if claim["until"] < time.time():
        return True
    if claim["host"] != _host():
        return False
    import psutil

    try:
        return abs(_began(claim["pid"]) - claim["began"]) > 1
    except psutil.Error:
        return True
