"""Where an imported environment came from: its source, and the provenance of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.base import content_hash
from schemas.theme import Provenance, Source
from tasks.environment import file_documents
from tasks.imports.database import owners_of
from tasks.imports.values import Data
from tasks.imports.world import ForeignWorld


def source_of(world: ForeignWorld, retrieved_at: str) -> Source:
    """Return the source that stands for a whole world."""
    return Source(
        source_id=content_hash([world.uri, world.origin, world.sha256])[:16],
        uri=world.uri,
        version=world.origin,
        sha256=world.sha256,
        retrieved_at=retrieved_at,
        licence=world.licence,
        title=f"{world.name} ({world.folder})",
    )


def provenance_of(world: ForeignWorld, data: Data, layout: Mapping[str, Any], source: Source) -> Iterator[Provenance]:
    """Yield where each row and document of an imported environment lay."""
    owners = owners_of(layout)
    for table in data.tables:
        for row in data.rows[table.name]:
            key = str(row[table.key])
            yield Provenance(env_id=world.env_id, table_name=table.name, row_key=key, source_id=source.source_id,
                             locator=f"{owners[table.name]}#{key}", transform="import")  # fmt: skip
    for document, _ in file_documents(world.files, layout):
        yield Provenance(env_id=world.env_id, table_name="documents", row_key=document.name,
                         source_id=source.source_id, locator=document.name, transform="import")  # fmt: skip
