"""Parquet datasets, one object a (dataset, key)."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.arrow import arrow_schema, from_table, to_table
from schemas.base import Record
from schemas.datasets import DATASETS, Dataset
from tasks.store.objects import Store, StoreError


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise StoreError(f"there is no dataset {name!r}; the datasets are {', '.join(DATASETS)}")
    return DATASETS[name]


def dataset_key(name: str, key: str) -> str:
    """Return the object key of one part of a dataset."""
    return f"datasets/{_dataset(name).name}/{key}.parquet"


def write_dataset(store: Store, name: str, key: str, records: Iterable[Record]) -> int:
    """Write the rows of one key, replacing those that were there; return their number.

    The same records give the same bytes.

    Raises:
        StoreError: for an unknown dataset, a malformed key, or a store that fails.
    """
    dataset = _dataset(name)
    table = to_table(dataset.model, dataset.version, records)
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    store.put(dataset_key(name, key), sink.getvalue())
    return table.num_rows


def list_keys(store: Store, name: str) -> list[str]:
    """Return the keys that a dataset has, sorted."""
    start = f"datasets/{_dataset(name).name}/"
    return [key[len(start) : -len(".parquet")] for key in store.list(start) if key.endswith(".parquet")]


def read_table(store: Store, name: str, keys: Iterable[str] | None = None) -> pa.Table:
    """Return the rows of the given keys (all, if None) as one Arrow table.

    Raises:
        StoreError: if a part is missing, is no Parquet file, or was written by a newer version of the schema.
    """
    dataset = _dataset(name)
    schema = arrow_schema(dataset.model, dataset.version)
    tables = []
    for key in list_keys(store, name) if keys is None else keys:
        place = dataset_key(name, key)
        try:
            # without threads: those that a short command has just started would abort the process as it ends
            table = pq.ParquetFile(pa.BufferReader(store.get(place))).read(use_threads=False)
        except pa.ArrowException as error:
            raise StoreError(f"{place} in {store.uri} is no readable Parquet file: {error}; rerun its stage") from error
        version = int((table.schema.metadata or {}).get(b"schema_version", b"0"))
        if version > dataset.version:
            raise StoreError(
                f"{place} in {store.uri} has schema version {version}, this program knows {dataset.version}: upgrade it"
            )
        tables.append(table.select([n for n in schema.names if n in table.column_names]))
    if not tables:
        return schema.empty_table()
    return pa.concat_tables(tables, promote_options="default")


def read_dataset(store: Store, name: str, key: str | None = None) -> list[Any]:
    """Return the records of one key, or of the whole dataset.

    Raises:
        StoreError: as `read_table`.
        pydantic.ValidationError: if a row does not fit its record type.
    """
    return from_table(_dataset(name).model, read_table(store, name, None if key is None else [key]))
