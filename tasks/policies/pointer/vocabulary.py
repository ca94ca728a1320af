"""The closed vocabulary: words that many environments share have an embedding of their own; the rest have slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Vocabulary:
    """Shared words with the share of environment families that use each. Word 0 stands for all others."""

    words: tuple[str, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: index + 1 for index, word in enumerate(self.words)})
        weights = [1.0] + [1.0 / (1.0 + 3.0 * share) for share in self.shares]
        object.__setattr__(self, "_weights", np.array(weights, np.float32))

    def __len__(self) -> int:
        return len(self.words) + 1

    def ids(self, words: Iterable[str]) -> np.ndarray:
        """Return the id of each word, 0 for content words."""
        known = self._ids  # type: ignore[attr-defined]
        return np.array([known.get(word, 0) for word in words], np.int64)

    def weights(self, ids: np.ndarray) -> np.ndarray:
        """Return how much each word counts when bags are compared: 1 for content words, less for shared ones."""
        return self._weights[ids]  # type: ignore[attr-defined]


def learn_vocabulary(episodes: Iterable[tuple[str, Iterable[str]]], size: int = 500) -> Vocabulary:
    """Return the words that at least a fifth of the environment families use, the most widely used first.

    `episodes` are (family, words); environments that differ only by seed should share a family, or their nouns
    would look like common words.
    """
    families: dict[str, set[str]] = {}
    for family, words in episodes:
        families.setdefault(family, set()).update(words)
    counts = Counter(word for words in families.values() for word in words if not any(c.isdigit() for c in word))
    least = min(max(2, -(-len(families) // 5)), max(1, len(families)))
    chosen = sorted((word for word, n in counts.items() if n >= least), key=lambda word: (-counts[word], word))[:size]
    return Vocabulary(tuple(chosen), tuple(counts[word] / len(families) for word in chosen))
