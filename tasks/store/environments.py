"""Environments in the store: the row in `environments` is written last and names by hash all that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import canonical_json, content_hash
from schemas.database import Database
from schemas.environment import Environment
from schemas.snapshot import SnapshotRefused, check_snapshot
from schemas.theme import Provenance, Source
from schemas.tool import Tool, ToolTest
from tasks.store.blobs import get_blob, put_blob
from tasks.store.datasets import list_keys, read_dataset, write_dataset
from tasks.store.objects import Store, StoreError


@dataclass(frozen=True)
class StoredEnvironment:
    """An accepted environment with all that a user of it needs."""

    environment: Environment
    database: Database
    tools: tuple[Tool, ...]
    snapshot: bytes


def tools_hash(tools: Sequence[Tool]) -> str:
    """Return the content hash of a list of tools, in name order.

    Tools without citations have the hash that they had before tools could cite.
    """
    ordered = sorted(tools, key=lambda tool: tool.name)
    return content_hash([tool.model_dump(mode="json", exclude=None if tool.cites else {"cites"}) for tool in ordered])


def commit_environment(
    store: Store,
    environment: Environment,
    database: Database,
    snapshot: bytes,
    tools: Sequence[Tool],
    tests: Sequence[ToolTest],
    provenance: Sequence[Provenance],
    sources: Sequence[Source],
) -> Environment:
    """Write an accepted environment, its own row last; return that row with the hashes filled in."""
    row = environment.model_copy(
        update={
            "snapshot_sha256": put_blob(store, snapshot),
            "database_sha256": put_blob(store, canonical_json(database).encode()),
            "tools_sha256": tools_hash(tools),
            "n_tables": len(database.tables),
            "n_rows": sum(table.rows for table in database.tables),
            "n_documents": len(database.documents),
            "n_tools": len(tools),
            "authors": tuple(sorted({tool.author for tool in tools})),
        }
    )
    key = environment.env_id
    write_dataset(store, "tools", key, sorted(tools, key=lambda tool: tool.name))
    write_dataset(store, "tool_tests", key, tests)
    write_dataset(store, "provenance", key, provenance)
    write_dataset(store, "sources", key, sources)
    write_dataset(store, "environments", key, [row])
    return row


def environment_rows(store: Store, state: str | None = None) -> list[Environment]:
    """Return the rows of `environments`, in id order, with that state (any, if None)."""
    rows: list[Environment] = read_dataset(store, "environments")
    return [row for row in sorted(rows, key=lambda row: row.env_id) if state is None or row.state == state]


def load_environment(store: Store, env_id: str) -> StoredEnvironment:
    """Load an accepted environment and check its hashes and its snapshot's layout.

    Raises:
        StoreError: if it is unknown, was not accepted, or what it names is missing, damaged or of a later release.
    """
    if env_id not in list_keys(store, "environments"):
        raise StoreError(f"no environment {env_id!r} in {store.uri}: `agentworld ls` shows those that are there")
    row: Environment = read_dataset(store, "environments", env_id)[0]
    if row.state != "accepted":
        raise StoreError(f"environment {env_id!r} was {row.state}: {row.reason}; `agentworld rebuild --failed` retries")
    tools = tuple(read_dataset(store, "tools", env_id))
    if tools_hash(tools) != row.tools_sha256:
        raise StoreError(f"the tools of {env_id!r} are not those that its row names: rebuild it")
    database = Database.model_validate_json(get_blob(store, row.database_sha256))
    snapshot = get_blob(store, row.snapshot_sha256)
    try:
        check_snapshot(snapshot, database.snapshot_sha256)
    except SnapshotRefused as error:
        raise StoreError(f"environment {env_id!r} in {store.uri}: {error}") from error
    return StoredEnvironment(row, database, tools, snapshot)
