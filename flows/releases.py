"""Find out what others' releases hold, without Prefect, so that a mistake is told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from flows.errors import Refused

if TYPE_CHECKING:
    from tasks.imports import ForeignWorld


def _reader(kind: str) -> Callable[[str, str], Iterator[ForeignWorld]]:
    from tasks.imports import read_domains, read_release

    return {"agent-world": read_release, "tau2": read_domains}[kind]


def check_release(kind: str, path: str) -> None:
    """Look whether there is anything to import, before a run is begun.

    Raises:
        Refused: if there is not.
    """
    from tasks.imports import ImportFailed

    try:
        next(iter(_reader(kind)(path, "")))
    except ImportFailed as error:
        raise Refused(str(error)) from error


def read_worlds(kind: str, path: str, licence: str) -> list[ForeignWorld]:
    """Return the worlds below a path, by the reader of that kind ("agent-world" or "tau2").

    Raises:
        Refused: if there are none.
    """
    from tasks.imports import ImportFailed

    try:
        return list(_reader(kind)(path, licence))
    except ImportFailed as error:
        raise Refused(str(error)) from error
