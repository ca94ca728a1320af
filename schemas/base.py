"""The base of all records and the JSON values that they hold."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

Scalar = str | int | float | bool | None
"""A value that a table cell or a tool argument can hold."""


class Record(BaseModel):
    """A frozen model that refuses unknown fields.

    Raises:
        pydantic.ValidationError: on construction from values that do not fit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8 kept; records become objects.

    Raises:
        ValueError: for NaN and infinities, which JSON cannot hold.
        TypeError: for what is no JSON value.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no JSON value")


def content_hash(value: Any) -> str:
    """Return the sha256 (64 hex digits) of a value's canonical JSON, or of bytes as they are."""
    raw = value if isinstance(value, bytes) else canonical_json(value).encode()
    return hashlib.sha256(raw).hexdigest()
