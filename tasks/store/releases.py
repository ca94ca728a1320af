"""Releases: immutable, validated cuts of all datasets; and the removal of what nothing refers to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.base import Record, canonical_json, content_hash
from schemas.datasets import DATASETS
from schemas.environment import Environment
from tasks.store.blobs import put_blob
from tasks.store.datasets import read_dataset
from tasks.store.objects import Store, StoreError

_HASH = re.compile(rb"[0-9a-f]{64}")


def cut_release(store: Store, rows: Mapping[str, Sequence[Record]]) -> str:
    """Write the rows that passed validation as a release and return its id; an equal cut gives the same id.

    Args:
        rows: dataset name -> the rows that passed.

    The manifest `releases/<id>.json` names, for each dataset, the blob that holds its rows as Parquet, their number
    and schema version; it is created only if absent.
    """
    import io

    import pyarrow.parquet as pq

    from schemas.arrow import to_table

    datasets: dict[str, Any] = {}
    for name in sorted(rows):
        dataset = DATASETS[name]
        sink = io.BytesIO()
        table = to_table(dataset.model, dataset.version, rows[name])
        pq.write_table(table, sink, compression="zstd")
        datasets[name] = {
            "sha256": put_blob(store, sink.getvalue()),
            "rows": table.num_rows,
            "schema_version": dataset.version,
        }
    snapshots = sorted(
        {
            sha256
            for row in rows.get("environments", ())
            if isinstance(row, Environment)
            for sha256 in (row.snapshot_sha256, row.database_sha256)
            if sha256
        }
    )
    manifest = {"datasets": datasets, "blobs": snapshots}
    release_id = content_hash(manifest)[:16]
    store.put(f"releases/{release_id}.json", canonical_json({"release_id": release_id, **manifest}).encode(),
              if_absent=True)  # fmt: skip
    return release_id


def read_release(store: Store, release_id: str) -> dict[str, Any]:
    """Return a release's manifest. Raises StoreError if there is none."""
    try:
        return json.loads(store.get(f"releases/{release_id}.json"))
    except json.JSONDecodeError as error:
        raise StoreError(f"the manifest of release {release_id!r} in {store.uri} is damaged: {error}") from error


def collect_garbage(store: Store, *, dry_run: bool = True) -> list[str]:
    """Return the keys of blobs that no environment, training run, research, page, cached result or release names;
    remove them unless `dry_run`. Run it while no flow writes."""
    used: set[str] = set()
    for row in read_dataset(store, "environments"):
        used.update((row.snapshot_sha256, row.database_sha256))
    used.update(row.checkpoint_sha256 for row in read_dataset(store, "training_runs"))
    used.update(row.findings_sha256 for row in read_dataset(store, "research"))
    for prefix in ("releases/", "results/", "runs/", "pages/"):
        for key in store.list(prefix):
            used.update(match.decode() for match in _HASH.findall(store.get(key)))
    garbage = [key for key in store.list("blobs/sha256/") if key.rpartition("/")[2] not in used]
    if not dry_run:
        for key in garbage:
            store.delete(key)
    return garbage
