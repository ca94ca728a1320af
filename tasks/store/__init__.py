"""The object store: objects by URI, Parquet datasets, content-addressed blobs and releases."""

from tasks.store.blobs import get_blob, put_blob
from tasks.store.datasets import list_keys, read_dataset, read_table, write_dataset
from tasks.store.environments import StoredEnvironment, commit_environment, environment_rows, load_environment
from tasks.store.objects import LocalStore, S3Store, Store, StoreError, open_store
from tasks.store.releases import collect_garbage, cut_release, read_release

__all__ = [
    "LocalStore",
    "S3Store",
    "Store",
    "StoreError",
    "StoredEnvironment",
    "collect_garbage",
    "commit_environment",
    "cut_release",
    "environment_rows",
    "get_blob",
    "list_keys",
    "load_environment",
    "open_store",
    "put_blob",
    "read_dataset",
    "read_release",
    "read_table",
    "write_dataset",
]
