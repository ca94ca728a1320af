"""A theme: a real topic with the source document that it was read from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record

ThemeKind = Literal["mcp", "openapi", "botocore", "prd", "import", "discovery"]


class Operation(Record):
    """One operation that a source document describes (an MCP tool, an API operation, a workflow step of a PRD)."""

    name: str
    description: str = ""
    parameters: tuple[str, ...] = ()


class Theme(Record):
    """A real topic. `category_l1`..`l3` are empty until the taxonomy stage has placed it."""

    theme_id: str = Field(description="slug of the name, a hyphen and 8 hex digits of the source's hash")
    kind: ThemeKind
    name: str
    description: str
    terms: tuple[str, ...] = Field(description="telling words of the source, the most telling first, lower case")
    operations: tuple[Operation, ...] = ()
    needs: tuple[str, ...] = Field(default=(), description="the data that it needs, in the source's natural words")
    rules: tuple[str, ...] = Field(default=(), description="sentences of the source that refuse something")
    category_l1: str = ""
    category_l2: str = ""
    category_l3: str = ""
    category_words: tuple[str, ...] = Field(default=(), description="the words that spoke for the category")
    source_id: str
    source_uri: str
    source_version: str
    source_sha256: str
    licence: str
    aliases: tuple[str, ...] = Field(default=(), description="theme ids merged into this one as near-duplicates")
    api: str = Field(default="", description="what names the API in all its versions, if the source says")
    api_version: str = Field(default="", description="the version of the API that the source describes")


class Source(Record):
    """Where data or a document came from; `provenance` rows and themes point here by `source_id`."""

    source_id: str = Field(description="16 hex digits of the hash of uri, version and sha256")
    uri: str = Field(description="pkg:pypi/NAME@VERSION#path/inside, file:///..., or generator:NAME")
    version: str
    sha256: str
    retrieved_at: str = Field(description="ISO 8601, UTC: when these bytes reached this machine")
    licence: str = Field(description="SPDX expression")
    title: str = ""
    robots: str = Field(default="", description="of a page: what robots.txt says of it (RobotsFinding)")


class Provenance(Record):
    """Where one table row or one document of an environment came from."""

    env_id: str
    table_name: str = Field(description="a table of the snapshot, or 'documents'")
    row_key: str = Field(description="the row's key as text; the document's name")
    source_id: str
    locator: str = Field(default="", description="where in the source: row number, JSON path, heading")
    transform: str = Field(description="what was done to it, e.g. 'extract', 'derive:sum', 'generated:orders seed 7'")
