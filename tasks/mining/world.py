"""What mining makes of a theme, and the error that says why it made nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.database import Database
from schemas.environment import Rejection
from schemas.theme import Provenance, Source
from tasks.mining.findings import Findings
from tasks.mining.workflows.plan import Invariant


@dataclass(frozen=True)
class World:
    """An executable world without tools: schema, actions and documents; the state's bytes; where all of it is from.

    `invariants` hold in the snapshot and after any action; they are SQL over the tables.
    `findings` are what its researcher brought home.
    """

    database: Database
    snapshot: bytes
    provenance: list[Provenance]
    sources: list[Source]
    rejections: list[Rejection]
    invariants: list[Invariant] = field(default_factory=list)
    findings: Findings | None = None


class MiningError(ValueError):
    """A theme gave no world; the last of `rejections` says why, the others what was left out before."""

    def __init__(self, rejections: list[Rejection]) -> None:
        self.rejections = rejections
        last = rejections[-1]
        super().__init__(f"{last.key}: {last.gate}: {last.reason}")


def rejection(key: str, gate: str, reason: str) -> Rejection:
    """Return a rejection by the mining stage."""
    return Rejection(stage="mining", key=key, gate=gate, reason=reason)
