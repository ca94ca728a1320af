"""The taxonomy of a large collection: Ward clusters as level 2, each under one of the 20 level-1 names.

The two taxonomies live together so: level 1 always has the 20 names of the lexicon. A small set is placed by the
lexicon alone (classify.py). From COLLECTION themes on, level 2 is found instead of written: the themes' places
(space.py) are clustered by Ward's method (Ward 1963) and the tree is cut into LEVEL_2 clusters; each goes under the
level-1 category that its themes speak for together, and is named by its telling words, or by a `Namer` (a model).
A theme belongs to the nearest centroid. Centroids are stored and do not move, so adding themes moves no other; a
taxonomy is fitted anew only if it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.theme import Theme
from tasks.taxonomy.lexicon import load_lexicon
from tasks.taxonomy.space import Space, fit_space

COLLECTION = 500
"""Themes from which on a taxonomy of their own is worth fitting."""

LEVEL_2 = 56
NAME_WORDS = 3
LONGEST = 18
REASONS = 6

Namer = Callable[[str, Sequence[str], Sequence[str]], str]
"""Names a cluster: given its level-1 category, its telling words and some themes of it, the most central first."""


@dataclass(frozen=True)
class Cluster:
    """A level-2 category: `name` under `category`, the words that set it apart, and its centroid."""

    name: str
    category: str
    words: tuple[str, ...]
    centroid: tuple[float, ...]


@dataclass(frozen=True)
class Reason:
    """Where a theme belongs, and the words that drew it there with their shares of the pull (sum up to 1)."""

    category_l1: str
    category_l2: str
    words: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Taxonomy:
    """A fitted taxonomy. It places any theme, known or new, by the theme alone."""

    space: Space
    clusters: tuple[Cluster, ...]

    def classify(self, themes: Sequence[Theme]) -> list[Theme]:
        """Return the themes with their categories and the words that spoke for them, in the given order."""
        return [
            theme.model_copy(
                update={
                    "category_l1": reason.category_l1,
                    "category_l2": reason.category_l2,
                    "category_l3": theme.name.strip(),
                    "category_words": tuple(word for word, _ in reason.words),
                }
            )
            for theme, reason in zip(themes, self.explain(themes), strict=True)
        ]

    def explain(self, themes: Sequence[Theme]) -> list[Reason]:
        """Return for each theme where it belongs and why."""
        if not themes:
            return []
        centroids = np.array([cluster.centroid for cluster in self.clusters])
        found = _nearest(self.space.vectors(themes), centroids)
        places = self.space.places.astype(float)
        pulls = places @ centroids[:, : places.shape[1]].T  # of each word towards each cluster
        weights = self.space.word_weights(themes)
        reasons = []
        for row, position in enumerate(found):
            held = slice(weights.indptr[row], weights.indptr[row + 1])
            pull = weights.data[held] * pulls[weights.indices[held], position]
            reasons.append(self._reason(self.clusters[position], weights.indices[held], pull))
        return reasons

    def _reason(self, cluster: Cluster, words: np.ndarray, pull: np.ndarray) -> Reason:
        best = [i for i in np.argsort(-pull, kind="stable")[:REASONS] if pull[i] > 0]
        total = float(pull[pull > 0].sum())
        told = tuple((self.space.words[words[i]], round(float(pull[i]) / total, 4)) for i in best)
        return Reason(cluster.category, cluster.name, told)


def fit_taxonomy(themes: Sequence[Theme], *, clusters: int = LEVEL_2, namer: Namer | None = None) -> Taxonomy:
    """Return the taxonomy of a collection; the same themes in any order give the same one.

    Raises:
        ValueError: for fewer than 40 themes.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    ordered = sorted(themes, key=lambda one: one.theme_id)
    space = fit_space(ordered)
    places = space.vectors(ordered)
    labels = fcluster(linkage(np.round(places, 6), "ward"), clusters, "maxclust")
    centroids = np.round([places[labels == label].mean(axis=0) for label in sorted(set(labels))], 6)
    owners = np.array(_nearest(places, centroids))
    size, names = space.places.shape[1], load_lexicon().level_1
    middle = space.places.astype(float) @ places[:, :size].mean(axis=0)
    found: list[Cluster] = []
    for position, centroid in enumerate(centroids):
        first = names[int(centroid[size:].argmax())]
        apart = np.argsort(middle - space.places.astype(float) @ centroid[:size], kind="stable")
        words = tuple(space.words[i] for i in apart[:12])
        inside = np.flatnonzero(owners == position)
        central = inside[np.argsort(np.linalg.norm(places[inside] - centroid, axis=1), kind="stable")]
        name = (namer or name_by_words)(first, words, [ordered[i].name for i in central[:12]])
        taken = {one.name for one in found if one.category == first}
        name = next(one for one in [name, *(f"{name} ({i})" for i in range(2, clusters + 2))] if one not in taken)
        found.append(Cluster(name, first, words, tuple(centroid.tolist())))
    return Taxonomy(space, tuple(found))


def name_by_words(category: str, words: Sequence[str], themes: Sequence[str]) -> str:
    """Return the first telling words that do not repeat one another: "Payment, transaction, card"."""
    chosen: list[str] = []
    for word in words:
        if len(word) <= LONGEST and not any({w[:3] for w in word.split()} & {w[:3] for w in c.split()} for c in chosen):
            chosen.append(word)
    return (", ".join(chosen[:NAME_WORDS]) or category).capitalize()


def _nearest(places: np.ndarray, centroids: np.ndarray) -> list[int]:
    distances = (centroids**2).sum(axis=1) - 2 * places @ centroids.T
    return np.round(distances, 9).argmin(axis=1).tolist()
