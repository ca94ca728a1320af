"""Search by words over documents held in memory."""

from __future__ import annotations

from tasks.retrieval.bm25 import Index, stem, words

__all__ = ["Index", "stem", "words"]
