"""Complexification: expand a world by connected tables, and enrich it by what people do with them.

After Agent-World (arXiv 2604.18292), which prompts a research agent again with theme and database; here rules follow
references of the corpus and join existing tables by generated ones. Rows and keys that are there stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from schemas.base import content_hash
from schemas.environment import Rejection
from schemas.theme import Theme
from tasks.mining.connectors import CONNECTORS, Connector, Setting
from tasks.mining.workflows.choose import theme_words
from tasks.mining.workflows.compose import Cast, run
from tasks.mining.workflows.draft import Draft
from tasks.mining.workflows.nouns import stems
from tasks.mining.workflows.plan import Workflow
from tasks.mining.world import rejection

OFFERED = 3
"""How many actions a connector adds."""


def connect(
    draft: Draft, theme: Theme, casts: Sequence[Cast], seed: int, round_: int, guideline: dict[str, Any] | None = None
) -> tuple[list[str], list[Rejection]]:
    """Add the tables of one connector to a draft and return their names; a rejection says that none fits any more.

    `guideline` is a diagnosis' guideline: a connector that gives more to do with the `skills` it names comes first;
    without one, the theme decides.
    """
    used = set(draft.made_by.values())
    for connector in preferred(theme, guideline or {}, round_):
        mark = f"generated:{connector.name} seed {seed}"
        if mark in used:
            continue
        for cast in casts:
            workflow = connector.build(Setting(draft, cast))
            if workflow is None or not joins(draft, workflow):
                continue
            for planted in workflow.seeds:
                draft.plant(planted, Random(f"{seed}:{round_}:{planted.table.name}"), mark)
            run(draft, workflow, seed, OFFERED)
            return [planted.table.name for planted in workflow.seeds], []
    reason = f"round {round_}: no further way to connect the tables; fewer rounds give the same world"
    return [], [rejection(theme.theme_id, "no_connector", reason)]


def preferred(theme: Theme, guideline: dict[str, Any], round_: int) -> list[Connector]:
    """Return the connectors, those that serve a guideline's skills first, then by the theme's words, then by hash."""
    asked = {str(skill).split(":")[0].lower() for skill in _texts(guideline.get("skills", ()))}
    asked |= {"loop", "aggregation", "conditional"} if "program" in _texts(guideline.get("kinds", ())) else set()
    words = theme_words(theme)

    def rank(connector: Connector) -> tuple[float, float, str]:
        named = max((words.get(root, 0.0) for word in _WORDS[connector.name] for root in stems(word)), default=0.0)
        return -len(asked & connector.skills), -named, content_hash([theme.theme_id, connector.name, round_])

    return sorted(CONNECTORS, key=rank)


def joins(draft: Draft, workflow: Workflow) -> bool:
    """Whether a workflow's tables hang together and refer to at least two tables of the draft."""
    own = {planted.table.name for planted in workflow.seeds}
    targets = {
        column.references.partition(".")[0]
        for planted in workflow.seeds
        for column in planted.table.columns
        if column.references
    }
    return len(targets & set(draft.tables)) >= 2 and (len(own) == 1 or bool(targets & own))


def _texts(value: Any) -> Iterable[str]:
    return [str(part) for part in value] if isinstance(value, list | tuple | set | frozenset) else [str(value)]


_WORDS = {
    "payments": ("payment", "pay", "card", "invoice", "currency"),
    "reviews": ("rating", "comment", "community", "reaction", "feedback"),
    "deliveries": ("delivery", "shipment", "deliver", "transport", "courier"),
    "inspections": ("inspection", "audit", "compliance", "inspect", "vulnerability"),
    "memberships": ("membership", "club", "programme", "loyalty", "cohort"),
    "collections": ("collection", "favourite", "palette", "repertoire", "playlist"),
}
