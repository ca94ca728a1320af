"""Merges themes that describe the same thing, such as two versions of one service or two formats of one interface.

Similarity is the exact Jaccard index (Jaccard 1901) of two sets: the operations' names as sets of word stems, and the
telling words of the theme. An inverted index over the operations finds the pairs worth comparing, so that the cost
follows the number of shared names, not the square of the number of themes; MinHash would only approximate this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from schemas.environment import Rejection
from schemas.theme import Theme
from tasks.themes.text import stem, words

THRESHOLD = 0.5
"""Share of common features from which two themes count as one."""

SAME_NAME = 0.5
"""Factor of the threshold for themes of the same name: two versions of a service share fewer operations."""


def similarity(first: Theme, second: Theme) -> float:
    """Return the Jaccard index of two themes' features, 0 (nothing in common) to 1 (the same)."""
    one, other = _features(first), _features(second)
    return len(one & other) / len(one | other) if one and other else 0.0


def merge_duplicates(themes: Sequence[Theme], threshold: float = THRESHOLD) -> tuple[list[Theme], list[Rejection]]:
    """Keep of near-duplicates the one with more operations; it records the ids of the others in `aliases`.

    The outcome does not depend on the order of the input: themes are taken by operations, then by id, and one that is
    similar to an already kept theme joins the most similar one. Both lists come back sorted.
    """
    kept: list[Theme] = []
    features: list[frozenset[str]] = []
    index: dict[str, set[int]] = defaultdict(set)
    aliases: dict[str, list[str]] = defaultdict(list)
    rejections = []
    for theme in sorted(themes, key=lambda one: (-len(one.operations), one.theme_id)):
        own = _features(theme)
        candidates = sorted({position for feature in own for position in index[feature]})
        scored = [(len(own & features[i]) / len(own | features[i]), kept[i]) for i in candidates]
        near = [(score, other) for score, other in scored if score >= _limit(theme, other, threshold)]
        score, twin = max(near, key=lambda pair: (pair[0], pair[1].theme_id), default=(0.0, None))
        if twin is not None:
            aliases[twin.theme_id] += [theme.theme_id, *theme.aliases]
            reason = _reason(theme, twin, score, _limit(theme, twin, threshold))
            rejections.append(Rejection(stage="themes", key=theme.theme_id, gate="near_duplicate", reason=reason))
            continue
        for feature in own:
            index[feature].add(len(kept))
        kept.append(theme)
        features.append(own)
    merged = [
        theme.model_copy(update={"aliases": tuple(sorted({*theme.aliases, *aliases[theme.theme_id]}))})
        for theme in kept
    ]
    return sorted(merged, key=lambda one: one.theme_id), sorted(rejections, key=lambda one: one.key)


def _reason(theme: Theme, twin: Theme, score: float, limit: float) -> str:
    shared = len({op.name for op in theme.operations} & {op.name for op in twin.operations})
    return (
        f"{theme.source_uri}: "
        f"similarity {score:.2f} (limit {limit:g}) to {twin.theme_id}: {shared} of {len(theme.operations)} operations "
        f"have the same names; kept the one with {len(twin.operations)} operations"
    )


def _limit(first: Theme, second: Theme, threshold: float) -> float:
    same = {stem(word) for word in words(first.name)} == {stem(word) for word in words(second.name)}
    return threshold * SAME_NAME if same else threshold


def _features(theme: Theme) -> frozenset[str]:
    names = ("op:" + " ".join(sorted(stem(word) for word in one.name.split("_"))) for one in theme.operations)
    return frozenset(names) | {f"term:{stem(term)}" for term in theme.terms}
