"""Read what comes out of the sandbox: plain JSON that every later stage can hold, or a ValueError.

Python's reader lets through what would fail far away from here: numbers beyond every type's range, texts that are no
Unicode, nesting that exhausts the stack of whoever walks or writes the value again.
"""

from __future__ import annotations

import json
import math
from typing import Any

MAX_DEPTH = 64
"""How deep arrays and objects may be nested."""

_MAX_DIGITS = 40
_SHAPE = bytes(57 if 48 <= c <= 57 else 101 if c in b"eE" else 32 for c in range(256))
_LONG, _LARGE = b"9" * (_MAX_DIGITS + 1), b"e999"  # in that shape: digits, e and all else a space, without any +

_NO_BRACKETS = bytes(c for c in range(256) if c not in b'[]{}"')


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is beyond the range of floats")
    return value


def _bounded(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"an integer of {len(text)} digits")
    return int(text)


_decode = json.JSONDecoder(parse_constant=_no_constant).decode
_decode_warily = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded).decode
_scan = json.JSONDecoder(parse_constant=_no_constant).scan_once


def _is_shallow(raw: bytes) -> bool:
    """Say, without a look at the value, whether the nesting is allowed; False may also mean that this cannot be seen.

    Without backslashes each quote begins or ends a text. If all quotes are gone once neighbours among them, with
    nothing but brackets left between, have been taken out in pairs, then an even number stood before each bracket, so
    that none is part of a text; and each pass over the brackets then takes out the innermost level or two.
    """
    if b"\\" in raw:
        return False
    brackets = raw.translate(None, _NO_BRACKETS).replace(b'""', b"")
    if b'"' in brackets:
        return False
    for _ in range(MAX_DEPTH // 2):
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for part in level
            for item in (part.values() if isinstance(part, dict) else part)
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"nested more than {MAX_DEPTH} deep")


def read_json(raw: bytes) -> Any:
    """Return the JSON value of UTF-8 bytes that untrusted code has written; of equal keys in an object the last counts.

    Raises:
        ValueError: for what is no JSON, NaN and infinities, integers of more than 40 digits, texts with lone
            surrogates, and nesting of more than 64 levels.
    """
    text = raw.decode()
    shape = raw.translate(_SHAPE, b"+")
    wary = _LONG in shape or _LARGE in shape
    try:
        value, end = (_decode_warily(text), len(text)) if wary else _scan(text, 0)
        if end != len(text):
            value = _decode(text)  # white space at the end, or an error that says more
    except StopIteration:
        raise ValueError("no JSON") from None
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} deep") from None
    if "\\" in text and (
        "\\ud" in text or "\\uD" in text
    ):  # the only way to a lone surrogate, since the bytes are UTF-8
        json.dumps(value, ensure_ascii=False).encode()
    if isinstance(value, dict | list) and text.count("[") + text.count("{") > MAX_DEPTH and not _is_shallow(raw):
        _check_depth(value)
    return value
