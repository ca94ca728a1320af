"""Freezes a draft into a world: database record, snapshot, documents, and provenance of every row and document."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from schemas.base import content_hash
from schemas.database import Database, Document, Table
from schemas.environment import Rejection
from schemas.theme import Provenance, Source, Theme
from tasks.environment import SnapshotError, build_snapshot
from tasks.mining.connectors import CONNECTORS
from tasks.mining.findings import Findings, MinedDocument, MinedTable
from tasks.mining.generators import stamp
from tasks.mining.policies import DOCUMENT, cite, render
from tasks.mining.workflows import compose
from tasks.mining.workflows.archetypes import ARCHETYPES
from tasks.mining.workflows.draft import Draft, with_counts
from tasks.mining.world import MiningError, World, rejection

MOST_ROWS = 2500
MOST_BYTES = 1_500_000
_DOCUMENT_BYTES = 500_000
_GENERATOR_LICENCE = "Apache-2.0"


def assemble(
    draft: Draft,
    theme: Theme,
    env_id: str,
    mined: Sequence[MinedTable],
    documents: Sequence[MinedDocument],
    sources: Sequence[Source],
    *,
    seed: int,
    chosen: str,
    decided: str = "",
    complexified: int = 0,
    added: Sequence[str] = (),
    rejections: Sequence[Rejection] = (),
    findings: Findings | None = None,
) -> World:
    """Return the world that a draft describes.

    `chosen` tells people which processes it has; `decided` are the words of the theme that decided for them.

    Raises:
        MiningError: if it is too large or its rows do not fit its schema.
    """
    left_out = list(rejections)
    tables = _parents_first(with_counts(draft))
    name = theme.name
    actions = cite(draft.actions, draft.headings, theme, tables)
    kept, dropped = _documents(theme, documents)
    left_out += dropped
    rules = Document(
        name=DOCUMENT,
        media_type="text/markdown",
        title=f"Policies of {name}",
        description="The business rules in plain words",
    )
    text = render(name, theme, tables, actions, draft.headings, chosen)
    database = Database(
        env_id=env_id,
        theme_id=theme.theme_id,
        name=name,
        description=f"{theme.description.strip()} {chosen}".strip(),
        tables=tuple(tables),
        documents=(*(document.document for document in kept), rules),
        actions=tuple(actions),
        start_time=stamp(draft.start),
        snapshot_sha256="",
        complexified=complexified,
        added_tables=tuple(added),
    )
    rows = {table.name: list(draft.rows[table.name].values()) for table in tables}
    total = sum(len(part) for part in rows.values())
    try:
        snapshot = build_snapshot(database, rows, [*((d.document, d.content) for d in kept), (rules, text)])
    except SnapshotError as error:
        raise MiningError([*left_out, rejection(theme.theme_id, "snapshot", str(error))]) from error
    if total > MOST_ROWS or len(snapshot) > MOST_BYTES:
        reason = f"{total} rows and {len(snapshot)} bytes; at most {MOST_ROWS} rows and {MOST_BYTES} bytes are kept"
        raise MiningError([*left_out, rejection(theme.theme_id, "too_large", reason)])
    database = database.model_copy(update={"snapshot_sha256": content_hash(snapshot)})
    generators = {made_by.partition(" ")[0].partition(":")[2] for made_by in draft.made_by.values()}
    own = {generator: generator_source(generator) for generator in (*sorted(generators), "policies")}
    provenance = [
        *_row_provenance(env_id, draft, mined, own),
        *(_of_document(env_id, d.document.name, d.source_id, d.locator, d.transform) for d in kept),
        _of_document(env_id, DOCUMENT, own["policies"].source_id, f"seed {seed}; {decided}", "render:rules"),
    ]
    used = {entry.source_id for entry in provenance}
    all_sources = {source.source_id: source for source in (*sources, *own.values())}
    return World(
        database,
        snapshot,
        provenance,
        [source for source_id, source in all_sources.items() if source_id in used],
        [entry.model_copy(update={"env_id": env_id}) for entry in left_out],
        list(draft.invariants),
        findings,
    )


@cache
def generator_source(name: str) -> Source:
    """Return the source record of a generator: the code that generates, by its hash and its file's time."""
    code = {a.name: a.build for a in ARCHETYPES} | {c.name: c.build for c in CONNECTORS}
    code |= {"activity-log": compose, "policies": render}
    path = Path(inspect.getfile(code[name]))
    sha256 = content_hash(path.read_bytes())
    uri, version = f"generator:{name}", sha256[:12]
    return Source(
        source_id=content_hash([uri, version, sha256])[:16],
        uri=uri,
        version=version,
        sha256=sha256,
        retrieved_at=datetime.fromtimestamp(int(path.stat().st_mtime), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        licence=_GENERATOR_LICENCE,
        title=f"Seeded generator of {name}",
    )


def _documents(theme: Theme, documents: Sequence[MinedDocument]) -> tuple[list[MinedDocument], list[Rejection]]:
    """Return the documents that fit into the snapshot, the earlier ones first, and why the others do not."""
    kept: list[MinedDocument] = []
    dropped: list[Rejection] = []
    size = 0
    for document in documents:
        name = document.document.name
        length = len(document.content.encode())
        if name in {DOCUMENT, *(d.document.name for d in kept)}:
            dropped.append(rejection(f"{theme.theme_id}/{name}", "duplicate_document", f"{name} is there already"))
        elif size + length > _DOCUMENT_BYTES:
            reason = f"{length} bytes do not fit into the {_DOCUMENT_BYTES} bytes of a world's documents"
            dropped.append(rejection(f"{theme.theme_id}/{name}", "document_too_large", reason))
        else:
            size += length
            kept.append(document)
    return kept, dropped


def _row_provenance(
    env_id: str, draft: Draft, mined: Sequence[MinedTable], generators: dict[str, Source]
) -> list[Provenance]:
    entries = []
    for one in mined:
        for row, locator in zip(one.rows, one.locators, strict=True):
            key = str(row[one.table.key])
            entries.append((one.table.name, key, one.source_id, locator, one.transform))
    for name, made_by in draft.made_by.items():
        source = generators[made_by.partition(" ")[0].partition(":")[2]]
        for number, key in enumerate(draft.rows[name]):
            entries.append((name, str(key), source.source_id, f"row {number}", made_by))
    return [
        Provenance(env_id=env_id, table_name=table, row_key=key, source_id=source, locator=at, transform=transform)
        for table, key, source, at, transform in entries
    ]


def _of_document(env_id: str, name: str, source_id: str, locator: str, transform: str) -> Provenance:
    return Provenance(
        env_id=env_id,
        table_name="documents",
        row_key=name,
        source_id=source_id,
        locator=locator,
        transform=transform,
    )


def _parents_first(tables: list[Table]) -> list[Table]:
    """Return the tables so that a table stands behind those that it refers to, as far as there is no circle."""
    left, ordered = list(tables), list[Table]()
    while left:
        there = {table.name for table in ordered}
        ready = [t for t in left if {c.references.partition(".")[0] for c in t.columns} - {"", t.name} <= there]
        chosen = (ready or left)[0]
        left.remove(chosen)
        ordered.append(chosen)
    return ordered
