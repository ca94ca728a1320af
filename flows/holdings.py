"""What a store holds, in one small fingerprint, so that a later command can tell what has changed since."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flows.policies import CURRENT
from schemas.base import content_hash
from tasks.store import open_store

POLICY = "policy"
LENGTH = 16


def holdings(store_uri: str) -> dict[str, str]:
    """Return dataset -> a hash over its keys and their contents, and under POLICY the name of the current policy.

    A dataset that is written anew with the same rows keeps its hash.

    Raises:
        StoreError: if the store cannot be read.
    """
    store = open_store(store_uri)
    parts: dict[str, dict[str, str]] = {}
    for key, version in store.versions("datasets/").items():
        parts.setdefault(key.split("/")[1], {})[key] = version
    found = {dataset: content_hash(keys)[:LENGTH] for dataset, keys in parts.items()}
    if store.exists(CURRENT):
        named = json.loads(store.get(CURRENT))
        found[POLICY] = f"{named['policy_id']} ({named['checkpoint_sha256'][:8]})"
    return found


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return what differs, for people: the datasets in one phrase, the policy in another; [] if nothing does."""
    names = sorted((before.keys() | now.keys()) - {POLICY})
    datasets = [name for name in names if before.get(name) != now.get(name)]
    found = [f"changed datasets: {', '.join(datasets)}"] if datasets else []
    if before.get(POLICY) != now.get(POLICY):
        found.append(f"current policy: {now.get(POLICY, 'none')}, was {before.get(POLICY, 'none')}")
    return found
