"""Worlds that others made, as native environments: read, probed, judged, and their faults reported."""

from __future__ import annotations

from tasks.imports.agent_world import read_release
from tasks.imports.convert import import_world
from tasks.imports.outcome import Imported
from tasks.imports.reference import reference_tasks
from tasks.imports.tau2 import read_domains
from tasks.imports.world import ForeignTool, ForeignWorld, ImportFailed, Question

STAGE_VERSION = "2"

__all__ = [
    "STAGE_VERSION",
    "ForeignTool",
    "ForeignWorld",
    "ImportFailed",
    "Imported",
    "Question",
    "import_world",
    "read_domains",
    "read_release",
    "reference_tasks",
]
