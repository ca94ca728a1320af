"""The tool graph: which tool's output another tool's input needs."""

from __future__ import annotations

import networkx as nx

from schemas.tool import Tool
from tasks.synthesis.atlas import Atlas, required

WEIGHTS = {"strong": 3, "weak": 2, "independent": 1}
"""Edge weights of the tool graph (Agent-World, arXiv 2604.18292)."""
ADDED_FACTOR = 3.0
"""How much more likely a walk steps to a tool that a model added to those that rules write for every environment."""


def needs(atlas: Atlas, tool: Tool) -> set[str]:
    """Return the key entities that a tool's required parameters take.

    Prompts name rows by label or by properties, so a key can be had from an earlier observation only. A document's
    name counts too: only the list of documents tells it.
    """
    names = required(tool)
    return {
        atlas.canonical(field.entity)
        for field in tool.inputs
        if field.path in names and (atlas.is_key(field.entity) or field.entity == "documents.name")
    }


def gives(atlas: Atlas, tool: Tool) -> set[str]:
    """Return the entities that stand in a tool's observation and that it was not given."""
    return {atlas.canonical(field.entity) for field in tool.outputs if field.entity} - needs(atlas, tool)


def _accepts(atlas: Atlas, tool: Tool) -> set[str]:
    return {atlas.canonical(field.entity) for field in tool.inputs if field.entity}


def tool_graph(atlas: Atlas) -> nx.DiGraph:
    """Return the fully connected weighted directed graph over an environment's tools.

    An edge a -> b is `strong` (3, this way only) if b strictly needs an entity that a gives, `weak` (2) if b may take
    one that a gives, else `independent` (1). A tool has an edge to itself, since a chain may search twice.
    """
    graph = nx.DiGraph()
    for tool in atlas.tools.values():
        favour = 1.0 if tool.author == "rules" else ADDED_FACTOR
        graph.add_node(tool.name, needs=needs(atlas, tool), gives=gives(atlas, tool), favour=favour)
    for source in atlas.tools.values():
        given = graph.nodes[source.name]["gives"]
        for target in atlas.tools.values():
            if given & graph.nodes[target.name]["needs"]:
                kind = "strong"
            elif given & _accepts(atlas, target):
                kind = "weak"
            else:
                kind = "independent"
            graph.add_edge(source.name, target.name, kind=kind, weight=WEIGHTS[kind])
    return graph


def starts(graph: nx.DiGraph) -> list[str]:
    """Return the tools that a walk may begin at: they give something and need no other tool's output."""
    return [name for name, data in graph.nodes(data=True) if data["gives"] and not data["needs"]]
