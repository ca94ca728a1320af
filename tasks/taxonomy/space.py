"""The space in which the themes of a large collection are clustered: what they are about, and what that means.

A theme's words (features.py) become TF-IDF weights over the collection's vocabulary and are projected onto its main
directions (latent semantic analysis, Deerwester et al. 1990), so that themes meet that share a topic but not its words.
To these DIMENSIONS are added 20, the level-1 categories: the written words vote (teacher.py), a ridge regression learns
those votes from the projection, weighing clear ones more, and so corrects and completes them by what similar themes say
(learning from weak labels). Once fitted, a space never changes: the place of a theme depends on the theme alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schemas.theme import Theme
from tasks.taxonomy.features import vector
from tasks.taxonomy.teacher import votes

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DIMENSIONS = 120
VOCABULARY = 12_000
SEEN = 4
"""Themes that must have a word before it counts."""

COMMON = 0.25
"""Share of the themes from which on a word tells nothing."""

CATEGORY_WEIGHT = 1.5
VOTE_WEIGHT = 0.7
"""How much the theme's own votes count beside those that the regression expects."""

_NO_TOPIC_WORDS = """azure aws amazon google microsoft client management api apis service rest swagger openapi web http
https json project location iam subscription provider fetch public get list create update delete operation the of and
for to in is by with or on your you this that an from be are can as it at these all will which not use using has have if
when into a"""
_NO_TOPIC = frozenset(_NO_TOPIC_WORDS.split())
"""Stems that tell who made an interface or that it is one, and function words; phrases with them are left out too."""


@dataclass(frozen=True)
class Space:
    """A fitted space. `places[i]` is where word i points (k numbers), `lesson` the regression from there (k x 20)."""

    words: tuple[str, ...]
    rarity: np.ndarray
    places: np.ndarray
    lesson: np.ndarray

    def vectors(self, themes: Sequence[Theme]) -> np.ndarray:
        """Return the places of themes, shape (themes, k + 20), float64."""
        rows = [telling(theme) for theme in themes]
        topics = _unit(_weights(rows, self.words, self.rarity) @ self.places.astype(float))
        return self._with_categories(rows, topics)

    def word_weights(self, themes: Sequence[Theme]) -> csr_matrix:
        """Return how much each word of the vocabulary weighs in each theme, shape (themes, words), rows of length 1."""
        return _weights([telling(theme) for theme in themes], self.words, self.rarity)

    def _with_categories(self, rows: Sequence[dict[str, float]], topics: np.ndarray) -> np.ndarray:
        rarity = dict(zip(self.words, self.rarity.tolist(), strict=True))
        own = _unit(np.array([votes(row, rarity) for row in rows]))
        categories = _unit(_unit(topics @ self.lesson) + VOTE_WEIGHT * own)
        return np.hstack([topics, CATEGORY_WEIGHT * categories])


def fit_space(themes: Sequence[Theme]) -> Space:
    """Return the space of a collection; the same themes in any order give the same one.

    Raises:
        ValueError: for fewer than 40 themes: there is nothing to learn from.
    """
    from scipy.sparse.linalg import svds

    if len(themes) < 40:
        raise ValueError(f"{len(themes)} themes are too few for a space of their own")
    rows = [telling(theme) for theme in sorted(themes, key=lambda one: one.theme_id)]
    seen = Counter(word for row in rows for word in row)
    usual = sorted(word for word, count in seen.items() if SEEN <= count <= COMMON * len(rows))
    words = tuple(sorted(sorted(usual, key=lambda word: (-seen[word], word))[:VOCABULARY]))
    rarity = np.array([math.log(len(rows) / seen[word]) for word in words])
    weights = _weights(rows, words, rarity)
    size = min(DIMENSIONS, len(rows) // 4, len(words) - 1)
    _, _, directions = svds(weights, k=size, v0=np.ones(min(weights.shape)))
    places = np.round(directions.T, 5).astype(np.float32)
    topics = _unit(weights @ places.astype(float))
    known = dict(zip(words, rarity.tolist(), strict=True))
    return Space(words, rarity, places, _lesson(topics, np.array([votes(row, known) for row in rows])))


def telling(theme: Theme) -> dict[str, float]:
    """Return the words and phrases of a theme that can tell its topic."""
    return {
        word: weight for word, weight in vector(theme).items() if len(word) > 2 and not _NO_TOPIC & set(word.split())
    }


def _weights(rows: Sequence[dict[str, float]], words: Sequence[str], rarity: np.ndarray) -> csr_matrix:
    """Return TF-IDF weights, a sparse matrix of shape (rows, words) with rows of length 1."""
    from scipy.sparse import csr_matrix, diags

    position = {word: i for i, word in enumerate(words)}
    cells = [(r, position[word], row[word]) for r, row in enumerate(rows) for word in sorted(row) if word in position]
    places, columns, values = zip(*cells, strict=True) if cells else ((), (), ())
    matrix = csr_matrix((values, (places, columns)), shape=(len(rows), len(words)), dtype=float) @ diags(rarity)
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return csr_matrix(diags(1 / np.maximum(lengths, 1e-9)) @ matrix)


def _lesson(topics: np.ndarray, voted: np.ndarray) -> np.ndarray:
    """Return the ridge regression from topics to categories; clear votes and small categories weigh more."""
    ranked = np.sort(voted, axis=1)
    clear = (ranked[:, -1] - ranked[:, -2]) / np.maximum(ranked[:, -1], 1e-9)
    best = voted.argmax(axis=1)
    sizes = np.bincount(best, weights=clear, minlength=voted.shape[1])
    weight = clear / np.sqrt(np.maximum(sizes, 1))[best]
    weight *= len(weight) / max(weight.sum(), 1e-9)
    wanted = np.eye(voted.shape[1])[best]
    left = (topics.T * weight) @ topics + np.eye(topics.shape[1])
    return np.round(np.linalg.solve(left, (topics.T * weight) @ (wanted - wanted.mean(axis=0))), 6)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
