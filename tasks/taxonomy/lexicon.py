"""The written lexicon of the taxonomy (categories.yaml): which words speak for which category."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tasks.taxonomy.features import stems

PHRASE_FACTOR = 1.5
"""How much more a phrase of two words counts than a word: it is far less often there by chance."""


@dataclass(frozen=True)
class Lexicon:
    """`words[(level 1, level 2)]` are the stems of a subcategory; `weights` how much each tells (IDF)."""

    words: dict[tuple[str, str], frozenset[str]]
    weights: dict[str, float]

    @property
    def level_1(self) -> tuple[str, ...]:
        """The names of the level-1 categories, in the order of the file."""
        return tuple(dict.fromkeys(first for first, _ in self.words))

    def level_2(self, category: str) -> tuple[str, ...]:
        """The names of a category's subcategories, in the order of the file."""
        return tuple(second for first, second in self.words if first == category)


@cache
def load_lexicon() -> Lexicon:
    """Return the lexicon. A word's weight is 1 + log(20 / number of level-1 categories that list it)."""
    tree = yaml.safe_load((Path(__file__).parent / "categories.yaml").read_text(encoding="utf-8"))
    words = {
        (first, second): frozenset(" ".join(stems(phrase)) for phrase in text.split(","))
        for first, children in tree.items()
        for second, text in children.items()
    }
    spread: Counter[str] = Counter()
    for category in tree:
        spread.update({word for (first, _), own in words.items() if first == category for word in own})
    weights = {
        word: (1 + math.log(len(tree) / count)) * (PHRASE_FACTOR if " " in word else 1.0)
        for word, count in spread.items()
    }
    return Lexicon(words, weights)
