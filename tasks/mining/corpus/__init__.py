"""The corpus that researchers search: data of well-licensed packages, and folders of the user's own files."""

from __future__ import annotations

from tasks.mining.corpus.corpus import Corpus, corpus_fingerprint, open_corpus, refused_files
from tasks.mining.corpus.items import CorpusItem, Dataset, Package, Profile, RawTable
from tasks.mining.corpus.packages import PACKAGES

__all__ = [
    "PACKAGES",
    "Corpus",
    "CorpusItem",
    "Dataset",
    "Package",
    "Profile",
    "RawTable",
    "corpus_fingerprint",
    "open_corpus",
    "refused_files",
]
