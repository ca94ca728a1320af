"""Plain text out of Markdown with links and citations."""

from __future__ import annotations

import re

_CITATION = re.compile(r"\(Citation:[^)]*\)?")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)?")
_MARKUP = re.compile(r"</?code>|`")


def plain_citation(text: str) -> str:
    """Return the text without citations, with links replaced by their words, spaces tidied."""
    text = _MARKUP.sub("", _LINK.sub(r"\1", _CITATION.sub("", text)))
    return re.sub(r"\s+([.,;])", r"\1", " ".join(text.split()))
