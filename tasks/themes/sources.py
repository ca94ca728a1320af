"""Where source documents are: files of installed packages, the user's own files, and MCP servers on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tasks.themes.decode import MAX_BYTES
from tasks.themes.reading import UnreadableSource

OWN_PACKAGE = "tasks.themes"
OWN_NAME = "agentworld"


@dataclass(frozen=True)
class SourceSpec:
    """One source document to read.

    Either a `member` of an installed `package` (a glob; the last match in sorted order, which is the newest version of
    a botocore service), or a `path`, or an MCP server that `command` starts over stdio and that answers `tools/list`
    (then `package` says whose server it is; "{python}" and "{package}" in the command are this interpreter and the
    package's folder). `needs` says in natural words which data the theme is about, for documents that do not say it.
    """

    package: str = ""
    member: str = ""
    path: Path | None = None
    command: tuple[str, ...] = ()
    licence: str = "NOASSERTION"
    distribution: str = ""
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names this source in a rejection, the same on every machine."""
        if self.path is not None:
            return str(self.path)
        return f"{self.distribution or self.package}#{self.member or 'tools/list'}"


@dataclass(frozen=True)
class Fetched:
    """The bytes of a source and where and when they were got. `retrieved_at` is ISO 8601 in UTC."""

    uri: str
    version: str
    content: bytes
    retrieved_at: str
    stem: str


Clock = Callable[[Path], str]
"""Says when a file reached this machine."""


def modified_at(path: Path) -> str:
    """Return a file's modification time, ISO 8601 in UTC with seconds: when the installer or the user wrote it."""
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat().replace("+00:00", "Z")


def fetch(spec: SourceSpec, clock: Clock = modified_at) -> Fetched:
    """Return a source's bytes.

    Raises:
        UnreadableSource: with gate missing, unreadable, too_large or server_failed.
    """
    if spec.path is not None:
        path = spec.path.resolve()
        return Fetched(path.as_uri(), "", _read(path), clock(path), path.stem)
    folder = _package_folder(spec.package)
    if spec.command:
        return _ask(spec, folder, clock)
    found = sorted(folder.glob(spec.member))
    if not found:
        raise UnreadableSource("missing", f"package {spec.package} has no file {spec.member}")
    path = found[-1]
    inside = path.relative_to(folder).as_posix()
    if spec.package == OWN_PACKAGE:
        uri, version = f"pkg:{OWN_NAME}#{spec.package.replace('.', '/')}/{inside}", ""
    else:
        version = _version(spec)
        uri = f"pkg:pypi/{spec.distribution or spec.package}@{version}#{spec.package}/{inside}"
    return Fetched(uri, version, _read(path), clock(path), path.stem)


ENDINGS = (".json", ".yaml", ".yml", ".md", ".markdown", ".json.gz")
"""The endings of the files that are read out of a folder."""


def spec_files(paths: Sequence[Path]) -> list[SourceSpec]:
    """Return a spec for each file: folders are searched for .json, .yaml, .yml, .md, .markdown and .json.gz files.

    A path that does not exist, and a folder that holds no such file, become specs all the same, so that they are
    rejected with a reason when they are read.
    """
    files: set[Path] = set()
    for path in paths:
        if path.is_dir():
            named = {one for one in path.rglob("*") if one.name.lower().endswith(ENDINGS)}
            files |= {one for one in named if one.is_file() or not one.exists()} or {path}
        else:
            files.add(path)
    return [SourceSpec(path=path) for path in sorted(files)]


def _package_folder(package: str) -> Path:
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        found = None
    if found is None or not found.submodule_search_locations:
        raise UnreadableSource("missing", f"package {package} is not installed: install it to get this theme")
    return Path(next(iter(found.submodule_search_locations)))


def _version(spec: SourceSpec) -> str:
    name = spec.distribution or spec.package
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise UnreadableSource("missing", f"package {name} has no metadata: reinstall it") from None


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise UnreadableSource("no_documents", f"the folder holds no {', '.join(ENDINGS)} file: check the path")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableSource("unreadable", f"{error.strerror or error}: check the path and its permissions") from None
    if len(content) > MAX_BYTES:
        raise UnreadableSource("too_large", f"more than {MAX_BYTES // 1_000_000} MB: split the document")
    return content


def _ask(spec: SourceSpec, folder: Path, clock: Clock) -> Fetched:
    """Start a package's MCP server and return its `tools/list` answer as canonical JSON bytes."""
    from tasks.themes.mcp_server import list_tools  # the SDK takes a second to import

    version = _version(spec)
    command = [part.replace("{python}", sys.executable).replace("{package}", str(folder)) for part in spec.command]
    name = spec.distribution or spec.package
    answer = list_tools(command)
    answer["description"] = answer["description"] or importlib.metadata.metadata(name).get("Summary", "")
    content = json.dumps(answer, sort_keys=True, ensure_ascii=False).encode()
    return Fetched(f"pkg:pypi/{name}@{version}#tools/list", version, content, clock(folder / "__init__.py"), name)
