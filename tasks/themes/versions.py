"""Which of two versions of an API is the newer one, by their names alone ("2013-01-01", "v1beta2", "3.5.1")."""

from __future__ import annotations

import re

_PREVIEW = re.compile(r"alpha|beta|preview|(?<![a-z])rc(?![a-z])|snapshot|(?<![a-z])(?:dev|pre|exp)(?![a-z])")


def version_key(version: str) -> tuple[bool, tuple[int, ...], str]:
    """Return a key that sorts versions from old to new; a preview comes before every version that is none."""
    text = version.lower()
    numbers = tuple(int(part[:9]) for part in re.findall(r"\d+", text))
    return not _PREVIEW.search(text), numbers, text
