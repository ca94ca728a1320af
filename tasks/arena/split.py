"""Which environments train a policy, which choose its settings, and which only ever measure it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from schemas.base import content_hash
from schemas.environment import Environment

Split = Literal["train", "development", "held_out"]

HELD_OUT_SHARE = 0.25
HELD_OUT_MINIMUM = 3
DEVELOPMENT_SHARE = 0.1


def split_environments(environments: Iterable[Environment], seed: int) -> dict[str, Split]:
    """Assign each environment to train, development or held_out; return env_id -> split.

    Environments that share a theme, or that descend from one another (`lineage`), form a family and stay together.
    Within a level-1 category, families are put in the order of a seeded hash and spread evenly over [0, 1); the lowest
    quarter of all of them (at least three families, never more than half) is held out and the next tenth is for
    development. So each category gives about its share (stratified systematic sampling: Cochran, Sampling
    Techniques, 1977, ch. 8), and the order in which environments are given does not matter.

    An environment whose record already carries a split keeps it, and so does its family: with the splits stored,
    nothing ever moves. Without them, a new environment moves members of its own category and at most those at the
    two boundaries elsewhere.

    Raises:
        ValueError: if one family carries two different splits, or if an env_id comes twice.
    """
    records = sorted(environments, key=lambda e: e.env_id)
    if len({e.env_id for e in records}) != len(records):
        raise ValueError("split_environments got an env_id twice; give each environment once")
    families = _families(records)
    fixed = {key: split for key, members in families.items() if (split := _known_split(members))}
    free = {key: members for key, members in families.items() if key not in fixed}
    total = len(families)
    held_out = min(max(HELD_OUT_MINIMUM, round(HELD_OUT_SHARE * total)), total // 2)
    development = round(DEVELOPMENT_SHARE * total)
    held_out -= sum(split == "held_out" for split in fixed.values())
    development -= sum(split == "development" for split in fixed.values())
    order = _stratified_order(free, seed)
    chosen: dict[str, Split] = dict(fixed)
    for place, key in enumerate(order):
        if place < held_out:
            chosen[key] = "held_out"
        elif place < max(0, held_out) + max(0, development):
            chosen[key] = "development"
        else:
            chosen[key] = "train"
    return {e.env_id: chosen[key] for key, members in families.items() for e in members}


def _families(records: Sequence[Environment]) -> dict[str, list[Environment]]:
    """Group environments that share a theme or a lineage (union-find); the key is the family's first theme id."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for record in records:
        parent[root(f"env:{record.env_id}")] = root(f"theme:{record.theme_id}")
        if record.lineage:
            parent[root(f"env:{record.lineage}")] = root(f"theme:{record.theme_id}")
    groups: dict[str, list[Environment]] = {}
    for record in records:
        groups.setdefault(root(f"env:{record.env_id}"), []).append(record)
    return {min(e.theme_id for e in members): members for members in groups.values()}


def _known_split(members: Sequence[Environment]) -> Split | None:
    known = {e.split for e in members if e.split}
    if len(known) > 1:
        names = ", ".join(f"{e.env_id}={e.split}" for e in members if e.split)
        raise ValueError(f"environments of one family carry different splits: {names}; clear one of them")
    return known.pop() if known else None  # type: ignore[return-value]


def _stratified_order(families: dict[str, list[Environment]], seed: int) -> list[str]:
    """Order families by their position in their own category, so that any prefix takes each category's share."""
    strata: dict[str, list[str]] = {}
    for key, members in families.items():
        oldest = min(members, key=lambda e: (bool(e.lineage), e.env_id))
        strata.setdefault(oldest.category_l1, []).append(key)
    positions: dict[str, float] = {}
    for keys in strata.values():
        keys.sort(key=lambda key: _unit(seed, "order", key))
        for rank, key in enumerate(keys):
            positions[key] = (rank + _unit(seed, "jitter", key)) / len(keys)
    return sorted(positions, key=lambda key: (positions[key], key))


def _unit(seed: int, *words: str) -> float:
    """Return a number in [0, 1) that depends on the seed and the words alone."""
    return int(content_hash([seed, *words])[:13], 16) / 16**13
