"""The tools of a researcher: search the web, open a page, read a file. No language model is involved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from schemas.base import canonical_json, content_hash
from schemas.pages import PageRecord
from tasks.files import FileError, read_file_apart, safe_name
from tasks.files.html import meta_refresh
from tasks.files.text import decode
from tasks.store import Store, get_blob, put_blob
from tasks.web.cache import save_page
from tasks.web.chromium import find_chromium
from tasks.web.engines import Hit, SearchEngine
from tasks.web.errors import WebError
from tasks.web.fetch import Fetcher
from tasks.web.guard import Guard, Resolver, resolve
from tasks.web.licence import find_licence
from tasks.web.limits import Clock, Limits
from tasks.web.page import Page, noted, page_of_file, page_of_html
from tasks.web.render import Rendered, render

_STUB = 400
"""A page with less text than this that sends its reader on is only a signpost, and is followed."""


class Web:
    """The web, as far as it is open to us, through one store. Safe to use from several threads.

    `allow` names hosts (or host:port) that may be opened although their address is not public. `browser` is the path of
    a Chromium, '' for none, None for whichever is found. `engine` answers searches. `folder` may be opened by file://.
    What was opened or searched once is answered from the store afterwards.
    """

    def __init__(
        self,
        store: Store,
        *,
        allow: Collection[str] = (),
        engine: SearchEngine | None = None,
        folder: Path | None = None,
        browser: str | None = None,
        limits: Limits | None = None,
        clock: Clock | None = None,
        resolver: Resolver = resolve,
    ) -> None:
        self.store, self.engine = store, engine
        self.limits, self.clock = limits or Limits(), clock or Clock()
        self.browser = find_chromium() if browser is None else browser
        self._folder = folder.resolve() if folder else None
        self._guard = Guard(allow, resolver=resolver)
        self._fetcher = Fetcher(store, self._guard, limits=self.limits, clock=self.clock)

    def search(self, query: str, k: int = 10) -> list[Hit]:
        """Return at most k hits for a query, the best first.

        Raises:
            WebError: gate `no_search`, if there is no engine or it cannot be asked.
        """
        if self.engine is None:
            raise WebError("no_search", "web_search", "has no engine: name a SearXNG URL, ddgs or a folder")
        key = f"searches/{content_hash([self.engine.name, query, k])}.json"
        if self.store.exists(key):
            return [Hit(**entry) for entry in json.loads(self.store.get(key))["hits"]]
        hits = self.engine.search(query, k)
        kept = {
            "engine": self.engine.name,
            "query": query,
            "retrieved_at": self._now(),
            "hits": [vars(hit) for hit in hits],
        }
        self.store.put(key, canonical_json(kept).encode())
        return hits

    def open_page(self, url: str) -> Page:
        """Open a page or a file: its text, tables and links, as a browser shows them where there is one.

        A page that is only a signpost to another one (meta refresh or script) is followed, at most `limits.moves`
        times, and each step is checked like the first.

        Raises:
            WebError: if it cannot or may not be opened; nothing was sent to a forbidden address.
        """
        notes: list[str] = []
        for _ in range(self.limits.moves + 1):
            page, moves = self._open(url)
            if not moves:
                break
            notes.append(f"the page sends its readers on to {moves[0][:300]}")
            if len(page.text) > _STUB:
                break
            try:
                self._fetcher.fetch(moves[0])
            except WebError as error:
                notes.append(f"that was not followed: {error}")
                break
            url = moves[0]
        return noted(page, notes)

    def read(self, url: str) -> tuple[PageRecord, bytes]:
        """Return the record and the bytes of a page or file, as they came.

        Raises:
            WebError: as `open_page`.
        """
        if url.startswith("file:"):
            return self._local(url)
        return self._fetcher.fetch(url)

    def _open(self, url: str) -> tuple[Page, tuple[str, ...]]:
        record, body = self.read(url)
        if not _is_html(record, body):
            try:
                content = read_file_apart(
                    body, record.file_name or "file", media_type=record.media_type, charset=record.charset
                )
            except FileError as error:
                return Page(record, record.file_name, notes=(f"its content is not read: {error}",)), ()
            return page_of_file(record, content, self.limits), ()
        document = decode(body, record.charset, markup=True)[0]
        if self.browser and record.final_url.startswith("http"):
            try:
                record, shown = self._render(record, document)
            except WebError as error:
                page = page_of_html(record, document, self.limits)
                page = noted(page, [f"shown without its scripts and styles: {error}"])
                return page, meta_refresh(document, record.final_url)
            page = page_of_html(record, shown.html, self.limits, shown.text)
            return noted(page, shown.notes), shown.moves
        page = page_of_html(record, document, self.limits)
        return page, meta_refresh(document, record.final_url)

    def _render(self, record: PageRecord, document: str) -> tuple[PageRecord, Rendered]:
        """Return the page as the browser showed it the first time."""
        if record.rendered_sha256:
            kept: dict[str, Any] = json.loads(get_blob(self.store, record.rendered_sha256))
            kept = {**kept, "moves": tuple(kept["moves"]), "notes": tuple(kept["notes"])}
            return record, Rendered(**kept)
        shown = render(self.browser, self._guard, self.limits, record.final_url, document)
        sha256 = put_blob(self.store, canonical_json(vars(shown)).encode("utf-8", "replace"))
        record = record.model_copy(update={"via": "browser", "rendered_sha256": sha256})
        return save_page(self.store, record, get_blob(self.store, record.sha256)), shown

    def _local(self, url: str) -> tuple[PageRecord, bytes]:
        """Read a file of the user's own folder; it is kept like a page, so that an audit finds it."""
        path = Path(unquote(urlsplit(url).path)).resolve()
        if self._folder is None or not path.is_relative_to(self._folder) or not path.is_file():
            raise WebError("forbidden_address", url, "is no file of the folder that may be read")
        if path.stat().st_size > self.limits.page_bytes:
            raise WebError("too_large", url, f"holds more than {self.limits.page_bytes} bytes")
        body = path.read_bytes()
        html = path.suffix.lower() in (".html", ".htm", ".xhtml")
        licence, evidence = find_licence({}, body, "text/html" if html else "")
        record = PageRecord(
            url=path.as_uri(),
            final_url=path.as_uri(),
            status=200,
            media_type="text/html" if html else "",
            file_name=safe_name(path.name),
            retrieved_at=self._now(),
            sha256=hashlib.sha256(body).hexdigest(),
            size=len(body),
            robots="not_asked",
            licence=licence,
            licence_evidence=evidence,
        )
        return save_page(self.store, record, body), body

    def _now(self) -> str:
        return self.clock.now().astimezone(UTC).isoformat(timespec="seconds")


def _is_html(record: PageRecord, body: bytes) -> bool:
    if record.media_type in ("text/html", "application/xhtml+xml"):
        return not body.startswith((b"%PDF-", b"PK\x03\x04", b"SQLite format 3"))
    return not record.media_type and body[:512].lstrip().lower().startswith((b"<!doctype html", b"<html"))
