"""Content-addressed objects: snapshots, checkpoints and other large things."""

from __future__ import annotations

import hashlib

from tasks.store.objects import Store, StoreError


def blob_key(sha256: str) -> str:
    """Return the key of the blob with that hash."""
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def put_blob(store: Store, data: bytes) -> str:
    """Store bytes once and return their sha256 (64 hex digits)."""
    sha256 = hashlib.sha256(data).hexdigest()
    store.put(blob_key(sha256), data, if_absent=True)
    return sha256


def get_blob(store: Store, sha256: str) -> bytes:
    """Return the bytes with that hash.

    Raises:
        StoreError: if they are missing, or are not what the hash says.
    """
    data = store.get(blob_key(sha256))
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise StoreError(
            f"blob {sha256} in {store.uri} is damaged (its content hashes to {found}): delete it and rerun its stage"
        )
    return data
