"""A process that reads source documents, one JSON line in and one out, so that a document can only harm its process.

Run by workers.py as `python -m tasks.themes.reader BYTES`, with BYTES the most address space that it may use.
"""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from schemas.base import content_hash
from schemas.theme import Source, Theme
from tasks.themes.decode import MAX_BYTES, Part, read_parts
from tasks.themes.jobs import Job, Outcome, refusal
from tasks.themes.reading import Reading, UnreadableSource
from tasks.themes.terms import terms_of
from tasks.themes.text import slug, unique


def read_job(job: Job) -> Outcome:
    """Return what a document gives; a document that cannot be read is a rejection."""
    try:
        parts = read_parts(_bytes(Path(job.path)) if job.path else job.content, fallback_name=job.stem)
    except UnreadableSource as error:
        return Outcome(refused=(refusal(job.key, error.gate, error.reason),))
    except MemoryError:
        return Outcome(refused=(refusal(job.key, "too_complex", "reading it takes more memory than is allowed"),))
    found, refused = [], []
    for part in parts:
        if isinstance(part.reading, UnreadableSource):
            key = f"{job.key}#{part.name}" if part.name else job.key
            refused.append(refusal(key, part.reading.gate, part.reading.reason))
        else:
            found.append(_theme(job, part))
    return Outcome(found=tuple(found), refused=tuple(refused))


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableSource("unreadable", f"{error.strerror or error}: check the path and its permissions") from None
    if len(content) > MAX_BYTES:
        raise UnreadableSource("too_large", f"more than {MAX_BYTES // 1_000_000} MB: split the document")
    return content


def _theme(job: Job, part: Part) -> tuple[Theme, Source]:
    assert isinstance(part.reading, Reading)
    reading = replace(part.reading, needs=unique([*part.reading.needs, *job.needs]))
    digest = content_hash(part.content)
    version = job.version or digest[:12]  # a file of no release is its own version
    licence = reading.licence if job.licence == "NOASSERTION" and reading.licence else job.licence
    uri = f"{job.uri}#{quote(part.name)}" if part.name else job.uri
    source = Source(
        source_id=content_hash([uri, version, digest])[:16],
        uri=uri,
        version=version,
        sha256=digest,
        retrieved_at=job.retrieved_at,
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
        api=reading.api,
        api_version=reading.api_version,
    )
    return theme, source


def serve(memory_bytes: int) -> None:
    """Answer the jobs on standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin.buffer:
        answers.write(read_job(Job.model_validate_json(line)).model_dump_json().encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
