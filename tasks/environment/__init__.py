"""The environment engine: snapshots, episodes' differences and verdicts. Tools run in tasks.sandbox only."""

from __future__ import annotations

from tasks.environment.difference import Differ, StateError, check_pages, difference, open_state, state_hash
from tasks.environment.files import build_file_snapshot, file_documents, file_rows
from tasks.environment.image import EnvironmentImage
from tasks.environment.own_modules import own_modules
from tasks.environment.reward import shaped_reward
from tasks.environment.rubric import judge, score_rubric
from tasks.environment.runtime.context import Clock, Context, Db, Documents, Ids
from tasks.environment.runtime.references import UnresolvedReference, is_reference, resolve_references
from tasks.environment.snapshot import SnapshotError, build_snapshot, table_sql
from tasks.environment.verify import Verdict, equal_answers, verify

__all__ = [
    "Clock",
    "Context",
    "Db",
    "Differ",
    "Documents",
    "EnvironmentImage",
    "Ids",
    "SnapshotError",
    "StateError",
    "UnresolvedReference",
    "Verdict",
    "build_file_snapshot",
    "build_snapshot",
    "check_pages",
    "difference",
    "equal_answers",
    "file_documents",
    "file_rows",
    "is_reference",
    "judge",
    "open_state",
    "own_modules",
    "resolve_references",
    "score_rubric",
    "shaped_reward",
    "state_hash",
    "table_sql",
    "verify",
]
