"""Places themes in the taxonomy: level 1 and 2 by a written lexicon, level 3 the theme's own topic.

A theme's vector (features.py) is compared with the words of every subcategory. A subcategory's score is the sum over
its words of vector weight x lexicon weight, divided by the square root of the number of its words, so that a long list
has no advantage. Level 1 is the category whose subcategories' scores have the largest Euclidean norm, level 2 its best
subcategory, level 3 the leaf: the theme itself under its own name, as every environment is a leaf in the paper.
No theme's place depends on another theme, so that adding one moves none. A large collection has its own
level 2 (clusters.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from schemas.theme import Theme
from tasks.taxonomy.features import vector
from tasks.taxonomy.lexicon import load_lexicon

FALLBACK = ("Communication & General Utilities", "Everyday tools")
"""Where a theme goes whose words are in no category."""


REASONS = 6
"""Words that a placed theme keeps of those that spoke for its category."""


def classify(themes: Sequence[Theme]) -> list[Theme]:
    """Return the themes with category_l1, category_l2 and category_l3 set, in the given order."""
    out = []
    for theme in themes:
        first, second = place(theme)
        out.append(
            theme.model_copy(
                update={
                    "category_l1": first,
                    "category_l2": second,
                    "category_l3": theme.name.strip(),
                    "category_words": tuple(word for word, _ in explain(theme, REASONS)),
                }
            )
        )
    return out


def place(theme: Theme) -> tuple[str, str]:
    """Return the (level 1, level 2) names of one theme; ties go to the category that stands first in the lexicon."""
    scores = level_2_scores(theme)
    lexicon = load_lexicon()
    totals = {first: math.hypot(*(scores[first, name] for name in lexicon.level_2(first))) for first in lexicon.level_1}
    best = max(lexicon.level_1, key=lambda name: totals[name])
    if totals[best] <= 0:
        return FALLBACK
    return best, max(lexicon.level_2(best), key=lambda name: scores[best, name])


def level_2_scores(theme: Theme) -> dict[tuple[str, str], float]:
    """Return the score of every subcategory for a theme; 0 where no word matches."""
    lexicon, own = load_lexicon(), vector(theme)
    return {
        key: sum(own.get(word, 0.0) * lexicon.weights[word] for word in sorted(words)) / math.sqrt(len(words))
        for key, words in lexicon.words.items()
    }


def explain(theme: Theme, limit: int = 12) -> list[tuple[str, float]]:
    """Return the words that spoke for the theme's level-1 category and their shares of the score (sum up to 1)."""
    lexicon, own = load_lexicon(), vector(theme)
    first, _ = place(theme)
    words = {word for (category, _), listed in lexicon.words.items() if category == first for word in listed}
    weights = {word: own[word] * lexicon.weights[word] for word in words if word in own}
    total = sum(weights.values()) or 1.0
    best = sorted(weights, key=lambda word: (-weights[word], word))[:limit]
    return [(word, round(weights[word] / total, 4)) for word in best]


def _level_2_names(written: Sequence[str], themes: Sequence[Theme]) -> list[str]:
    """Return the written level-2 names, then those that only the themes have, in alphabetical order."""
    return [*written, *sorted({theme.category_l2 for theme in themes} - set(written))]


def describe_taxonomy(themes: Sequence[Theme]) -> dict[str, Any]:
    """Return the tree of the placed themes for a report.

    `{"name": "Agent-World", "count": n, "children": [{"name": level 1, "count", "children": [{level 2 ... theme}]}]}`;
    all 20 level-1 categories are there, also empty ones; a leaf is `{"name", "count": 1, "theme_id", "kind"}`.
    """
    lexicon = load_lexicon()
    children = []
    for first in lexicon.level_1:
        own = [theme for theme in themes if theme.category_l1 == first]
        groups = []
        for second in _level_2_names(lexicon.level_2(first), own):
            leaves = [
                {"name": theme.category_l3, "count": 1, "theme_id": theme.theme_id, "kind": theme.kind}
                for theme in sorted(own, key=lambda one: one.theme_id)
                if theme.category_l2 == second
            ]
            if leaves:
                groups.append({"name": second, "count": len(leaves), "children": leaves})
        children.append({"name": first, "count": len(own), "children": groups})
    return {"name": "Agent-World", "count": sum(child["count"] for child in children), "children": children}
