"""File names that came from outside, made harmless."""

from __future__ import annotations

import re
import unicodedata

_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def safe_name(name: str, fallback: str = "file") -> str:
    """Return a name for a file: its last path part, letters, digits and `. _ -` only, at most 100 characters.

    `../../etc/passwd` gives `passwd`; a leading dot, control and direction characters do not survive.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFKC", name))[-1]
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "_", last).strip("._-")
    if not cleaned or _RESERVED.fullmatch(cleaned):
        return fallback
    stem, dot, suffix = cleaned.rpartition(".")
    if dot and 0 < len(suffix) <= 8:
        return f"{stem[: 100 - len(suffix) - 1]}.{suffix}"
    return cleaned[:100]
