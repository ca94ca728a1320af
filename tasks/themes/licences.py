"""The licence that a document states, as an SPDX expression."""

from __future__ import annotations

import re
from typing import Any

_NAMED = (
    (
        re.compile(r"apache(?:[ -]licen[cs]e)?(?:,? v(?:ersion)?)?[ -]?2|apache\.org/licenses/license-2", re.I),
        "Apache-2.0",
    ),
    (re.compile(r"\bmit\b|opensource\.org/licen[cs]es?/mit", re.I), "MIT"),
    (re.compile(r"creative ?commons.*\bzero\b|publicdomain/zero|\bcc0\b", re.I), "CC0-1.0"),
    (re.compile(r"(?:cc[ -]by|attribution|licenses/by)[ -/]?(?:v?)3\.0", re.I), "CC-BY-3.0"),
    (re.compile(r"(?:cc[ -]by|attribution|licenses/by)[ -/]?(?:international )?(?:v?)4\.0", re.I), "CC-BY-4.0"),
    (re.compile(r"(?:bsd|new bsd)[ -]?3|3[ -]clause", re.I), "BSD-3-Clause"),
    (re.compile(r"\bagpl|affero", re.I), "AGPL-3.0-only"),
    (re.compile(r"\bgpl.{0,12}3|gnu general public.{0,12}3", re.I), "GPL-3.0-only"),
    (re.compile(r"mozilla public.{0,12}2|\bmpl[ -]?2", re.I), "MPL-2.0"),
    (re.compile(r"\bunlicense\b", re.I), "Unlicense"),
)


def licence_of(value: Any) -> str:
    """Return the SPDX identifier that a licence's name, address or `{"identifier", "name", "url"}` means, or "".

    An identifier is taken as it stands. Terms of a company's own, and names that leave the version open, give "": then
    the licence is unknown, which is not the same as free.
    """
    if isinstance(value, dict):
        if isinstance(value.get("identifier"), str) and value["identifier"].strip():
            return value["identifier"].strip()
        value = " ".join(str(value[key]) for key in ("name", "url") if isinstance(value.get(key), str))
    if not isinstance(value, str):
        return ""
    return next((identifier for pattern, identifier in _NAMED if pattern.search(value)), "")
