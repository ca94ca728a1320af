"""Look at what rows name: an environment's blobs and tools, a training run's checkpoint."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import pyarrow as pa

from tasks.store import Store, StoreError, load_environment
from tasks.store.blobs import blob_key


def find_broken(store: Store, tables: Mapping[str, pa.Table]) -> dict[str, dict[str, dict[str, str]]]:
    """Return dataset -> what was looked at -> row's key -> what is wrong with it.

    An accepted environment must load: its blobs are there and are what their hashes say, its tools are those that
    its row names, and its snapshot is a SQLite database without damage. A training run's checkpoint must be there.
    """
    environments: dict[str, str] = {}
    table = tables["environments"].select(["env_id", "state"])
    for row in table.to_pylist():
        if row["state"] == "accepted":
            problem = _environment_problem(store, str(row["env_id"]))
            if problem:
                environments[str(row["env_id"])] = problem
    runs = {}
    for row in tables["training_runs"].select(["run_id", "checkpoint_sha256"]).to_pylist():
        sha256 = str(row["checkpoint_sha256"])
        try:
            there = store.exists(blob_key(sha256))
        except StoreError as error:
            runs[str(row["run_id"])] = str(error)
            continue
        if not there:
            runs[str(row["run_id"])] = f"its checkpoint, blob {sha256}, is missing"
    return {
        "environments": {"snapshot, schema and tools": environments},
        "training_runs": {"checkpoint": runs},
    }


def _environment_problem(store: Store, env_id: str) -> str:
    try:
        world = load_environment(store, env_id)
    except (StoreError, ValueError, pa.ArrowException, OSError) as error:
        return str(error).splitlines()[0][:500]
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(world.snapshot)
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        foreign = connection.execute("PRAGMA foreign_key_check").fetchone()
    except (sqlite3.Error, OverflowError, MemoryError) as error:
        return f"its snapshot is no readable SQLite database: {error}"
    finally:
        connection.close()
    if found != "ok":
        return f"its snapshot is damaged: {found}"
    return "" if foreign is None else f"its snapshot has a row of {foreign[0]!r} that refers to none of {foreign[2]!r}"
