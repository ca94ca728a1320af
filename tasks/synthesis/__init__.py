"""Task synthesis: graph walks and programs over an environment's tools, executed, replayed and red-teamed."""

from __future__ import annotations

from tasks.synthesis.judging import JudgedSet, agreement, judge_notes
from tasks.synthesis.oracle import oracle_trajectory
from tasks.synthesis.phrases import templates_hash
from tasks.synthesis.practice import practice
from tasks.synthesis.probe import ProbeReport, probe
from tasks.synthesis.rubric import RubricResult, write_rubrics
from tasks.synthesis.synthesize import SynthesisResult, synthesize
from tasks.synthesis.trust import oracle_key

STAGE_VERSION = "10"
"""Part of the cache key of everything that this stage makes; raise it when its results change."""

__all__ = [
    "JudgedSet",
    "ProbeReport",
    "RubricResult",
    "write_rubrics",
    "STAGE_VERSION",
    "SynthesisResult",
    "agreement",
    "judge_notes",
    "oracle_key",
    "oracle_trajectory",
    "practice",
    "probe",
    "synthesize",
    "templates_hash",
]
