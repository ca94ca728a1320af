"""The tester's tests: from a tool's schema, declaration and the state, without a look at its source.

Properties: the same call gives the same answer; a filter returns all rows that match and no other; an order is an
order; a limit cuts; a statistic agrees with one computed in Python; a write leaves exactly what the interpreter of
rules and effects says; a refusal changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from schemas.database import Database
from schemas.tool import Tool, ToolTest
from tasks.coding.read_tester import ReadTester
from tasks.coding.snapshot import Reader
from tasks.coding.tester import Knowledge
from tasks.coding.witness import find_witness
from tasks.coding.write_tester import WriteTester


def write_properties(database: Database, snapshot: bytes, tools: Sequence[Tool], seed: int) -> list[ToolTest]:
    """Return the tester's tests of all tools.

    Raises:
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    with Reader(snapshot) as reader:
        state = reader.state(database)
        documents = reader.rows("SELECT name, title, media_type, content FROM documents ORDER BY name")
    witness = find_witness(database, snapshot, state, random.Random(f"witness-{seed}"))
    known = Knowledge(database, state, documents, tools, witness)
    tests: list[ToolTest] = []
    for tool in tools:
        tester = WriteTester if tool.kind in ("create", "update", "transition") else ReadTester
        tests += tester(known, tool, random.Random(f"tester-{seed}-{tool.name}")).write()
    return tests
