"""Prefect result storage over the factory's own store, so that cached results lie beside the data."""

from __future__ import annotations

import asyncio

from prefect.filesystems import WritableFileSystem
from pydantic import Field

from tasks.store import Store, StoreError, open_store

_open: dict[str, Store] = {}


def _store(uri: str) -> Store:
    if uri not in _open:
        _open[uri] = open_store(uri)
    return _open[uri]


class StoreResults(WritableFileSystem):
    """A Prefect block that reads and writes results as objects `results/<key>` of a store."""

    _block_type_name = "Agent-World store"
    _block_type_slug = "agentworld-store"

    uri: str = Field(description="the store's URI")

    def read_path(self, path: str, _sync: bool = True) -> bytes:
        """Return a result's bytes. Raises ValueError if there is none. (Prefect passes `_sync`.)"""
        try:
            return _store(self.uri).get(f"results/{path}")
        except StoreError as error:
            raise ValueError(str(error)) from error

    async def aread_path(self, path: str) -> bytes:
        """Return a result's bytes, without blocking the event loop."""
        return await asyncio.to_thread(self.read_path, path)

    def write_path(self, path: str, content: bytes, _sync: bool = True) -> None:
        """Write a result whole."""
        _store(self.uri).put(f"results/{path}", content)

    async def awrite_path(self, path: str, content: bytes) -> None:
        """Write a result whole, without blocking the event loop."""
        await asyncio.to_thread(self.write_path, path, content)

    def _resolve_path(self, path: str) -> None:
        """Tell Prefect that keys are no file paths. A block that a Dask worker received has lost its id, and Prefect
        would then take keys for paths below the working directory."""
        return None
