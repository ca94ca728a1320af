"""Fetches the pages of an MCP registry over HTTP: the official registry's API, or Smithery's.

The address is that of the listing (`https://HOST/v0/servers?limit=100`, `https://HOST/servers?pageSize=100`). The
official form answers `{"servers", "metadata": {"nextCursor"}}`, Smithery's `{"servers", "pagination": {"currentPage",
"totalPages"}}`; its listing has no tools, which are asked for server by server (`LISTING/NAME`). Only the host that the
user named is ever asked: redirects are not followed, and nothing that a page says becomes an address elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tasks.themes.reading import UnreadableSource

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 20.0
MAX_PAGES = 1000
MAX_PAGE_BYTES = 10_000_000
ATTEMPTS = 4
TOKEN_VARIABLE = "AGENTWORLD_REGISTRY_TOKEN"
"""The environment variable whose value is sent to the registry as a bearer token, if it is set."""

_AGAIN = {429, 500, 502, 503, 504}


class _Busy(Exception):
    """An answer that asks to come again."""


def registry_pages(address: str, report: Callable[[UnreadableSource], None]) -> Iterator[tuple[str, bytes]]:
    """Yield (address, bytes) of each page of a registry; `report` is told what ended the listing too early."""
    import httpx

    token = os.environ.get(TOKEN_VARIABLE)
    headers = {"User-Agent": "agentworld-factory", "Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        first: Any = httpx.URL(address)
    except httpx.InvalidURL as error:
        report(_failed(address, f"no address: {error}"))
        return
    seen = set()
    with httpx.Client(headers=headers, timeout=TIMEOUT_S, follow_redirects=False) as client:
        url = first
        while str(url) not in seen:
            seen.add(str(url))
            try:
                page = _page(client, url)
                _add_tools(client, first, page)
            except UnreadableSource as error:
                report(error)
                return
            yield str(url), json.dumps(page, ensure_ascii=False).encode()
            following = _next(page)
            if not following:
                return
            if len(seen) >= MAX_PAGES:
                report(_failed(str(url), f"more than {MAX_PAGES} pages: ask for larger ones in the address"))
                return
            url = first.copy_merge_params(following)
        report(_failed(str(url), "the registry names the same page twice"))


def _next(page: dict[str, Any]) -> dict[str, str]:
    """Return the query that asks for the next page, empty after the last."""
    metadata, pagination = page.get("metadata"), page.get("pagination")
    if isinstance(metadata, dict):
        cursor = metadata.get("nextCursor") or metadata.get("next_cursor")
        return {"cursor": str(cursor)} if cursor else {}
    if isinstance(pagination, dict):
        current, total = pagination.get("currentPage"), pagination.get("totalPages")
        if isinstance(current, int) and isinstance(total, int) and current < total:
            return {"page": str(current + 1)}
    return {}


def _add_tools(client: httpx.Client, listing: httpx.URL, page: dict[str, Any]) -> None:
    """Replace each server of a Smithery page by its whole description; one that cannot be had stays as it is."""
    if not isinstance(page.get("pagination"), dict):
        return
    for position, server in enumerate(page["servers"]):
        name = server.get("qualifiedName") if isinstance(server, dict) else None
        if isinstance(name, str) and name and "tools" not in server:
            url = listing.copy_with(raw_path=f"{listing.path.rstrip('/')}/{quote(name, safe='@/')}".encode())
            try:
                whole = _get(client, url)
            except UnreadableSource:
                continue  # its entry has no tools, and is refused for that with its name
            page["servers"][position] = {**server, **whole}


def _page(client: httpx.Client, url: httpx.URL) -> dict[str, Any]:
    value = _get(client, url)
    if not isinstance(value.get("servers"), list):
        raise _failed(str(url), 'the answer is no page of a registry: it has no list named "servers"')
    return value


def _get(client: httpx.Client, url: httpx.URL) -> dict[str, Any]:
    """Return the JSON object at an address, asking again after a while if the registry is busy.

    Raises:
        UnreadableSource: gate registry_failed.
    """
    import httpx
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    again = Retrying(
        retry=retry_if_exception_type((_Busy, httpx.TransportError)),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.2, max=10),
        reraise=True,
    )
    try:
        value = json.loads(again(_body, client, url))
    except (httpx.HTTPError, _Busy) as error:
        raise _failed(str(url), f"{type(error).__name__}: {error}") from None
    except (RecursionError, ValueError) as error:
        raise _failed(str(url), f"the answer is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise _failed(str(url), "the answer is no JSON object")
    return value


def _body(client: httpx.Client, url: httpx.URL) -> bytes:
    with client.stream("GET", url) as answer:
        if answer.status_code in _AGAIN:
            raise _Busy(f"status {answer.status_code}, {ATTEMPTS} times")
        if answer.is_redirect:
            raise _failed(str(url), f"it redirects to {answer.headers.get('location')}: name that address instead")
        if answer.status_code != 200:
            raise _failed(str(url), f"status {answer.status_code}")
        content = b""
        for chunk in answer.iter_bytes():
            content += chunk
            if len(content) > MAX_PAGE_BYTES:
                raise _failed(str(url), f"a page of more than {MAX_PAGE_BYTES // 1_000_000} MB: ask for smaller ones")
    return content


def _failed(url: str, reason: str) -> UnreadableSource:
    return UnreadableSource("registry_failed", f"registry {url}: {reason}")
