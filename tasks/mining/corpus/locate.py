"""Find the files of installed distributions and of the standard library, without importing any of them."""

from __future__ import annotations

import functools
import platform
import sys
import sysconfig
from collections.abc import Callable
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

from schemas.base import content_hash
from schemas.theme import Source
from tasks.mining.corpus.packages import INSTALLED, STANDARD_LIBRARY


class MissingFiles(LookupError):
    """A package is not installed, or the files expected in it are not there."""


def locate(package: str, pattern: str, keep: Callable[[str], bool] | None = None) -> tuple[str, dict[str, Path]]:
    """Return the version of a package and its files that match a glob, by their paths inside it.

    For the standard library the pattern lists paths, with "|" between them.

    Raises:
        MissingFiles: if the package is not installed or no file matches.
    """
    if package == STANDARD_LIBRARY:
        root = Path(sysconfig.get_paths()["stdlib"])
        names = pattern.split("|")
        version, paths = platform.python_version(), {name: root / name for name in names}
    elif package == INSTALLED:
        version, paths = platform.python_version(), _metadata_files()
    else:
        version, files = _distribution(package)
        paths = {name: path for name, path in files.items() if fnmatch(name, pattern)}
    paths = {name: path for name, path in sorted(paths.items()) if (not keep or keep(name)) and path.is_file()}
    if not paths:
        raise MissingFiles(f"{package} {version} has no file {pattern!r}: another release of it may; reinstall it")
    return version, paths


@functools.cache
def _distribution(package: str) -> tuple[str, dict[str, Path]]:
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise MissingFiles(f"package {package} is not installed: pip install {package}") from None
    return found.version, {str(file): Path(str(found.locate_file(file))) for file in found.files or ()}


def _metadata_files() -> dict[str, Path]:
    """Return the METADATA file of each distribution on the import path; the first of a name is the one in use."""
    found: dict[str, Path] = {}
    for entry in sys.path:
        for path in sorted(Path(entry or ".").glob("*.dist-info/METADATA")):
            found.setdefault(f"{path.parent.name}/METADATA", path)
    return found


def source_of(package: str, version: str, pattern: str, paths: dict[str, Path], licence: str, title: str) -> Source:
    """Return the provenance of some files of a package: one hash over all of them, the newest arrival time.

    Raises:
        OSError: if a file cannot be read.
    """
    contents = {name: content_hash(path.read_bytes()) for name, path in paths.items()}
    sha256 = next(iter(contents.values())) if len(contents) == 1 else content_hash(contents)
    kind = "generic" if package in (STANDARD_LIBRARY, INSTALLED) else "pypi"
    uri = f"pkg:{kind}/{package}@{version}#{pattern}"
    return make_source(uri, version, sha256, max(path.stat().st_mtime for path in paths.values()), licence, title)


def make_source(uri: str, version: str, sha256: str, modified: float, licence: str, title: str) -> Source:
    """Return a Source whose id is derived from uri, version and hash; `modified` is a POSIX time in seconds."""
    retrieved_at = datetime.fromtimestamp(int(modified), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    source_id = content_hash([uri, version, sha256])[:16]
    return Source(
        source_id=source_id,
        uri=uri,
        version=version,
        sha256=sha256,
        retrieved_at=retrieved_at,
        licence=licence,
        title=title,
    )
