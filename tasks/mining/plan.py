"""Decide which items a theme's world is made of: the best matches, what they refer to, and what refers to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas.theme import Theme
from tasks.mining.relations import Link, Study

MOST_TABLES = 5
MOST_WITH_PARENTS = 7
"""How many tables a plan may grow to by the parents of tables that answer a need."""

FLOOR = 0.35
"""Items below this share of the best item's score are not opened."""

LEAST_MATCH = 0.3
"""Share of a perfect match below which an item does not answer a need."""

LEAST_RESEMBLANCE = 0.15
"""Share of a perfect match that some item must reach for a theme's name, terms or a need of it."""

Match = Callable[[str, float], float]
"""(query, score) -> share of a perfect match."""

Search = Callable[[str, str], list[tuple[str, float]]]
"""Search for (purpose, query) -> (item id, score), the best first."""


@dataclass
class Plan:
    """The chosen items, in the order in which they were chosen, and the references between them."""

    items: list[str] = field(default_factory=list)
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def queries(theme: Theme) -> list[tuple[str, str, float]]:
    """Return the queries that a theme is searched with: purpose, words, weight."""
    found = [(f"need {number}", need, 3.0) for number, need in enumerate(theme.needs[:8], start=1)]
    found.append(("name", f"{theme.name} {theme.name}", 1.5 if found else 3.0))
    found.append(("terms", " ".join(theme.terms[:15]), 1.0 if found else 2.0))
    operations = " ".join(f"{op.name} {' '.join(op.parameters)}" for op in theme.operations[:25])
    found.append(("operations", operations, 1.0))
    found.append(("description", f"{theme.description[:300]} {theme.category_l1}", 0.5))
    return [(purpose, query, weight) for purpose, query, weight in found if query.strip()]


def rank(theme: Theme, search: Search, match: Match, study: Study) -> tuple[list[tuple[str, float]], list[str]]:
    """Search for a theme and return (items with scores, best first; the best item for each need, in order).

    The scores of each query are put on one scale (its best item scores the query's weight) and added. A need that
    nothing matches well has no item; a theme whose name, terms and needs nothing resembles has none at all.
    """
    total: dict[str, float] = defaultdict(float)
    needed: list[str] = []
    clearest = 0.0
    for purpose, query, weight in queries(theme):
        results = search(purpose, query)
        for item, score in results:
            total[item] += weight * score / results[0][1]
        if results and purpose not in ("operations", "description"):
            clearest = max(clearest, match(query, results[0][1]))
        if purpose.startswith("need") and results and match(query, results[0][1]) >= LEAST_MATCH:
            item = _detail(results, study)
            needed += [item] if item not in needed else []
    if clearest < LEAST_RESEMBLANCE:
        return [], []
    return sorted(total.items(), key=lambda pair: (-round(pair[1], 6), pair[0])), needed


def _detail(results: Sequence[tuple[str, float]], study: Study) -> str:
    """Return the best item, or one of nearly its score that refers to it: the details bring their summary along."""
    best, score = results[0]
    close = {item for item, other in results if other >= 0.8 * score}
    return next((link.child for link in study.children(best) if link.child in close), best)


def choose(ranked: Sequence[tuple[str, float]], needed: Sequence[str], study: Study) -> Plan:
    """Choose at most MOST_TABLES items from a ranking so that they hang together where they can."""
    plan = Plan()
    scores = {item: score for item, score in ranked if item in study.tables}
    if not scores:
        return plan
    best = max(scores.values())
    above = [item for item in scores if scores[item] >= FLOOR * best]
    first = [item for item in needed if item in scores] or above[:1]
    for item in first:
        _take(plan, item, "answers a need" if item in needed else "best match", study)
    for item in list(plan.items):
        for link in study.parents(item):
            _take(plan, link.parent, f"{item} refers to it by {link.column}", study, MOST_WITH_PARENTS)
    for item in above:
        if item not in plan.items and any(link.parent == item or link.child == item for link in _touching(plan, study)):
            _take(plan, item, "matches and is connected", study)
    for item in list(plan.items):
        for link in study.parents(item):
            _take(plan, link.parent, f"{item} refers to it by {link.column}", study)
    if len(plan.items) < 3:
        children = [link for item in list(plan.items) for link in study.children(item)]
        for link in sorted(children, key=lambda link: (-scores.get(link.child, 0.0), link.child)):
            if len(plan.items) < 3 and (scores.get(link.child, 0.0) > 0 or len(plan.items) < 2):
                _take(plan, link.child, f"refers to {link.parent} by {link.column}", study)
    for item in above:
        if len(plan.items) < 2 and scores[item] >= 0.6 * best:
            _take(plan, item, "matches", study)
    _refer(plan, study)
    return plan


def _touching(plan: Plan, study: Study) -> list[Link]:
    chosen = set(plan.items)
    return [link for link in study.links if link.parent in chosen or link.child in chosen]


def _take(plan: Plan, item: str, reason: str, study: Study, most: int = MOST_TABLES) -> None:
    """Add an item unless it is there, the plan is full, or another table already has its name or its key column."""
    if item in plan.items or len(plan.items) >= most:
        return
    table = study.tables[item].table
    taken = [study.tables[other].table for other in plan.items]
    if any(table.name == other.name or table.key == other.key for other in taken):
        return
    plan.items.append(item)
    plan.reasons[item] = reason


def _refer(plan: Plan, study: Study) -> None:
    """Fix the references among the chosen items, leaving out any that would close a circle.

    A column whose best parent was not chosen may refer to another chosen table that fits it as well.
    """
    for item in plan.items:
        columns = plan.references.setdefault(item, {})
        for link in study.options(item):
            if link.parent in plan.items and link.column not in columns and not _reaches(plan, link.parent, item):
                columns[link.column] = link.parent


def _reaches(plan: Plan, start: str, goal: str) -> bool:
    return start == goal or any(_reaches(plan, parent, goal) for parent in plan.references.get(start, {}).values())
