"""The record of a page that was opened: enough to see it later as it was, and to say whether it may be used."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record

RobotsFinding = Literal["allowed", "no_rules", "disallowed", "unreachable", "not_asked"]
"""What robots.txt says: a rule or none stands against it, there is no file, it is forbidden, the file cannot be had
(then everything is forbidden: RFC 9309, 2.3.1.4), or the address is the robots.txt itself."""

NOASSERTION = "NOASSERTION"
"""SPDX's word for a licence that is not known."""


class PageRecord(Record):
    """One page as it was. The bytes lie in the blob `sha256`, what a browser made of them in `rendered_sha256`."""

    url: str = Field(description="the address that was asked for, in normal form, without fragment")
    final_url: str = Field(description="the address that answered, after redirects")
    redirects: tuple[str, ...] = Field(default=(), description="the addresses between, in order")
    status: int
    media_type: str = Field(description="as the server says it, in lower case, without parameters")
    charset: str = Field(default="", description="as the server says it")
    file_name: str = Field(default="", description="sanitised name, from Content-Disposition or the address")
    retrieved_at: str = Field(description="ISO 8601, UTC, to the second")
    sha256: str
    size: int = Field(description="bytes after decompression")
    robots: RobotsFinding
    licence: str = Field(default=NOASSERTION, description="SPDX id that the page states, or NOASSERTION")
    licence_evidence: str = Field(default="", description="what the licence was read from")
    via: Literal["http", "browser"] = "http"
    rendered_sha256: str = Field(default="", description="blob of the rendered document, for `via` = browser")
