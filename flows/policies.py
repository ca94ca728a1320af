"""Trained policies in the store: checkpoints are blobs, `training_runs` describes them, one object is current."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flows.runtime import home
from schemas.base import canonical_json, content_hash
from schemas.episode import TrainingRun
from tasks.store import get_blob, open_store, put_blob, read_dataset, write_dataset
from tasks.store.objects import StoreError

CURRENT = "policies/current.json"


def keep_policy(store_uri: str, run: TrainingRun, checkpoint: bytes) -> TrainingRun:
    """Store a checkpoint and its run; return the run as stored."""
    store = open_store(store_uri)
    row = run.model_copy(update={"checkpoint_sha256": put_blob(store, checkpoint)})
    write_dataset(store, "training_runs", row.run_id, [row])
    return row


def set_current(store_uri: str, run: TrainingRun) -> None:
    """Make a run's policy the one that the arena evaluates and the next training continues from."""
    named = {"policy_id": run.policy_id, "run_id": run.run_id, "checkpoint_sha256": run.checkpoint_sha256}
    open_store(store_uri).put(CURRENT, canonical_json(named).encode())


def current_policy(store_uri: str) -> TrainingRun:
    """Return the run of the current policy.

    Raises:
        StoreError: if nothing was trained yet.
    """
    store = open_store(store_uri)
    if not store.exists(CURRENT):
        raise StoreError(f"no policy in {store.uri} yet: run `agentworld train` first")
    named: dict[str, Any] = json.loads(store.get(CURRENT))
    return read_dataset(store, "training_runs", named["run_id"])[0]


def checkpoint_of(store_uri: str, run: TrainingRun) -> bytes:
    """Return the checkpoint's bytes of a run."""
    return get_blob(open_store(store_uri), run.checkpoint_sha256)


def work_folder(store_uri: str, run_id: str) -> Path:
    """Return the local folder in which a training of that store keeps its checkpoints while it runs."""
    return home() / "work" / content_hash(store_uri)[:12] / run_id
