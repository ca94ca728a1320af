"""A weighted random walk over the tool graph."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import networkx as nx

from tasks.synthesis.graph import starts

TARGETED_FACTOR = 5.0
"""How much more likely a walk steps to a tool of a kind that a guideline asks for."""


def ordered(
    graph: nx.DiGraph,
    current: str | None,
    rng: random.Random,
    favoured: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the next tools to try, drawn without replacement with the probability of the edge's weight and the tool's
    favour.

    `current` is the tool that the walk stands at (None: the start). The walker takes the first that can be bound.
    """
    if current is None:
        weights = {name: 1.0 for name in starts(graph)}
    else:
        weights = {name: float(data["weight"]) for name, data in graph[current].items()}
    for name in weights:
        weights[name] *= graph.nodes[name]["favour"]
        if name in favoured:
            weights[name] *= TARGETED_FACTOR
    while weights:
        names = list(weights)
        chosen = rng.choices(names, weights=[weights[name] for name in names])[0]
        del weights[chosen]
        yield chosen
