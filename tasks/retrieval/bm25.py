"""BM25 search over named documents.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[a-z][a-z0-9]+|[0-9]{3,}")
_STOP = frozenset((  # fmt: skip
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "code", "each", "for", "from", "get",
    "has", "have", "id", "in", "into", "is", "it", "its", "list", "name", "new", "number", "of", "on", "one", "or",
    "such", "that", "the", "their", "this", "to", "type", "use", "used", "using", "value", "was", "which", "who",
    "with",
))  # fmt: skip


def stem(word: str) -> str:
    """Return a word without its plural ending: cities -> city, airports -> airport."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words(text: str) -> list[str]:
    """Return the stemmed content words of a text, in order; snake and camel case are taken apart."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    return [stem(word) for word in _WORD.findall(spaced) if word not in _STOP]


class Index:
    """An inverted index of weighted documents. Scores are BM25 with k1 = 1.2 and b = 0.5; ties go by name."""

    def __init__(self) -> None:
        self._terms: dict[str, dict[str, float]] = {}
        self._length: dict[str, float] = {}

    def copy(self) -> Index:
        """Return an index of its own with the same documents."""
        other = Index()
        other._terms = {word: dict(found) for word, found in self._terms.items()}
        other._length = dict(self._length)
        return other

    def add(self, name: str, weighted: Iterable[tuple[float, Sequence[str]]]) -> None:
        """Add a document made of fields, each a weight (how often its words count) and its words."""
        counts: Counter[str] = Counter()
        for weight, field in weighted:
            for word in field:
                counts[word] += weight  # type: ignore[assignment]
        for word, count in counts.items():
            self._terms.setdefault(word, {})[name] = count
        self._length[name] = sum(counts.values())

    def ideal(self, query: Sequence[str]) -> float:
        """Return the score that a document would come near if it held every query word many times."""
        total = len(self._length)
        found = [len(self._terms.get(word, {})) for word in set(query)]
        return sum(math.log(1 + (total - n + 0.5) / (n + 0.5)) * 2.2 for n in found)

    def search(self, query: Sequence[str], k: int = 10) -> list[tuple[str, float]]:
        """Return the k best documents (name, score) for stemmed query words; a repeated word counts more."""
        if not self._length:
            return []
        total, mean = len(self._length), sum(self._length.values()) / len(self._length)
        scores: Counter[str] = Counter()
        for word, times in sorted(Counter(query).items()):
            found = self._terms.get(word, {})
            rarity = math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
            for name, count in found.items():
                norm = count + 1.2 * (0.5 + 0.5 * self._length[name] / mean)
                scores[name] += rarity * count * 2.2 / norm * (1 + math.log(times))  # type: ignore[assignment]
        return sorted(((name, round(score, 6)) for name, score in scores.items()), key=lambda x: (-x[1], x[0]))[:k]
