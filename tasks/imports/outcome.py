"""What an import made, and what it found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from schemas.database import Database
from schemas.environment import Rejection
from schemas.imports import Fault, ImportedQuestion, ImportFinding
from schemas.theme import Provenance, Source
from schemas.tool import Tool, ToolTest
from tasks.imports.fixed import without
from tasks.imports.world import STAGE, ForeignWorld


@dataclass(frozen=True)
class Imported:
    """What an import made. `database` is None if the world gave no environment; `rejections` then say why."""

    world: ForeignWorld
    database: Database | None
    snapshot: bytes = field(default=b"", repr=False)
    tools: tuple[Tool, ...] = ()
    tests: tuple[ToolTest, ...] = ()
    provenance: tuple[Provenance, ...] = field(default=(), repr=False)
    sources: tuple[Source, ...] = ()
    findings: tuple[ImportFinding, ...] = ()
    questions: tuple[ImportedQuestion, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    benchmark: str = ""
    probes: int = 0

    @property
    def test_only(self) -> bool:
        """Whether it may be used to measure only: a public benchmark, or a copy of one."""
        return bool(self.benchmark) or self.world.origin == "tau2"


class Build:
    """The state of one import."""

    def __init__(self, world: ForeignWorld) -> None:
        self.world = world
        self.env_id = world.env_id
        self.findings: list[ImportFinding] = []
        self.rejections: list[Rejection] = []

    def find(self, subject: str, fault: Fault, severity: Any, detail: str, **evidence: Any) -> None:
        """Record a fault; of several of one kind on one subject the first counts."""
        if not any(f.subject == subject and f.fault == fault for f in self.findings):
            self.findings.append(
                ImportFinding(env_id=self.env_id, subject=subject, fault=fault, severity=severity,
                              detail=detail[:600], evidence=evidence)
            )  # fmt: skip

    def fix(self, fixed: Mapping[str, Mapping[str, Any]]) -> ForeignWorld:
        """Return the world with tools that lack the parameters which the environment gives itself, and record them."""
        for name, values in fixed.items():
            said = ", ".join(sorted(values))
            text = f"the environment gives {said} in every call: a caller's own, or what every call must say"
            self.find(name, "fixed_parameter", "repaired", text, parameters=sorted(values))
        tools = tuple(without(tool, fixed.get(tool.name, {})) for tool in self.world.tools)
        self.world = replace(self.world, tools=tools)
        return self.world

    def reject(self, key: str, gate: str, reason: str) -> None:
        """Record what was left out."""
        self.rejections.append(Rejection(stage=STAGE, key=key, gate=gate, reason=reason[:500], env_id=self.env_id))

    def ended(self) -> Imported:
        """Return the outcome of a world that gives no environment."""
        return Imported(self.world, None, findings=tuple(self.findings), rejections=tuple(self.rejections))
