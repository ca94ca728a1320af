"""Whether a sentence that a model cites stands in the document that it names."""

from __future__ import annotations

import html
import re

FEWEST_LETTERS = 12
"""A shorter quote would stand in any document."""

_NOISE = re.compile(r"[^\w%€$£+\-.<>=]+")


def _plain(text: str) -> str:
    """Return a text without case, markup signs, quotation marks and line breaks."""
    return " ".join(_NOISE.sub(" ", html.unescape(re.sub(r"<[^<>]{1,200}>", " ", text))).lower().split())


def citation_fault(document: str, quote: str, documents: dict[str, str]) -> str:
    """Return why a citation does not hold; '' if the quote stands, word by word, in the document of that name.

    Case, white space and markup do not count.

    Args:
        documents: name -> content.
    """
    if document not in documents:
        return f"cites {document!r}, but the documents are {', '.join(sorted(documents)) or 'none'}"
    wanted = _plain(quote)
    if sum(map(str.isalnum, wanted)) < FEWEST_LETTERS:
        return f"cites {document} by {quote!r}, which is too short to be a sentence"
    if wanted.rstrip(".") not in _plain(documents[document]):
        return f"cites {document} by {quote[:160]!r}, which does not stand in it"
    return ""
