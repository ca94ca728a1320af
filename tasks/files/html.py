"""HTML as data: what it shows as text, what it hides, its tables and its links. Nothing in it is run or loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml import etree, html

from tasks.files.text import plain

HIDDEN_MARK = "data-agentworld-hidden"
"""The attribute that a browser's marker sets on what its styles do not show."""

_SKIPPED = frozenset(("script", "style", "head", "noframes", "iframe", "object", "svg", "math", "datalist", "select"))
_BLOCKS = frozenset((  # fmt: skip
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
    "tr", "ul",
))  # fmt: skip
_NEXT = re.compile(r"(next( page)?|older( posts| entries)?|more results)\s*[›»→>]*|[›»→>]+")
_REFRESH = re.compile(r"""url\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_CONCEALING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(;|!|$)|"
    r"font-size\s*:\s*0*\.?0+\s*(px|pt|em|rem|%)?\s*(;|!|$)|(left|top|text-indent)\s*:\s*-\d{3,}|content-visibility\s*:\s*hidden",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Link:
    """A link of a page: absolute address, its words, and how it relates to the page (`rel`, `frame`, '')."""

    url: str
    text: str
    rel: str = ""


def parse_html(text: str) -> html.HtmlElement:
    """Parse HTML, however broken. An empty document gives an empty body."""
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    cleaned = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", "\ufffd", text)
    root = html.document_fromstring(cleaned.encode() or b"<html></html>", parser=parser, ensure_head_body=True)
    return root


def is_hidden(element: etree._Element) -> bool:
    """Say whether an element itself is not shown, by a browser's mark or, where none was there, by its attributes."""
    if element.get(HIDDEN_MARK) is not None or element.get("hidden") is not None or element.tag == "template":
        return True
    style = element.get("style")
    return bool(style and _CONCEALING.search(style))


def title_of(root: html.HtmlElement) -> str:
    """Return the title as one line of text."""
    return line(root.findtext(".//title") or "")[:300]


def line(text: str) -> str:
    """Return text as one line with single spaces."""
    return " ".join(plain(text).split())


def texts(root: etree._Element) -> tuple[str, str]:
    """Return the text that is shown, with its lines, and the text that is there but not shown (alternative texts of
    images too)."""
    shown: list[str] = []
    hidden: list[str] = []
    skipped = concealed = pre = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        into = hidden if concealed or (event == "start" and is_hidden(element)) else shown
        if event == "start":
            skipped += tag in _SKIPPED
            concealed += is_hidden(element)
            pre += tag == "pre"
            if not skipped:
                into.append(_before(tag))
                into.append(_words(element.text, pre))
                hidden += [f" {element.get('alt')} "] if tag == "img" and element.get("alt") else []
            continue
        if not skipped:
            into.append("\n" if tag in _BLOCKS else "")
        skipped -= tag in _SKIPPED
        concealed -= is_hidden(element)
        pre -= tag == "pre"
        if not skipped and element is not root:
            (hidden if concealed else shown).append(_words(element.tail, pre))
    return _tidy("".join(shown)), _tidy("".join(hidden))


def _before(tag: str) -> str:
    if tag == "br":
        return "\n"
    if tag in ("td", "th"):
        return "\t"
    return "\n" if tag in _BLOCKS else ""


def _words(text: str | None, pre: int) -> str:
    return (text or "") if pre else re.sub(r"[ \t\r\n\f]+", " ", text or "")


def _tidy(text: str) -> str:
    lines = [re.sub(r"[ \t]*\t[ \t]*", "\t", part).strip() for part in plain(text).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def links_of(root: html.HtmlElement, base: str) -> Iterator[Link]:
    """Yield the http links of a document in its order, each address once: anchors, frames and `link rel=next`."""
    found = root.find(".//base[@href]")
    base = _join(base, found.get("href")) or base if found is not None else base
    seen: set[str] = set()
    for element in root.iter("a", "area", "iframe", "frame", "link"):
        rel = (element.get("rel") or "").lower()
        if element.tag == "link" and not {"next", "prev", "alternate", "license"} & set(rel.split()):
            continue
        url = _join(base, element.get("src") if element.tag in ("iframe", "frame") else element.get("href"))
        if url and url not in seen:
            seen.add(url)
            words = line("".join(element.itertext()) or element.get("title") or "")[:200]
            yield Link(url, words, "frame" if element.tag in ("iframe", "frame") else rel)


def _join(base: str, reference: str | None) -> str:
    if not reference:
        return ""
    try:
        url = urljoin(base, plain(reference).strip()).split("#")[0]
    except ValueError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def next_page(links: list[Link], here: str) -> str:
    """Return the address of the page that continues this one, or ''."""
    for link in links:
        if "next" in link.rel.split() and link.url != here:
            return link.url
    for link in links:
        if link.url != here and _NEXT.fullmatch(link.text.lower()):
            return link.url
    return ""


def meta_refresh(document: str, base: str) -> tuple[str, ...]:
    """Return the address that a document sends its reader to by meta refresh, as a tuple of none or one."""
    for element in parse_html(document).iter("meta"):
        if (element.get("http-equiv") or "").lower() == "refresh":
            found = _REFRESH.search(element.get("content") or "")
            url = _join(base, found.group(1)) if found else ""
            if url and url != base.split("#")[0]:
                return (url,)
    return ()
