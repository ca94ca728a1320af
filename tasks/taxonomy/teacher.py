"""What the written words say of a theme's level-1 category, weighed by how rare each is in a collection.

The words are those of categories.yaml and, for large collections only, those of more_words.yaml.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from tasks.taxonomy.features import stems
from tasks.taxonomy.lexicon import PHRASE_FACTOR, load_lexicon


@cache
def teaching_words() -> dict[str, tuple[tuple[int, float], ...]]:
    """Return word or phrase -> (position of the level-1 category, weight); fewer categories make a word weigh more."""
    lexicon = load_lexicon()
    more = yaml.safe_load((Path(__file__).parent / "more_words.yaml").read_text(encoding="utf-8"))
    lists = {first: {" ".join(stems(phrase)) for phrase in more[first].split(",")} for first in lexicon.level_1}
    for (first, _), words in lexicon.words.items():
        lists[first] |= words
    spread = Counter(word for words in lists.values() for word in words)
    out: dict[str, list[tuple[int, float]]] = {}
    for position, first in enumerate(lexicon.level_1):
        for word in sorted(lists[first]):
            weight = (1 + math.log(len(lists) / spread[word])) * (PHRASE_FACTOR if " " in word else 1.0)
            out.setdefault(word, []).append((position, weight))
    return {word: tuple(found) for word, found in out.items()}


def votes(vector: Mapping[str, float], rarity: Mapping[str, float]) -> np.ndarray:
    """Return the score of each level-1 category, shape (20,): the Euclidean norm of what its words weigh in the theme.

    Args:
        vector: the theme's words (features.py).
        rarity: the words' IDF in the collection; one that the collection does not have counts as the rarest.
    """
    rarest = max(rarity.values(), default=1.0)
    out = np.zeros(len(load_lexicon().level_1))
    taught = teaching_words()
    for word in sorted(vector.keys() & taught.keys()):
        for position, weight in taught[word]:
            out[position] += (vector[word] * weight * rarity.get(word, rarest)) ** 2
    return np.sqrt(out)
