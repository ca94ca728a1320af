"""Bytes to text: which encoding they are in (WHATWG Encoding Standard for labels, with a guess as last resort)."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_LABELS = {  # a label -> the superset that browsers really use for it
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "l1": "cp1252", "us-ascii": "cp1252",
    "ascii": "cp1252", "windows-1252": "cp1252", "iso-8859-9": "cp1254", "shift_jis": "cp932", "shift-jis": "cp932",
    "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "x-user-defined": "cp1252", "unicode": "utf-16-le",
    "utf-16": "utf-16-le",
}  # fmt: skip
_DECLARED = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([a-z0-9_:.+-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*["']([^"']{1,40})""",
    re.IGNORECASE,
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_TEXT_CODECS = re.compile(r"(utf|cp|iso|windows|mac|koi8|big5|euc|gb|shift|hz|johab|latin|tis|viscii|ptcp|kz)", re.I)


def decode(raw: bytes, declared: str = "", *, markup: bool = False) -> tuple[str, str]:
    """Return the text and the name of the encoding it was in. Never fails: what fits no encoding becomes U+FFFD.

    In order: a byte order mark, what is declared (by a server), what markup declares of itself in its first 2 KiB,
    UTF-8, the guess of charset-normalizer, windows-1252.
    """
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return raw.decode(name, "replace"), name.removesuffix("-sig")
    name = codec_of(declared)
    if not name and markup:
        found = _DECLARED.search(raw[:2048])
        name = codec_of((found.group(1) or found.group(2)).decode("ascii", "replace")) if found else ""
        if name.startswith("utf-16"):  # it was read as ASCII, so it cannot be
            name = "utf-8"
    if name:
        return raw.decode(name, "replace"), name
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        name = _guess(raw)
        return raw.decode(name, "replace"), name


def codec_of(label: str) -> str:
    """Return Python's name of a text encoding that a page names, '' for an unknown one."""
    label = label.strip().strip("\"'").lower()
    label = _LABELS.get(label, label)
    if not label or not _TEXT_CODECS.match(label):
        return ""
    try:
        return codecs.lookup(label).name
    except LookupError:
        return ""


def _guess(raw: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(raw[: 64 * 1024]).best()
    return (best.encoding if best else "") or "cp1252"


def looks_binary(raw: bytes) -> bool:
    """Say whether bytes are no text: zero bytes without the mark or pattern of UTF-16, or many control characters."""
    head = raw[:4096]
    if any(head.startswith(mark) for mark, _ in _BOMS):
        return False
    if b"\x00" in head:
        return True
    return sum(byte < 9 or 13 < byte < 32 and byte != 27 for byte in head) > len(head) // 50


def plain(text: str) -> str:
    """Return text without control, direction-override and zero-width characters; line ends become newlines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub("", text)
