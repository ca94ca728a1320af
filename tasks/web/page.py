"""A page as an agent gets it: plain text, tables, links, and what was noticed. Everything in it is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from schemas.pages import PageRecord
from tasks.files import DATA_ENDINGS, FileContent, FileError, FileLimits, FileTable
from tasks.files.html import Link, links_of, next_page, parse_html, texts, title_of
from tasks.files.html_tables import html_tables
from tasks.files.text import plain
from tasks.web.limits import Limits


@dataclass(frozen=True)
class Page:
    """An opened page or file.

    `text` is what a reader sees; `hidden_text` is in the document but not shown (by style or attribute, alternative
    texts of images too) and is never mixed into the text. `next_url` continues a paged list, or is ''. `downloads` are
    the links that lead to data files. `notes` say what was refused, cut or not done, one sentence each.
    """

    record: PageRecord
    title: str = ""
    text: str = ""
    hidden_text: str = ""
    tables: tuple[FileTable, ...] = ()
    links: tuple[Link, ...] = ()
    downloads: tuple[Link, ...] = ()
    next_url: str = ""
    notes: tuple[str, ...] = ()


def page_of_html(record: PageRecord, document: str, limits: Limits, shown: str | None = None) -> Page:
    """Read a page out of its HTML. `shown` is the visible text as a browser laid it out, if one did."""
    root = parse_html(document)
    text, hidden = texts(root)
    notes: list[str] = []
    links = list(links_of(root, record.final_url))
    if len(links) > limits.links:
        notes.append(f"the page has {len(links)} links; the first {limits.links} are listed")
        links = links[: limits.links]
    try:
        tables = html_tables(root, FileLimits(), record.final_url)
    except FileError as error:
        tables = []
        notes.append(f"the page's tables are not read: {error}")
    page = Page(
        record=record,
        title=title_of(root),
        text=text if shown is None else plain(shown).strip(),
        hidden_text=hidden,
        tables=tuple(tables),
        links=tuple(links),
        downloads=tuple(link for link in links if _is_data(link.url)),
        next_url=next_page(links, record.final_url),
        notes=tuple(notes),
    )
    return cut(page, limits)


def page_of_file(record: PageRecord, content: FileContent, limits: Limits) -> Page:
    """Make a page of a file that was read."""
    page = Page(record, record.file_name, content.text, tables=content.tables, notes=content.notes)
    return cut(page, limits)


def noted(page: Page, notes: Sequence[str]) -> Page:
    """Return the page with more notes."""
    return replace(page, notes=page.notes + tuple(notes))


def cut(page: Page, limits: Limits) -> Page:
    """Return the page with its texts no longer than the limit, and a note if they were."""
    most = limits.text_chars
    notes = page.notes
    if len(page.text) > most:
        notes += (f"the page has {len(page.text)} characters of text; the first {most} are given",)
    return replace(page, text=page.text[:most], hidden_text=page.hidden_text[:most], notes=notes)


def _is_data(url: str) -> bool:
    name = urlsplit(url).path.rpartition("/")[2].lower()
    return "." in name and name.rpartition(".")[2] in DATA_ENDINGS
