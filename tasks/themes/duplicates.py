"""Merges themes that describe the same thing: versions of one API, or two formats of one interface.

Similarity is the exact Jaccard index (Jaccard 1901) of two sets: the operations' names as sets of word stems, and the
telling words of the theme. Which pairs are compared is found by MinHash (neighbours.py) and, for a lower limit, among
themes of the same name. Of versions of one API (the source says what API and which version) the newest is kept, a
preview only if there is nothing else; they count as versions if they have the same name or
OLDER_LIMIT in common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from schemas.environment import Rejection
from schemas.theme import Theme
from tasks.themes.neighbours import candidate_pairs
from tasks.themes.text import stem, words
from tasks.themes.versions import version_key

THRESHOLD = 0.5
"""Share of common features from which two themes count as one."""

SAME_NAME = 0.5
"""Factor of the threshold for themes of the same name: two versions of a service share fewer operations."""

OLDER_LIMIT = 0.1
"""Share of common features from which two versions of one API are taken for that; below, a name was used again."""


def similarity(first: Theme, second: Theme) -> float:
    """Return the Jaccard index of two themes' features, 0 (nothing in common) to 1 (the same)."""
    return _jaccard(_features(first), _features(second))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def merge_duplicates(themes: Sequence[Theme], threshold: float = THRESHOLD) -> tuple[list[Theme], list[Rejection]]:
    """Keep one of each set of duplicates; it records the ids of the others in `aliases`.

    Of near-duplicates (gate near_duplicate) the newest version of an API is kept, else the one with more operations; an
    older version that is not that near has the gate older_version. The outcome does not depend on the order of the
    input: themes are taken by age among their versions, by operations, then by id, and one that is a duplicate of an
    already kept theme joins the most similar one. Both lists come back sorted.
    """
    ordered = sorted(themes, key=lambda one: (-len(one.operations), one.theme_id))
    newest = _newest(ordered)
    ordered.sort(key=lambda one: newest.get(one.api, one.theme_id) != one.theme_id)  # stable: the rest keeps its order
    features = [_features(theme) for theme in ordered]
    near, named = candidate_pairs(features), _same(ordered, _name)
    versions = _same([theme if theme.api in newest else None for theme in ordered], lambda one: one.api)
    kept: set[int] = set()
    aliases: dict[str, list[str]] = defaultdict(list)
    rejections = []
    for position, theme in enumerate(ordered):
        twins = []
        for other in (near[position] | named[position] | versions[position]) & kept:
            score = _jaccard(features[position], features[other])
            if position not in named[other] | versions[other] and not _alike(theme, ordered[other], threshold / 2):
                continue
            version = position in versions[other] and theme.api_version != ordered[other].api_version
            limit = _limit(theme, ordered[other], threshold)
            if score >= limit or (version and (score >= OLDER_LIMIT or position in named[other])):
                twins.append((score, ordered[other].theme_id, other, limit))
        if not twins:
            kept.add(position)
            continue
        score, _, other, limit = max(twins)
        twin = ordered[other]
        aliases[twin.theme_id] += [theme.theme_id, *theme.aliases]
        if score >= limit:
            gate, reason = "near_duplicate", _reason(theme, twin, score, limit)
        else:
            gate, reason = "older_version", _older(theme, twin, score)
        rejections.append(Rejection(stage="themes", key=theme.theme_id, gate=gate, reason=reason))
    merged = [
        theme.model_copy(update={"aliases": tuple(sorted({*theme.aliases, *aliases[theme.theme_id]}))})
        for theme in (ordered[position] for position in kept)
    ]
    return sorted(merged, key=lambda one: one.theme_id), sorted(rejections, key=lambda one: one.key)


def _newest(themes: Sequence[Theme]) -> dict[str, str]:
    """Return the id of the newest version's theme of each API that comes in more than one version."""
    groups: dict[str, list[Theme]] = defaultdict(list)
    for theme in themes:
        if theme.api:
            groups[theme.api].append(theme)
    return {
        api: max(group, key=lambda one: (version_key(one.api_version), len(one.operations), one.theme_id)).theme_id
        for api, group in groups.items()
        if len({one.api_version for one in group}) > 1
    }


def _same(themes: Sequence[Theme | None], key: Callable[[Theme], Hashable]) -> list[set[int]]:
    """Return for each theme the positions of those with the same key, itself among them."""
    groups: dict[Hashable, set[int]] = defaultdict(set)
    for position, theme in enumerate(themes):
        if theme is not None:
            groups[key(theme)].add(position)
    return [groups[key(theme)] if theme is not None else set() for theme in themes]


def _older(theme: Theme, twin: Theme, score: float) -> str:
    return (
        f"{theme.source_uri}: version {theme.api_version or 'unknown'} of {theme.api}; kept version "
        f"{twin.api_version or 'unknown'} ({twin.theme_id}), similarity {score:.2f}"
    )


def _reason(theme: Theme, twin: Theme, score: float, limit: float) -> str:
    shared = len({op.name for op in theme.operations} & {op.name for op in twin.operations})
    return (
        f"{theme.source_uri}: "
        f"similarity {score:.2f} (limit {limit:g}) to {twin.theme_id}: {shared} of {len(theme.operations)} operations "
        f"have the same names; kept the one with {len(twin.operations)} operations"
    )


def _limit(first: Theme, second: Theme, threshold: float) -> float:
    return threshold * SAME_NAME if _name(first) == _name(second) else threshold


def _name(theme: Theme) -> frozenset[str]:
    return frozenset(stem(word) for word in words(theme.name))


def _alike(first: Theme, second: Theme, limit: float) -> bool:
    """Say whether themes of different names share operations as well as words.

    Services of one maker share either by their maker's habits alone: generic operations, or the words of its notices.
    """
    words_of, operations_of = (
        [frozenset(feature for feature in _features(theme) if feature.startswith(kind)) for theme in (first, second)]
        for kind in ("term:", "op:")
    )
    return _jaccard(*operations_of) >= limit and (not all(words_of) or _jaccard(*words_of) >= limit)


def _features(theme: Theme) -> frozenset[str]:
    names = ("op:" + " ".join(sorted(stem(word) for word in one.name.split("_"))) for one in theme.operations)
    return frozenset(names) | {f"term:{stem(term)}" for term in theme.terms}
