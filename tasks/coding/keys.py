"""The prefix that a table's keys have."""

from __future__ import annotations

import re
from collections import Counter

from schemas.database import Table
from tasks.coding.snapshot import Reader
from tasks.coding.words import identifier, snake


def key_prefix(table: Table, snapshot: bytes | None) -> str:
    """Return what a new key of the table starts with: what most existing keys do, else the noun's first letters."""
    if snapshot is not None:
        with Reader(snapshot) as reader:
            keys = reader.column(f"SELECT {identifier(table.key)} FROM {identifier(table.name)} LIMIT 200")
        found = (re.match(r"(.+)[-_:/](?=[^-_:/]+$)|[A-Za-z]+(?=\d)", str(key)) for key in keys)
        prefixes = Counter(match[0] for match in found if match)
        if prefixes:
            prefix, times = min(prefixes.items(), key=lambda item: (-item[1], item[0]))
            if times * 2 > len(keys):
                return prefix.removesuffix("-")
    return snake(table.noun).replace("_", "")[:3]
