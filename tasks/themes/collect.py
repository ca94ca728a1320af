"""Collects themes from source documents; what cannot be read becomes a rejection and the rest goes on."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from schemas.base import content_hash
from schemas.environment import Rejection
from schemas.theme import Source, Theme
from tasks.themes.decode import read
from tasks.themes.defaults import default_sources
from tasks.themes.reading import UnreadableSource
from tasks.themes.sources import Clock, Fetched, SourceSpec, fetch, modified_at, spec_files
from tasks.themes.terms import terms_of
from tasks.themes.text import slug, unique


class Collection(NamedTuple):
    """What was collected: each list is sorted by its records' ids, whatever the order of the sources."""

    themes: list[Theme]
    sources: list[Source]
    rejections: list[Rejection]


def collect(
    sources: Sequence[SourceSpec] | None = None,
    *,
    extra_paths: Sequence[str | Path] = (),
    retrieved_at: Clock | None = None,
) -> Collection:
    """Read every source document and return themes, sources and rejections; nothing is raised for a bad document.

    Args:
        sources: what to read; None is the embedded default set, () reads only the extra paths.
        extra_paths: files, or folders of files, of the user's own: recognised by their content.
        retrieved_at: says when a file reached this machine; its modification time by default.
    """
    specs = [*(default_sources() if sources is None else sources), *spec_files([Path(path) for path in extra_paths])]
    clock = retrieved_at or modified_at
    themes: dict[str, Theme] = {}
    records: dict[str, Source] = {}
    rejections = []
    with ThreadPoolExecutor(2) as pool:  # servers are waited for, files are read
        outcomes = list(pool.map(lambda spec: _read_one(spec, clock), sorted(specs, key=lambda one: one.key)))
    for spec, outcome in zip(sorted(specs, key=lambda one: one.key), outcomes, strict=True):
        if isinstance(outcome, UnreadableSource):
            rejections.append(_rejection(spec, outcome.gate, f"{spec.key}: {outcome.reason}"))
            continue
        theme, source = outcome
        if theme.theme_id in themes:
            first = themes[theme.theme_id].source_uri
            rejections.append(_rejection(spec, "same_document", f"{spec.key}: the very document of {first}"))
            continue
        themes[theme.theme_id], records[source.source_id] = theme, source
    return Collection(
        [themes[key] for key in sorted(themes)],
        [records[key] for key in sorted(records)],
        sorted(rejections, key=lambda one: (one.key, one.gate)),
    )


def _read_one(spec: SourceSpec, clock: Clock) -> tuple[Theme, Source] | UnreadableSource:
    try:
        return _theme(spec, fetch(spec, clock))
    except UnreadableSource as error:
        return error


def _theme(spec: SourceSpec, fetched: Fetched) -> tuple[Theme, Source]:
    reading = read(fetched.content, fallback_name=fetched.stem)
    reading = replace(reading, needs=unique([*reading.needs, *spec.needs]))
    digest = content_hash(fetched.content)
    version = fetched.version or digest[:12]  # a file of no release is its own version
    licence = reading.licence if spec.licence == "NOASSERTION" and reading.licence else spec.licence
    source = Source(
        source_id=content_hash([fetched.uri, version, digest])[:16],
        uri=fetched.uri,
        version=version,
        sha256=digest,
        retrieved_at=fetched.retrieved_at,
        licence=licence,
        title=reading.name,
    )
    theme = Theme(
        theme_id=f"{slug(reading.name)}-{digest[:8]}",
        kind=reading.kind,
        name=reading.name,
        description=reading.description,
        terms=terms_of(reading),
        operations=reading.operations,
        needs=reading.needs,
        rules=reading.rules,
        source_id=source.source_id,
        source_uri=source.uri,
        source_version=source.version,
        source_sha256=digest,
        licence=licence,
    )
    return theme, source


def _rejection(spec: SourceSpec, gate: str, reason: str) -> Rejection:
    return Rejection(stage="themes", key=spec.key, gate=gate, reason=reason)
