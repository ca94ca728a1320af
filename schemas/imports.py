"""What importing others' worlds found in them: faults of their parts, and their questions worked out again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from schemas.base import Record
from schemas.task import Call

Fault = Literal[
    "list_over_map",
    "never_finds",
    "always_empty",
    "swallows_errors",
    "always_fails",
    "missing_module",
    "not_deterministic",
    "reads_write_log",
    "claims_without_effect",
    "invents_rows",
    "benchmark_copy",
    "missing_part",
    "unreadable_file",
    "uncovered_parameter",
    "fixed_parameter",
    "baked_value",
    "unknown_tool",
    "chain_fails",
    "answer_is_last_output",
    "answer_cut_short",
    "answer_contradicted",
    "answer_bakes_values",
]


class ImportFinding(Record):
    """One fault of one part of an imported environment.

    `severity`: "fatal" (the part was left out), "repaired" (it works here, and what was done about it), or "note".
    """

    env_id: str
    subject: str = Field(description="a tool's native name, 'question N', a file, or the environment itself")
    fault: Fault
    severity: Literal["fatal", "repaired", "note"]
    detail: str
    evidence: dict[str, Any] = {}


class ImportedQuestion(Record):
    """A question of the release, its chain replayed in a fresh episode with frozen clock and chance."""

    env_id: str
    number: int
    task: str
    chain: tuple[Call, ...] = Field(description="native calls; baked ids are references to earlier observations")
    calls_done: int = Field(description="calls of the chain that were not refused")
    reference_answer: str
    recomputed_answer: str = Field(description="JSON of what the chain's last call returns here; '' if it fails")
    faults: tuple[str, ...] = ()
    usable: bool = Field(description="the whole chain runs and the reference answer, as far as it goes, is right")
