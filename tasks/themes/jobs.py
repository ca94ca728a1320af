"""One document to read, and what reading it gave: the lines between this process and those that read documents."""

from __future__ import annotations

from pydantic import ConfigDict

from schemas.base import Record
from schemas.environment import Rejection
from schemas.theme import Source, Theme


class Job(Record):
    """One document to read: the file at `path`, or `content` if that is empty."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    key: str
    uri: str
    version: str = ""
    retrieved_at: str
    stem: str = ""
    licence: str = "NOASSERTION"
    needs: tuple[str, ...] = ()
    path: str = ""
    content: bytes = b""


class Outcome(Record):
    """What one document gave: themes with their sources, and what was refused."""

    found: tuple[tuple[Theme, Source], ...] = ()
    refused: tuple[Rejection, ...] = ()


def refusal(key: str, gate: str, reason: str) -> Rejection:
    """Return the rejection of a source, in one line that begins with what it is about."""
    return Rejection(stage="themes", key=key, gate=gate, reason=" ".join(f"{key}: {reason}".split()))
