"""Mining: from a theme and a corpus to an executable world with data, workflows and business rules."""

from __future__ import annotations

from tasks.mining.corpus import Corpus, corpus_fingerprint, open_corpus, refused_files
from tasks.mining.findings import Findings, MinedDocument, MinedTable, dump_findings, load_findings
from tasks.mining.mine import build, mine, variant
from tasks.mining.researcher import Researcher, research
from tasks.mining.workflows import Invariant
from tasks.mining.world import MiningError, World

STAGE_VERSION = "1"
"""Raise it when the same theme, corpus and seed would give another world: cached builds are then made anew."""

__all__ = [
    "STAGE_VERSION",
    "Corpus",
    "Findings",
    "Invariant",
    "MinedDocument",
    "MinedTable",
    "Researcher",
    "MiningError",
    "World",
    "build",
    "corpus_fingerprint",
    "dump_findings",
    "load_findings",
    "mine",
    "open_corpus",
    "refused_files",
    "research",
    "variant",
]
