"""Which addresses a researcher may open, before the guard of the web room looks at where they lead.

A page can tell a model to put what it has read into an address. So an address must be one that the model was shown (a
search hit, a link of an opened page, a given page, the theme's own words), or a plain one without a query, and no
longer even that once the user's own files have been opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urldefrag, urlsplit

from schemas.research import ResearchSettings
from schemas.theme import Theme
from tasks.mining.agent.desk import Refused

LONGEST_OWN = 200
"""Characters of an address that a model may write by itself."""

_ADDRESS = re.compile(r"https?://[^\s<>\"')\]]+")


class Access:
    """The addresses that may be opened; it learns those that are shown to the model."""

    def __init__(self, settings: ResearchSettings, theme: Theme) -> None:
        self._settings = settings
        self._shown = {_plain(url) for url in settings.pages}
        told = " ".join((theme.description, *theme.needs, *theme.rules, theme.source_uri))
        self._shown |= {_plain(url.rstrip(".,;")) for url in _ADDRESS.findall(told)}
        self._files: set[str] = set()
        self.private = False

    def show(self, urls: Iterable[str]) -> None:
        """Remember addresses that the model has been shown."""
        self._shown.update(_plain(url) for url in urls)

    def linked(self, page_url: str, downloads: Iterable[str]) -> None:
        """Remember the data files that an opened page links to."""
        host = urlsplit(page_url).netloc
        self._files.update(_plain(url) for url in downloads if urlsplit(url).netloc == host)

    def check(self, url: str) -> None:
        """Raise Refused (gates not_given, unseen_address) unless the address may be asked for."""
        plain = _plain(url)
        if not self._settings.web:
            given = any(plain == _plain(page) or _below(plain, page) for page in self._settings.pages)
            if not given and plain not in self._files:
                raise Refused("not_given", url, f"{url[:300]} may not be opened: only the given pages may, not the web")
            return
        if plain in self._shown or any(_below(plain, page) for page in self._settings.pages):
            return
        parts = urlsplit(url)
        own = not parts.query and "@" not in parts.netloc and len(url) <= LONGEST_OWN and not self.private
        if not own:
            raise Refused(
                "unseen_address", url,
                f"{url[:300]} may not be opened: open what a search, a page or the theme has shown you, or a plain "
                "address without a query" + ("; after the user's own files only the former" if self.private else ""),
            )  # fmt: skip


def _plain(url: str) -> str:
    return urldefrag(url.strip())[0]


def _below(url: str, page: str) -> bool:
    return page.endswith("/") and url.startswith(page) and "/../" not in url and "%2e" not in url.lower()
