"""Collects themes from source documents; what cannot be read becomes a rejection and the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from schemas.environment import Rejection
from schemas.theme import Source, Theme
from tasks.themes.defaults import default_sources
from tasks.themes.jobs import Job, Outcome, refusal
from tasks.themes.reader import read_job
from tasks.themes.reading import UnreadableSource
from tasks.themes.sources import Clock, SourceSpec, locate, modified_at, spec_files
from tasks.themes.workers import read_jobs

ASKING = 4
"""Servers and registries that are asked at once: they are waited for, mostly."""

Progress = Callable[[int, int, int], None]
"""Is told after each document: how many there are so far, and how many themes and refusals this one gave."""


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
    progress: Progress = lambda documents, found, refused: None,
) -> Collection:
    """Read every source document and return themes, sources and rejections; nothing is raised for a bad document.

    Documents of installed packages are read here; all others in processes of their own (workers.py).

    Args:
        sources: what to read; None is the embedded default set, () reads only the extra paths.
        extra_paths: files, or folders of files, of the user's own: recognised by their content.
        retrieved_at: says when a file reached this machine; its modification time by default.
    """
    specs = [*(default_sources() if sources is None else sources), *spec_files([Path(path) for path in extra_paths])]
    clock = retrieved_at or modified_at
    with ThreadPoolExecutor(ASKING) as pool:
        located = list(pool.map(lambda spec: _locate(spec, clock), sorted(specs, key=lambda one: one.key)))
    jobs = [(job, bool(spec.package)) for spec, found, _ in located for job in found]
    known = {job: read_job(job) for job, ours in jobs if ours}
    foreign = [job for job, ours in jobs if not ours]
    outcomes = read_jobs(foreign, done=lambda found, refused: progress(len(jobs), found, refused))
    known.update(zip(foreign, outcomes, strict=True))
    return _gather((known[job] for job, _ in jobs), [one for _, _, refused in located for one in refused])


def _locate(spec: SourceSpec, clock: Clock) -> tuple[SourceSpec, list[Job], list[Rejection]]:
    troubles: list[UnreadableSource] = []
    found: list[Job] = []
    try:
        found = locate(spec, clock, troubles.append)
    except UnreadableSource as error:
        troubles.append(error)
    return spec, found, [refusal(spec.key, error.gate, error.reason) for error in troubles]


def _gather(outcomes: Iterable[Outcome], rejections: list[Rejection]) -> Collection:
    """Return all that was found, each theme once: of the very same document the first source counts."""
    themes: dict[str, Theme] = {}
    records: dict[str, Source] = {}
    for outcome in outcomes:
        rejections += outcome.refused
        for theme, source in outcome.found:
            if theme.theme_id in themes:
                first = themes[theme.theme_id].source_uri
                rejections.append(refusal(source.uri, "same_document", f"the very document of {first}"))
            else:
                themes[theme.theme_id], records[source.source_id] = theme, source
    return Collection(
        [themes[key] for key in sorted(themes)],
        [records[key] for key in sorted(records)],
        sorted(rejections, key=lambda one: (one.key, one.gate)),
    )
