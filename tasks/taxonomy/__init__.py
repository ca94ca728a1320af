"""The taxonomy: three levels, 20 level-1 categories. A small set is placed by written rules and thus the same
everywhere (classify.py), a large collection by clusters that are fitted once and stored (clusters.py)."""

from __future__ import annotations

from tasks.taxonomy.classify import classify, describe_taxonomy, explain
from tasks.taxonomy.clusters import COLLECTION, Taxonomy, fit_taxonomy
from tasks.taxonomy.keeping import dump_taxonomy, load_taxonomy

__all__ = [
    "COLLECTION",
    "Taxonomy",
    "classify",
    "describe_taxonomy",
    "dump_taxonomy",
    "explain",
    "fit_taxonomy",
    "load_taxonomy",
]
