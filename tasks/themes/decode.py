"""Turns the bytes of a source document into readings: recognised by content, never by name; hostile ones are refused.

A document is one theme, except a registry's page or export, which is one theme a server. It may be JSON, JSON lines,
YAML, Markdown, docx or PDF, and plain or gzip.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from dataclasses import dataclass
from typing import Any

import yaml

from schemas.base import canonical_json
from tasks.themes.botocore import is_service_model, read_service_model
from tasks.themes.discovery import is_discovery, read_discovery
from tasks.themes.mcp import is_mcp, read_mcp
from tasks.themes.office import docx_markdown, is_docx, is_pdf, pdf_markdown
from tasks.themes.openapi import is_openapi, read_openapi
from tasks.themes.prd import is_prd, read_prd
from tasks.themes.reading import Reading, UnreadableSource
from tasks.themes.servers import is_server, read_server, server_name, servers_in

MAX_BYTES = 50_000_000
MAX_DEPTH = 100
MAX_NODES = 500_000

_YAML_SPEC = re.compile(r"^[\"']?(?:openapi|swagger)[\"']?\s*:", re.MULTILINE)
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Part:
    """One theme's share of a document: its name there ("" for the whole document), its bytes, and what they say."""

    name: str
    content: bytes
    reading: Reading | UnreadableSource


def read_parts(content: bytes, *, fallback_name: str = "") -> list[Part]:
    """Return the parts of a document's bytes: the servers of a listing, else the one document that it is.

    Raises:
        UnreadableSource: with gate empty, too_large, not_text, broken_json, broken_yaml, broken_docx, broken_pdf,
            no_text, too_complex, unrecognised, or one of the readers' own gates. What is wrong with one server of a
            listing is the reading of its part instead.
    """
    value = _parse(content)
    servers = servers_in(value)
    if servers is None:
        return [Part("", content, _reading(value, fallback_name))]
    return [_server_part(position, server) for position, server in enumerate(servers)]


def read(content: bytes, *, fallback_name: str = "") -> Reading:
    """Return the reading of the bytes of a document that is no listing.

    Raises:
        UnreadableSource: as `read_parts`.
    """
    return _reading(_parse(content), fallback_name)


def _parse(content: bytes) -> Any:
    """Return the JSON or YAML value of a document, or its text as Markdown."""
    if is_docx(content):
        return docx_markdown(content)
    if is_pdf(content):
        return pdf_markdown(content)
    text = _text(content)
    if text.lstrip()[:1] in ("{", "["):
        return _json(text)
    return _yaml(text) if _YAML_SPEC.search(text) else text


def _reading(value: Any, fallback_name: str) -> Reading:
    if isinstance(value, str) and is_prd(value):
        return read_prd(value)
    if is_openapi(value):
        return read_openapi(value)
    if is_discovery(value):
        return read_discovery(value)
    if is_service_model(value):
        return read_service_model(value)
    if is_server(value):
        return read_server(value)
    if is_mcp(value):
        return read_mcp(value, fallback_name=fallback_name)
    raise UnreadableSource(
        "unrecognised",
        "neither tools/list JSON, a registry's servers, OpenAPI, a Google discovery document, a botocore service model "
        "nor a PRD (a title and a section named Workflows)",
    )


def _server_part(position: int, server: Any) -> Part:
    if isinstance(server, UnreadableSource):  # a line that is no JSON
        return Part(f"line {position + 1}", b"", server)
    name = server_name(server) or f"servers[{position}]"
    content = canonical_json(server).encode()
    try:
        return Part(name, content, read_server(server if isinstance(server, dict) else {}))
    except UnreadableSource as error:
        return Part(name, content, error)


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
        if error.msg == "Extra data" and "\n" in text[: error.pos]:
            return [_json_line(line) for line in text.splitlines() if line.strip()]
        reason = f"line {error.lineno}, column {error.colno}: {error.msg}; is the file complete?"
        raise UnreadableSource("broken_json", reason) from None
    except (RecursionError, ValueError) as error:  # ValueError: an integer of thousands of digits
        raise UnreadableSource("too_complex", f"the JSON cannot be read within limits: {error}") from None


def _json_line(line: str) -> Any:
    """Return the value of one of many lines of JSON; a broken one is told by its error, so that the others are read."""
    try:
        return json.loads(line)
    except (RecursionError, ValueError) as error:
        return UnreadableSource("broken_json", f"the line is no JSON: {error}")


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
