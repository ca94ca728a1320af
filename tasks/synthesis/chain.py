"""Bind a walk over the tool graph to rows and values, and keep the calls that matter."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import networkx as nx

from schemas.task import Call
from schemas.tool import Tool
from tasks.synthesis.asks import add_asks
from tasks.synthesis.atlas import Atlas, required
from tasks.synthesis.draft import Condition, Draft, references, renumber
from tasks.synthesis.finders import Wanted, bind_find
from tasks.synthesis.readers import bind_aggregate, bind_get, bind_key
from tasks.synthesis.rules import allowed
from tasks.synthesis.walk import ordered
from tasks.synthesis.writers import bind_change, bind_create

MOST_FIELDS = 4
"""The most fields of an answer; of chains of 10 calls and more, half as many as calls."""


def build_chain(
    atlas: Atlas, graph: nx.DiGraph, rng: random.Random, length: int, favoured: Sequence[str] = ()
) -> Draft | None:
    """Return a chain of about `length` calls in which every call matters, or None if the walk led nowhere.

    Args:
        favoured: names of tools that the walk steps to more often.
    """
    draft = Draft(atlas, rng)
    current: str | None = None
    while len(draft.calls) < length:
        for name in ordered(graph, current, rng, favoured):
            if bind(draft, atlas.tools[name], length - len(draft.calls)):
                current = name
                break
        else:
            break
    if not draft.calls:
        return None
    add_asks(draft, max(MOST_FIELDS, length // 2))
    return prune(draft) if draft.asks else None


def bind(draft: Draft, tool: Tool, room: int) -> bool:
    """Append one tool's call, with up to `room` - 1 calls before it that find what it needs; say whether it went."""
    if tool.kind in ("search", "list"):
        if not _supply(draft, tool, room):
            return False
        return bind_find(draft, tool, _interest(draft, tool)) is not None or bind_aggregate(draft, tool)
    if tool.kind == "get":
        if bind_get(draft, tool) is not None:
            return True
        return (
            not draft.atlas.tables[tool.table].label and draft.rng.random() < 0.2 and bind_key(draft, tool) is not None
        )
    if tool.kind == "aggregate":
        return bind_aggregate(draft, tool)
    if tool.kind in ("transition", "update") and tool.action in draft.atlas.actions:
        action = draft.atlas.actions[tool.action]
        if bind_change(draft, action, tool) is not None:
            return True
        wanted = partial(allowed, draft.atlas, action) if action.kind == "transition" else None
        return room > 1 and _find(draft, action.table, wanted) and bind_change(draft, action, tool) is not None
    if tool.kind == "create" and tool.action in draft.atlas.actions:
        if not _supply(draft, tool, room):
            return False
        return any(bind_create(draft, draft.atlas.actions[tool.action], tool) is not None for _ in range(4))
    return False


def _interest(draft: Draft, tool: Tool) -> Wanted | None:
    """Return, mostly, the wish for a row that some action accepts, so that later calls have something to act on."""
    actions = [a for a, _ in draft.atlas.action_tools if a.table == tool.table and a.kind == "transition"]
    if not actions or draft.rng.random() < 0.35:
        return None
    return partial(allowed, draft.atlas, draft.rng.choice(actions))


def _find(draft: Draft, table: str, wanted: Wanted | None = None) -> bool:
    finders = [f for f in draft.atlas.finders[table] if all(_is_had(draft, f, name) for name in required(f))]
    draft.rng.shuffle(finders)
    return any(bind_find(draft, finder, wanted) is not None for finder in finders)


def _is_had(draft: Draft, tool: Tool, name: str) -> bool:
    entity = next((field.entity for field in tool.inputs if field.path == name), "")
    return not draft.atlas.is_key(entity) or bool(draft.sources(entity))


def _supply(draft: Draft, tool: Tool, room: int) -> bool:
    """Find a row for each required reference that no observation holds yet; False if there is no room or way."""
    for name in required(tool):
        if _is_had(draft, tool, name):
            continue
        entity = next(field.entity for field in tool.inputs if field.path == name)
        room -= 1
        target = draft.atlas.canonical(entity).partition(".")[0]
        if room < 1 or target == tool.table or not _find(draft, target):
            return False
    return True


def prune(draft: Draft) -> Draft | None:
    """Drop the calls that neither feed a kept call, nor the answer, nor the state; None if nothing is left."""
    writes = {s.step for s in draft.sentences if s.kind in ("transition", "update", "create")}
    kept = writes | {ask.step for ask in draft.asks}
    for step in range(len(draft.calls) - 1, -1, -1):
        if step in kept:
            kept |= {int(text.partition(".")[0]) for text in references(draft.calls[step].arguments)}
    if not kept:
        return None
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    picks = {old: new for new, old in enumerate(n for n, p in enumerate(draft.picks) if p.step in kept)}
    new = Draft(draft.atlas, draft.rng, touched=draft.touched, written=draft.written)
    for step in sorted(kept):
        call = draft.calls[step]
        new.calls.append(Call(tool=call.tool, arguments=renumber(call.arguments, numbers)))

    def moved_condition(condition: Condition) -> Condition:
        return condition if condition.of is None else replace(condition, of=picks[condition.of])

    for number in picks:
        pick = draft.picks[number]
        mention = replace(
            pick.mention,
            conditions=tuple(moved_condition(c) for c in pick.mention.conditions),
            of=None if pick.mention.of is None else picks[pick.mention.of],
        )
        same = None if pick.same_as is None else picks[pick.same_as]
        new.picks.append(replace(pick, step=numbers[pick.step], mention=mention, same_as=same))
    places: dict[int, int] = {}
    for place, sentence in enumerate(draft.sentences):
        if sentence.step in kept:
            places[place] = len(new.sentences)
            pick_number = None if sentence.pick is None else picks[sentence.pick]
            relations = tuple(moved_condition(c) for c in sentence.relations)
            new.sentences.append(replace(sentence, step=numbers[sentence.step], pick=pick_number, relations=relations))
    for ask in draft.asks:
        new.asks.append(
            replace(
                ask, step=numbers[ask.step], pick=None if ask.pick is None else picks[ask.pick],
                sentence=None if ask.sentence is None else places[ask.sentence],
            )
        )  # fmt: skip
    new.expected = [replace(e, step=numbers[e.step]) for e in draft.expected if e.step in kept]
    return new
