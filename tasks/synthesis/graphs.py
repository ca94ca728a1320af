"""Graph tasks: walk the tool graph, bind the walk, write its prompt."""

from __future__ import annotations

import random
from collections.abc import Sequence

import networkx as nx

from schemas.task import Oracle
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.chain import build_chain
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.prompt import chain_prompt

LENGTHS = {3: 1, 4: 3, 5: 4, 6: 4, 7: 3, 8: 2, 9: 1}
WIDE_LENGTHS = LENGTHS | {2: 6, 3: 5}
"""Aimed chain length -> weight, before calls that do not matter are dropped."""
EASY_LENGTHS = {1: 2, 2: 3, 3: 2}


def build_graph_task(
    atlas: Atlas,
    graph: nx.DiGraph,
    rng: random.Random,
    phrasing: Phrasing,
    skills: Sequence[str] = (),
    lengths: dict[int, int] | None = None,
) -> Candidate | None:
    """Return one chain candidate, or None if the walk led nowhere.

    Args:
        skills: tool kinds that the walk should favour.
        lengths: aimed length -> weight; the default gives 3 to 9 calls.
    """
    lengths = lengths or LENGTHS
    length = rng.choices(list(lengths), weights=list(lengths.values()))[0]
    favoured = [tool.name for tool in atlas.tools.values() if tool.kind in skills]
    draft = build_chain(atlas, graph, rng, length, favoured)
    if draft is None:
        return None
    prompt, fields = chain_prompt(draft, rng, phrasing)
    answer = {
        field.name: {"$ref": f"{ask.step}.{ask.reference}"} for field, ask in zip(fields, draft.asks, strict=True)
    }
    kinds = [atlas.tools[call.tool].kind for call in draft.calls]
    return Candidate(
        kind="graph",
        template="-".join(kinds),
        prompt=prompt,
        oracle=Oracle(calls=tuple(draft.calls), answer=answer),
        fields=fields,
        skills=tuple(sorted(set(kinds))),
        expected=tuple(draft.expected),
    )
