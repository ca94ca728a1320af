"""Pages in the object store: a record by address, the bytes by content. What is there is not asked for again."""

from __future__ import annotations

from schemas.base import canonical_json, content_hash
from schemas.pages import PageRecord
from tasks.store import Store, StoreError, get_blob, put_blob


def page_key(url: str) -> str:
    """Return the key of the record of an address (normal form, without fragment)."""
    return f"pages/{content_hash(url.encode())}.json"


def load_page(store: Store, url: str) -> tuple[PageRecord, bytes] | None:
    """Return a page's record and bytes, or None if it was never opened.

    Raises:
        StoreError: if the record is there and its bytes are missing or damaged.
    """
    if not store.exists(page_key(url)):
        return None
    try:
        record = PageRecord.model_validate_json(store.get(page_key(url)))
    except ValueError as error:
        raise StoreError(f"{page_key(url)} in {store.uri} is no page record: delete it ({error})") from error
    return record, get_blob(store, record.sha256)


def save_page(store: Store, record: PageRecord, body: bytes) -> PageRecord:
    """Store a page: its bytes first, then the record that names them. Returns the record."""
    put_blob(store, body)
    store.put(page_key(record.url), canonical_json(record).encode())
    return record
