"""The one error of the web room."""

from __future__ import annotations

from typing import Literal

WebGate = Literal[
    "bad_url", "forbidden_address", "robots", "unreachable", "http_status", "busy", "too_large", "too_slow",
    "too_many_redirects", "media_type", "content_coding", "no_search", "render",
]  # fmt: skip
"""Why a page was not had; the gate of the rejection that a caller writes."""


class WebError(Exception):
    """A page, file or search that was not had: which address, which gate, why, and what to do."""

    def __init__(self, gate: WebGate, url: str, reason: str) -> None:
        self.gate, self.url, self.reason = gate, url, reason
        super().__init__(f"{url[:300]} {reason}")
