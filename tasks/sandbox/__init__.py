"""The sandbox: generated and imported code runs here, never in the factory's own process."""

from __future__ import annotations

from tasks.sandbox.episode import Episode
from tasks.sandbox.errors import OUTCOMES, SandboxError
from tasks.sandbox.limits import Limits
from tasks.sandbox.outcomes import EpisodeOutcome, ScriptOutcome
from tasks.sandbox.strength import FLOOR, PROPERTIES, Strength, sandbox_strength
from tasks.sandbox.worker import SandboxWorker

__all__ = [
    "FLOOR",
    "OUTCOMES",
    "PROPERTIES",
    "Episode",
    "EpisodeOutcome",
    "Limits",
    "SandboxError",
    "SandboxWorker",
    "ScriptOutcome",
    "Strength",
    "sandbox_strength",
]
