"""JSON as calls and observations travel: compact, strict, and without what `json` does anew for each value."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any

_standard = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)


def _make_dumps() -> Callable[[Any], str]:
    """Return an encoder that keeps CPython's accelerator between values; elsewhere the standard one."""
    make = getattr(json.encoder, "c_make_encoder", None)
    quoted = getattr(json.encoder, "c_encode_basestring", None)
    if make is None or quoted is None:
        return _standard.encode
    chunks, join = make(None, _standard.default, quoted, None, ":", ",", False, False, False), "".join
    return lambda value: join(chunks(value, 0))


dumps = _make_dumps()
"""Return a value's JSON text.

Raises:
    TypeError, ValueError, RecursionError: if JSON cannot hold it.
"""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_scan = json.JSONDecoder(parse_constant=_no_constant).scan_once


def loads(text: str) -> Any:
    """Return the value of a JSON text without white space around it.

    Raises:
        ValueError: if the text is anything else; NaN and infinities are refused too.
        RecursionError: if it is nested too deeply.
    """
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value
