"""The telling words of a theme.

A word's score is the sum over the places where it stands (name, data needed, operation names, description, operation
descriptions and rules) of weight x log(1 + count), so that a word counts by where it stands more than by how often.
Function words and the words of every interface description are left out (see text.py). The scheme looks at one document
only: unlike TF-IDF over the collection, no theme's terms change when another theme comes or goes. Singular and plural
count together, under the form that stands more often.
"""

from __future__ import annotations

import math
from collections import Counter

from tasks.themes.reading import Reading
from tasks.themes.text import stem, telling_words

MAX_TERMS = 24


def terms_of(reading: Reading) -> tuple[str, ...]:
    """Return up to MAX_TERMS telling words, lower case, the most telling first; ties in alphabetical order."""
    names = " ".join(one.name.replace("_", " ") for one in reading.operations)
    places = (
        (10.0, reading.name),
        (6.0, " ".join(reading.needs)),
        (3.0, names),
        (3.0, reading.description),
        (1.0, " ".join([one.description for one in reading.operations] + list(reading.rules))),
    )
    scores: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for weight, text in places:
        counts: Counter[str] = Counter()
        for word in telling_words(text):
            counts[stem(word)] += 1
            forms.setdefault(stem(word), Counter())[word] += 1
        for root, count in counts.items():
            scores[root] += weight * math.log1p(count)
    best = sorted(scores, key=lambda root: (-scores[root], root))[:MAX_TERMS]
    return tuple(max(sorted(forms[root]), key=lambda form: forms[root][form]) for root in best)
