"""Search engines: a SearXNG server, DuckDuckGo and others through ddgs, or an index over local pages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode, urlsplit

import httpcore

from tasks.files.html import line, parse_html, texts, title_of
from tasks.files.text import decode, looks_binary, plain
from tasks.retrieval import Index, words
from tasks.web.errors import WebError
from tasks.web.guard import Guard
from tasks.web.limits import Limits
from tasks.web.request import ask

_LARGEST = 8 * 2**20
_PAGES = frozenset((".html", ".htm", ".xhtml", ".txt", ".md", ".rst", ".csv", ".tsv", ".json", ".xml"))


@dataclass(frozen=True)
class Hit:
    """What a search found: an address to open, its title, and some words of it."""

    url: str
    title: str
    snippet: str


class SearchEngine(Protocol):
    """Anything that finds pages. `name` is part of the key under which its answers are kept."""

    name: str

    def search(self, query: str, k: int) -> list[Hit]:
        """Return at most k hits, the best first. Raises WebError if the engine cannot be asked."""
        ...


class Searxng:
    """A SearXNG server, asked through its JSON API (its settings must list `json` under `search.formats`).

    The server is the user's own choice, so its host is allowed whatever its address is.
    """

    def __init__(self, url: str, limits: Limits | None = None) -> None:
        parts = urlsplit(url)
        self._base = url.rstrip("/").removesuffix("/search")
        self._guard = Guard(allow=[parts.netloc] if parts.netloc else [])
        self._guard.target(self._base)
        self._limits = limits or Limits()
        self.name = f"searxng {self._base}"

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the first k results."""
        target = self._guard.target(f"{self._base}/search?{urlencode({'q': query, 'format': 'json'})}")
        try:
            answer = ask(self._guard, target, self._limits)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise WebError(
                "no_search", self._base, f"cannot be asked ({type(error).__name__}): is it running?"
            ) from error
        if answer.status != 200:
            hint = ": add json to search.formats in its settings" if answer.status == 403 else ""
            raise WebError("no_search", self._base, f"answers {answer.status}{hint}")
        try:
            found = json.loads(answer.body)["results"]
            return [_hit(entry["url"], entry.get("title"), entry.get("content")) for entry in found][:k]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise WebError("no_search", self._base, "does not answer as a SearXNG server does") from None


class Ddgs:
    """Public search engines through the package ddgs (extra `search`); no key is needed."""

    name = "ddgs"

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the first k results."""
        try:
            from ddgs import DDGS
            from ddgs.exceptions import DDGSException
        except ImportError:
            raise WebError("no_search", "ddgs", "is not installed: pip install 'agentworld-factory[search]'") from None
        try:
            found = DDGS(timeout=20).text(query, max_results=k)
        except DDGSException as error:
            raise WebError("no_search", "ddgs", f"found nothing or was refused ({str(error)[:200]})") from error
        return [_hit(entry.get("href"), entry.get("title"), entry.get("body")) for entry in found][:k]


class LocalIndex:
    """A BM25 index over documents that the caller has: (address, title, text)."""

    def __init__(self, name: str, documents: Iterable[tuple[str, str, str]]) -> None:
        self.name = name
        self._index = Index()
        self._about: dict[str, tuple[str, str]] = {}
        for url, title, text in documents:
            self._index.add(url, ((3.0, words(title)), (1.0, words(text))))
            self._about[url] = (title, text)

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the k best documents, each with the part of it that holds most words of the query."""
        wanted = words(query)
        return [
            Hit(url, self._about[url][0], _passage(self._about[url][1], set(wanted)))
            for url, _ in self._index.search(wanted, k)
        ]


def folder_index(folder: Path) -> LocalIndex:
    """Return an index over the pages and texts below a folder, each under its `file://` address."""
    return LocalIndex(f"folder {folder.resolve()}", _documents(folder.resolve()))


def _documents(folder: Path) -> Iterable[tuple[str, str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in _PAGES or not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        raw = path.read_bytes()
        if not path.resolve().is_relative_to(folder) or looks_binary(raw):
            continue
        markup = path.suffix.lower() in (".html", ".htm", ".xhtml")
        text = decode(raw, markup=markup)[0]
        if markup:
            root = parse_html(text)
            yield path.as_uri(), title_of(root) or path.stem, texts(root)[0]
        else:
            yield path.as_uri(), path.stem, plain(text)


def _passage(text: str, wanted: set[str]) -> str:
    lines = [part for part in text.split("\n") if part.strip()][:2000]
    best = max(lines, key=lambda part: len(wanted & set(words(part))), default="")
    return line(best)[:300]


def _hit(url: object, title: object, snippet: object) -> Hit:
    return Hit(str(url or ""), line(str(title or ""))[:300], line(str(snippet or ""))[:500])
