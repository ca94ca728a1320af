"""Tools: a coder writes them from a database, a tester tests them, and crosscheck keeps what passes every gate.

Rules write the base of every environment's tools; `add_tools` has models add what they find missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.database import Database
from schemas.tool import Tool, ToolTest
from tasks.coding.coder import Coder, RuleCoder
from tasks.coding.crosscheck import CodingResult, crosscheck
from tasks.coding.hands import TEMPLATES
from tasks.coding.model_coder import add_tools
from tasks.coding.properties import write_properties

STAGE_VERSION = "2"
"""Part of every cache key; raise it when the same inputs would give other tools, tests or decisions."""

__all__ = [
    "STAGE_VERSION",
    "TEMPLATES",
    "Coder",
    "CodingResult",
    "RuleCoder",
    "add_tools",
    "crosscheck",
    "write_tests",
    "write_tools",
]


def write_tools(database: Database, seed: int, snapshot: bytes | None = None, coder: Coder | None = None) -> list[Tool]:
    """Return the tools that a coder (the rule-based one unless another is given) writes for a database.

    `snapshot` tells it the prefixes of existing keys; without it they are made from the tables' nouns.
    """
    return (coder or RuleCoder()).write_tools(database, seed, snapshot)


def write_tests(database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int,
                coder: Coder | None = None) -> list[ToolTest]:  # fmt: skip
    """Return the coder's own tests of its tools and, by another hand, the tester's.

    Raises:
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    own = (coder or RuleCoder()).write_tests(database, snapshot, tools, seed)
    return [*own, *write_properties(database, snapshot, tools, seed)]
