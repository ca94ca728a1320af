"""Turns the bytes of a spec file into a reading: recognised by content, never by name; hostile files are refused."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from typing import Any

import yaml

from tasks.themes.botocore import is_service_model, read_service_model
from tasks.themes.mcp import is_mcp, read_mcp
from tasks.themes.openapi import is_openapi, read_openapi
from tasks.themes.prd import is_prd, read_prd
from tasks.themes.reading import Reading, UnreadableSource

MAX_BYTES = 10_000_000
MAX_DEPTH = 100
MAX_NODES = 500_000

_YAML_SPEC = re.compile(r"^[\"']?(?:openapi|swagger)[\"']?\s*:", re.MULTILINE)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(content: bytes, *, fallback_name: str = "") -> Reading:
    """Return the reading of a document's bytes (plain or gzip): tools/list JSON, OpenAPI 3, service model or PRD.

    Raises:
        UnreadableSource: with gate empty, too_large, not_text, broken_json, broken_yaml, too_complex, unrecognised, or
            one of the readers' own gates.
    """
    text = _text(content)
    if text.lstrip()[:1] in ("{", "["):
        return _from_value(_json(text), fallback_name)
    if _YAML_SPEC.search(text):
        return _from_value(_yaml(text), fallback_name)
    if is_prd(text):
        return read_prd(text)
    raise UnreadableSource(
        "unrecognised",
        "neither tools/list JSON, OpenAPI 3, a botocore service model nor a Markdown PRD "
        "(a title and a section named Workflows)",
    )


def _from_value(value: Any, fallback_name: str) -> Reading:
    if is_openapi(value):
        return read_openapi(value)
    if is_service_model(value):
        return read_service_model(value)
    if is_mcp(value):
        return read_mcp(value, fallback_name=fallback_name)
    raise UnreadableSource(
        "unrecognised", "its keys are those of no tools/list result, OpenAPI 3 document or botocore service model"
    )


def _text(content: bytes) -> str:
    """Return the document's text within the size limit, unzipped if need be."""
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableSource("not_text", f"a broken gzip file: {error}") from None
    if len(content) > MAX_BYTES:
        raise UnreadableSource("too_large", f"more than {MAX_BYTES // 1_000_000} MB: split the document")
    if not content.strip():
        raise UnreadableSource("empty", "the file is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableSource("not_text", f"no UTF-8 text (byte {error.start}): is it what its name says?") from None
    if "\x00" in text:
        raise UnreadableSource("not_text", "it holds NUL bytes: is it what its name says?")
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno}, column {error.colno}: {error.msg}; is the file complete?"
        raise UnreadableSource("broken_json", reason) from None
    except (RecursionError, ValueError) as error:  # ValueError: an integer of thousands of digits
        raise UnreadableSource("too_complex", f"the JSON cannot be read within limits: {error}") from None


def _yaml(text: str) -> Any:
    """Parse YAML with the safe loader, after one pass over its events that bounds depth and expanded size."""
    try:
        _measure(text)
        return yaml.load(text, Loader=_Loader)  # a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UnreadableSource("broken_yaml", f"{where}{getattr(error, 'problem', None) or error}") from None
    except (RecursionError, ValueError) as error:
        raise UnreadableSource("too_complex", f"the YAML cannot be read within limits: {error}") from None


def _measure(text: str) -> None:
    """Refuse YAML that nests or, with its aliases expanded, grows beyond the limits ("billion laughs")."""
    sizes: dict[str, int] = {}
    frames: list[list[Any]] = [["", 0]]  # anchor and expanded size of each open collection
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise UnreadableSource("too_complex", f"YAML alias *{event.anchor} stands inside its own anchor")
            frames[-1][1] += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            frames[-1][1] += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            frames.append([event.anchor, 1])
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = frames.pop()
            if anchor:
                sizes[anchor] = size
            frames[-1][1] += size
        if len(frames) > MAX_DEPTH:
            raise UnreadableSource("too_complex", f"YAML nested deeper than {MAX_DEPTH} levels")
        if frames[-1][1] > MAX_NODES:
            raise UnreadableSource("too_complex", f"YAML that expands to more than {MAX_NODES} nodes")
