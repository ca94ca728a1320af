"""The judge that a model plays: free texts scored item by item, and how far that agrees with the rules' verdicts."""

from tasks.synthesis.judging.agreement import agreement
from tasks.synthesis.judging.measure import JudgedSet, judge_notes
from tasks.synthesis.judging.texts import Note

__all__ = ["JudgedSet", "Note", "agreement", "judge_notes"]
