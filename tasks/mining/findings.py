"""What a researcher brings home: typed tables with their rows, documents, sources, a log, and what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from schemas.base import Scalar
from schemas.database import Document, Table
from schemas.environment import Rejection
from schemas.research import ResearchRound
from schemas.theme import Source

Row = dict[str, Scalar]
"""One row by column name; dates are ISO 8601 text, booleans are 0 or 1, a missing value is None."""


RULES = "rules"
"""The researcher that is no model."""


@dataclass(frozen=True)
class MinedTable:
    """A typed table taken from one source item.

    `locators[i]` says where `rows[i]` stands in the source; `transform` says what was done to all of them
    (e.g. 'extract; rename; sample seed 3').
    """

    table: Table
    rows: list[Row]
    source_id: str
    locators: list[str]
    transform: str

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one locator a row and `table.rows` counts them."""
        if len(self.rows) != len(self.locators):
            raise ValueError(f"table {self.table.name!r}: {len(self.rows)} rows but {len(self.locators)} locators")
        if self.table.rows != len(self.rows):
            counted = self.table.rows
            raise ValueError(f"table {self.table.name!r}: its record counts {counted} rows, not {len(self.rows)}")


@dataclass(frozen=True)
class MinedDocument:
    """A document taken or rendered from one source item; `transform` is 'extract', 'render:html' and the like."""

    document: Document
    content: str
    source_id: str
    locator: str
    transform: str


@dataclass(frozen=True)
class Findings:
    """The result of one research: parents stand before the tables that refer to them.

    Each entry of `log` is {tool: search | open | extract | save, arguments, outcome}, in the order of the calls.
    `researcher` is "rules" or the id of the model whose tables these are; `rounds` are a model's, whoever has the
    last word; `refused` counts what it was not allowed or not believed, by gate.
    """

    theme_id: str
    tables: list[MinedTable] = field(default_factory=list)
    documents: list[MinedDocument] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    researcher: str = RULES
    rounds: list[ResearchRound] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)

    def source(self, source_id: str) -> Source:
        """Return the source of that id.

        Raises:
            KeyError: if the findings name no such source.
        """
        for source in self.sources:
            if source.source_id == source_id:
                return source
        raise KeyError(f"the findings for {self.theme_id!r} have no source {source_id!r}")

    def table(self, name: str) -> MinedTable:
        """Return the mined table of that name.

        Raises:
            KeyError: if there is none.
        """
        for mined in self.tables:
            if mined.table.name == name:
                return mined
        raise KeyError(f"the findings for {self.theme_id!r} have no table {name!r}")


def dump_findings(found: Findings) -> bytes:
    """Return findings as JSON; the same findings give the same bytes."""
    return TypeAdapter(Findings).dump_json(found)


def load_findings(raw: bytes) -> Findings:
    """Return the findings that `dump_findings` wrote.

    Raises:
        pydantic.ValidationError: if the JSON is something else.
    """
    return TypeAdapter(Findings).validate_json(raw)
