"""Call foreign tools with real keys, each call in an episode of its own, and remember what came back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.base import canonical_json
from schemas.task import Call, Change
from tasks.environment import EnvironmentImage
from tasks.imports.values import Data
from tasks.imports.world import ForeignTool
from tasks.sandbox import SandboxWorker

_MOST_FAILURES = 2
"""A tool that so often ended its process, or did not end, is not tried further."""


@dataclass(frozen=True)
class Probe:
    """One call from the initial state: what it was given, what it returned, what it changed."""

    arguments: dict[str, Any]
    observation: dict[str, Any]
    changes: tuple[Change, ...]
    failure: str = ""

    @property
    def refused(self) -> str:
        """The code of a refusal or failure, '' if the call went."""
        if self.failure:
            return self.failure.upper()
        error = self.observation.get("error")
        return str(error.get("code")) if isinstance(error, dict) else ""


@dataclass
class ToolProbes:
    """All probes of one tool. `base` are those with required arguments only, `single` those with one optional more."""

    tool: ForeignTool
    base: list[Probe] = field(default_factory=list)
    single: dict[str, list[Probe]] = field(default_factory=dict)

    @property
    def all(self) -> list[Probe]:
        """Every probe."""
        return [*self.base, *(probe for probes in self.single.values() for probe in probes)]

    @property
    def done(self) -> list[Probe]:
        """The probes that were not refused."""
        return [probe for probe in self.all if not probe.refused]


class Prober:
    """Runs probes in one sandbox worker; equal calls run once."""

    def __init__(self, image: EnvironmentImage, data: Data, worker: SandboxWorker, seed: int) -> None:
        self.image, self.data, self._worker, self._seed = image, data, worker, seed
        self._known: dict[str, Probe] = {}
        self.calls = 0

    def call(self, tool: str, arguments: dict[str, Any]) -> Probe:
        """Call one tool in a fresh episode."""
        key = canonical_json([tool, arguments])
        if key not in self._known:
            self.calls += 1
            outcome = self._worker.run_episode([Call(tool=tool, arguments=arguments)], image=self.image)
            observation = outcome.steps[0].observation if outcome.steps else {}
            self._known[key] = Probe(arguments, observation, outcome.changes, outcome.error)
        return self._known[key]

    def replay(self, calls: Sequence[Call]) -> Any:
        """Run several calls in one episode and return the outcome."""
        self.calls += len(calls)
        return self._worker.run_episode(calls, image=self.image)

    def probe(self, tool: ForeignTool, most: int = 6) -> ToolProbes:
        """Probe one tool: required arguments bound to real rows, then each optional one beside a call that went."""
        rng = random.Random(f"{self.image.env_id}/{self._seed}/{tool.name}")
        found = ToolProbes(tool)
        for arguments in self.data.bindings(tool, rng, most):
            found.base.append(self.call(tool.name, arguments))
            if len(found.base) >= most and any(not probe.refused for probe in found.base):
                break
            if sum(bool(probe.failure) for probe in found.base) >= _MOST_FAILURES:
                return found
        started = [probe for probe in found.base if not probe.refused] or found.base[:1]
        optional = [name for name in tool.parameters["properties"] if name not in tool.parameters["required"]]
        for name in optional:
            for place, value in enumerate(self.data.samples(tool, name, rng)):
                base = started[place % len(started)].arguments
                probe = self.call(tool.name, {**base, name: value})
                found.single.setdefault(name, []).append(probe)
        return found
