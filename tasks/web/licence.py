"""The licence that a page states of itself, as an SPDX id; NOASSERTION where it states none that is known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import html

from schemas.pages import NOASSERTION
from tasks.files.html import line, parse_html
from tasks.files.text import decode

_ADDRESSES = (
    (r"creativecommons\.org/licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)(?:/([a-z]{2}))?(?=/|$|\?|#)", "cc"),
    (r"creativecommons\.org/publicdomain/zero/1\.0", "CC0-1.0"),
    (r"creativecommons\.org/publicdomain/mark/1\.0", "CC-PDM-1.0"),
    (r"opensource\.org/licen[cs]es?/mit\b", "MIT"),
    (r"opensource\.org/licen[cs]es?/bsd-3-clause", "BSD-3-Clause"),
    (r"apache\.org/licenses/license-2\.0|opensource\.org/licen[cs]es?/apache-2\.0", "Apache-2.0"),
    (r"opensource\.org/licen[cs]es?/postgresql|postgresql\.org/about/licence", "PostgreSQL"),
    (r"opendatacommons\.org/licenses/odbl", "ODbL-1.0"),
    (r"opendatacommons\.org/licenses/by", "ODC-By-1.0"),
    (r"opendatacommons\.org/licenses/pddl", "PDDL-1.0"),
    (r"nationalarchives\.gov\.uk/doc/open-government-licence/version/3", "OGL-UK-3.0"),
    (r"nationalarchives\.gov\.uk/doc/open-government-licence/version/2", "OGL-UK-2.0"),
)
_WORDS = re.compile(
    r"\b(?:CC[ -](BY(?:-NC)?(?:-ND|-SA)?)[ -](\d\.\d)"
    r"|Creative Commons (Attribution(?:[ -]NonCommercial)?(?:[ -]ShareAlike|[ -]NoDerivatives)?)"
    r"(?: License)?,? ?(?:v(?:ersion )?)?(\d\.\d))",
    re.IGNORECASE,
)
_LONG = {"attribution": "BY", "noncommercial": "NC", "sharealike": "SA", "noderivatives": "ND"}
_META = frozenset(("license", "licence", "dc.rights", "dcterms.license", "dcterms.rights", "dc.license", "rights"))
_FOOT = re.compile(r"foot|licen[cs]e|copyright|legal|colophon", re.IGNORECASE)


def find_licence(headers: dict[str, str], body: bytes, media_type: str, charset: str = "") -> tuple[str, str]:
    """Return (SPDX id or NOASSERTION, what it was read from).

    What the page says in a machine's words comes first (Link header, rel=license, meta); only then what its footer
    links to or says. A page that names two licences in the same way names none. Nothing is guessed.
    """
    said = [(_spdx(url), f"Link header: {url}") for url in _link_header(headers.get("link", ""))]
    if not said and "html" in media_type and body:
        root = parse_html(decode(body, charset, markup=True)[0])
        for found in (_declared(root), _in_footers(root)):
            said = list(found)
            if said:
                break
    known = {spdx for spdx, _ in said if spdx}
    if not said:
        return NOASSERTION, ""
    evidence = line("; ".join(dict.fromkeys(text for _, text in said)))[:300]
    return (known.pop() if len(known) == 1 else NOASSERTION), evidence


def _link_header(value: str) -> list[str]:
    return re.findall(r"""<([^>]{1,500})>\s*;[^,]*?\brel\s*=\s*"?licen[cs]e\b""", value[:4000], re.IGNORECASE)


def _declared(root: html.HtmlElement) -> Iterator[tuple[str, str]]:
    for element in root.iter("a", "link", "area"):
        if {"license", "licence"} & set((element.get("rel") or "").lower().split()) and element.get("href"):
            yield _spdx(element.get("href")), f"rel=license: {element.get('href')}"
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        if name in _META and element.get("content"):
            content = element.get("content")
            yield _spdx(content) or _in_words(content) or _by_id(content), f"meta {name}: {content}"


def _in_footers(root: html.HtmlElement) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        marks = f"{element.get('id') or ''} {element.get('class') or ''}"
        if element.tag != "footer" and not (_FOOT.search(marks) and element.tag not in ("body", "html", "main")):
            continue
        for link in element.iter("a"):
            if spdx := _spdx(link.get("href") or ""):
                yield spdx, f"footer link: {link.get('href')}"
        text = line("".join(element.itertext()))[:5000]
        if spdx := _in_words(text):
            yield spdx, f"footer: {_WORDS.search(text).group(0)}"  # type: ignore[union-attr]


def _spdx(address: str) -> str:
    for pattern, spdx in _ADDRESSES:
        found = re.search(pattern, address.lower())
        if found and spdx == "cc":
            kind, number, place = found.groups()
            return "-".join(part for part in ("CC", kind.upper(), number, (place or "").upper()) if part)
        if found:
            return spdx
    return ""


def _in_words(text: str) -> str:
    found = _WORDS.search(text)
    if not found:
        return ""
    short, number, long, long_number = found.groups()
    if short:
        return f"CC-{short.upper()}-{number}"
    parts = [_LONG[part] for part in re.split(r"[ -]", long.lower())]
    return f"CC-{'-'.join(parts)}-{long_number}"


def _by_id(text: str) -> str:
    """Return the text if it is an SPDX id or expression."""
    from license_expression import ExpressionError, get_spdx_licensing

    try:
        parsed = get_spdx_licensing().parse(text[:100], validate=True)
    except ExpressionError:
        return ""
    return str(parsed) if parsed is not None else ""
