"""Worlds that others made, as native environments: read, probed, judged, and their faults reported."""

from __future__ import annotations

from tasks.imports.agent_world import read_release
from tasks.imports.convert import Imported, import_world
from tasks.imports.tau2 import read_domains
from tasks.imports.world import ForeignTool, ForeignWorld, ImportFailed, Question

STAGE_VERSION = "1"

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
]
