"""The taxonomy: three levels, 20 level-1 categories, by written rules and thus the same everywhere."""

from __future__ import annotations

from tasks.taxonomy.classify import classify, describe_taxonomy, explain

__all__ = ["classify", "describe_taxonomy", "explain"]
