"""Take the content coding off a body, chunk by chunk, never holding more than is allowed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from tasks.web.errors import WebError

ACCEPT_ENCODING = "gzip, deflate"
"""The codings that are asked for: what the standard library unpacks with a bound on the output."""


def read_body(chunks: Iterable[bytes], coding: str, limit: int, url: str, *, cut: bool = False) -> bytes:
    """Return the whole body, unpacked; with `cut`, its first `limit` bytes.

    Raises:
        WebError: gate `too_large` beyond `limit` bytes, however small the packed body is; gate `content_coding` for a
            coding that was not asked for, nested codings, and damaged data.
    """
    found = bytearray()
    for piece in _unpacked(chunks, coding.strip().lower(), url):
        found += piece
        if len(found) > limit:
            if cut:
                return bytes(found[:limit])
            raise WebError("too_large", url, f"holds more than {limit} bytes")
    return bytes(found)


def _unpacked(chunks: Iterable[bytes], coding: str, url: str) -> Iterator[bytes]:
    if coding in ("", "identity"):
        yield from chunks
        return
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise WebError("content_coding", url, f"is packed as {coding[:40]!r}, which was not asked for")
    engine = zlib.decompressobj(zlib.MAX_WBITS | 32)
    first = True
    try:
        for chunk in chunks:
            if first and coding == "deflate" and chunk and chunk[0] & 0x0F != 8:
                engine = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers leave the zlib header out
            first = first and not chunk
            while chunk:
                yield engine.decompress(chunk, 1 << 16)
                chunk = engine.unconsumed_tail
        yield engine.flush()
        if not engine.eof and not first:
            raise WebError("content_coding", url, "ends in the middle of its packed data")
    except zlib.error:
        raise WebError("content_coding", url, "holds damaged packed data") from None
