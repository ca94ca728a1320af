"""Which business processes fit a theme, about which mined tables, in which nouns; the words that decided are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import content_hash
from schemas.database import Table
from schemas.theme import Theme
from tasks.mining.workflows.archetypes import ARCHETYPES
from tasks.mining.workflows.nouns import stems
from tasks.mining.workflows.plan import Archetype, Wording

MINIMUM_ROWS = 20
"""A workflow is about a mined table of at least as many rows."""

_NEAR, _CLOSE = 3, 0.75
"""A second process is drawn from so many of the next best, if they reach this share of the best one's score."""
_PEOPLE = set(stems("customer player member patient person user"))


@dataclass(frozen=True)
class Match:
    """A process that fits: the mined table that it is about, its nouns, its score and the words that decided."""

    archetype: Archetype
    resource: Table
    wording: Wording
    score: float
    words: tuple[str, ...]


def theme_words(theme: Theme) -> dict[str, float]:
    """Return the stems of a theme's document with weights: name 3, terms and operations 2, the rest 1; each once."""
    weights: dict[str, float] = {}
    described = " ".join((theme.description, *theme.needs, *theme.rules, *(o.description for o in theme.operations)))
    named = " ".join((*theme.terms, *(o.name for o in theme.operations)))
    for text, weight in ((described, 1.0), (named, 2.0), (theme.name, 3.0)):
        for word in stems(text):
            weights[word] = max(weight, weights.get(word, 0.0))
    return weights


def choose(theme: Theme, tables: Sequence[Table], count: int = 2) -> list[Match]:
    """Return the `count` processes that fit a theme best, the best first, about different tables where possible.

    The score is the weighted sum of the archetype's cues in the theme and how well a table serves it. The main
    process has the highest; of further ones that are nearly as good the hash of theme and name takes one, so that
    environments differ in structure. Without a table of enough rows the result is empty.
    """
    words = theme_words(theme)
    usable = [table for table in tables if table.rows >= MINIMUM_ROWS and table.origin == "mined"]
    if not usable:
        return []
    ranked: list[tuple[float, str, Archetype, tuple[str, ...]]] = []
    for archetype in ARCHETYPES:
        weighted = [(cue, float(weight)) for cue, _, weight in (c.partition(":") for c in archetype.cues.split())]
        found = {cue: words[root] * weight for cue, weight in weighted for root in stems(cue)[:1] if _said(cue, words)}
        telling = tuple(sorted(found, key=lambda cue: (-found[cue], cue)))
        serving = [table for table in usable if _serves(archetype, table)]
        fit = max((_fit(archetype, table, words) for table in serving), default=-1000.0)
        score = sum(found.values()) + fit
        ranked.append((score, content_hash([theme.theme_id, archetype.name]), archetype, telling))
    ranked.sort(key=lambda entry: (-entry[0], entry[1]))
    matches: list[Match] = []
    while ranked and len(matches) < count:
        near = [entry for entry in ranked[:_NEAR] if entry[0] >= _CLOSE * ranked[0][0]] if matches else ranked[:1]
        chosen = min(near, key=lambda entry: entry[1])
        ranked.remove(chosen)
        score, _, archetype, telling = chosen
        taken = {match.resource.name for match in matches}
        resource = max(
            [table for table in usable if _serves(archetype, table)] or usable,
            key=lambda table: (_fit(archetype, table, words) - 1.5 * (table.name in taken), table.name),
        )
        matches.append(Match(archetype, resource, _wording(archetype, resource, words), score, telling[:6]))
    return matches


def _fit(archetype: Archetype, table: Table, words: dict[str, float]) -> float:
    """How well a mined table serves as what a process is about: named by the archetype, by the theme, labelled."""
    noun = stems(table.noun)
    wanted = stems(archetype.resources)
    bonus = {root: 3.5 - place / len(wanted) for place, root in enumerate(wanted)}
    score = 0.0
    for root, share in zip(reversed(noun), (1.0, 0.4, 0.4), strict=False):
        score = max(score, share * (bonus.get(root, 0.0) + words.get(root, 0.0)))
    referring = sum(1 for column in table.columns if column.role == "reference")
    return score + 3.0 * bool(table.label) - 0.2 * referring + 0.5 * (table.rows >= 100)


def _serves(archetype: Archetype, table: Table) -> bool:
    return not archetype.entity or (bool(table.label) and not _PEOPLE & set(stems(table.noun)))


def _said(cue: str, words: dict[str, float]) -> bool:
    roots = stems(cue)
    return bool(roots) and all(root in words for root in roots)


def _wording(archetype: Archetype, resource: Table, words: dict[str, float]) -> Wording:
    own = set(stems(f"{resource.noun} {resource.name}"))

    def agreement(wording: Wording) -> tuple[float, int]:
        shared = {root for root in stems(wording.cues) if root in words or root in own}
        return sum(words.get(root, 0.0) + 2.0 * (root in own) for root in shared), len(shared)

    best = max(archetype.wordings[:-1], key=agreement)
    total, shared = agreement(best)
    return best if total >= 4.0 and shared >= 2 else archetype.wordings[-1]
