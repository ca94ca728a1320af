"""Where source documents are: files of installed packages and MCP servers on this machine.

A user's own files are named here, and read in processes of their own (workers.py).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from schemas.base import canonical_json
from tasks.themes.jobs import Job
from tasks.themes.mcp_server import ask_url, list_tools
from tasks.themes.reading import UnreadableSource
from tasks.themes.registry import registry_pages

OWN_PACKAGE = "tasks.themes"
OWN_NAME = "agentworld"


@dataclass(frozen=True)
class SourceSpec:
    """One place of source documents. Exactly one of these:

    - a `member` of an installed `package` (a glob; the last match in sorted order, which is the newest version of a
      botocore service);
    - a `path`;
    - an MCP server that `command` starts over stdio and that answers `tools/list`. With a `package`, it is that
      package's ("{python}" and "{package}" in the command are this interpreter and the package's folder). Without one
      it is the user's own, and "$NAME" in it is taken from the environment when it is started, so that no key need
      stand in it;
    - the `url` of an MCP server that is running (streamable HTTP);
    - the address of a `registry` of MCP servers.

    `needs` says in natural words which data the theme is about, for documents that do not say it.
    """

    package: str = ""
    member: str = ""
    path: Path | None = None
    command: tuple[str, ...] = ()
    url: str = ""
    registry: str = ""
    licence: str = "NOASSERTION"
    distribution: str = ""
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What names this source in a rejection, the same on every machine."""
        if self.path is not None:
            return str(self.path)
        if not self.package:
            return self.url or self.registry or shlex.join(self.command)
        return f"{self.distribution or self.package}#{self.member or 'tools/list'}"


Clock = Callable[[Path], str]
"""Says when a file reached this machine."""

Report = Callable[[UnreadableSource], None]


def modified_at(path: Path) -> str:
    """Return a file's modification time, ISO 8601 in UTC with seconds: when the installer or the user wrote it."""
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).isoformat().replace("+00:00", "Z")


def now() -> str:
    """Return the time, ISO 8601 in UTC with seconds: when a server answered."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def locate(spec: SourceSpec, clock: Clock, report: Report) -> list[Job]:
    """Return the documents that a source holds, ready to be read. Servers and registries are asked here.

    Args:
        report: is told what kept a registry from being read to its end; what came before it is returned.

    Raises:
        UnreadableSource: with gate missing, no_documents, unreadable or server_failed.
    """
    if spec.path is not None:
        path = spec.path.resolve()
        return [_file(spec, path, path.as_uri(), "", clock)]
    if spec.registry:
        pages = registry_pages(spec.registry, report)
        return [_job(spec, uri, "", now(), "", content=content) for uri, content in pages]
    if not spec.package:
        uri = spec.url or f"mcp:{quote(spec.key, safe='@/ ')}".replace(" ", "+")
        answer = ask_url(spec.url) if spec.url else list_tools([os.path.expandvars(part) for part in spec.command])
        return [_job(spec, uri, str(answer.pop("version", "")), now(), "", content=canonical_json(answer).encode())]
    folder = _package_folder(spec.package)
    if spec.command:
        return [_ask(spec, folder, clock)]
    found = sorted(folder.glob(spec.member))
    if not found:
        raise UnreadableSource("missing", f"package {spec.package} has no file {spec.member}")
    path = found[-1]
    inside = path.relative_to(folder).as_posix()
    if spec.package == OWN_PACKAGE:
        return [_file(spec, path, f"pkg:{OWN_NAME}#{spec.package.replace('.', '/')}/{inside}", "", clock)]
    version = _version(spec)
    uri = f"pkg:pypi/{spec.distribution or spec.package}@{version}#{spec.package}/{inside}"
    return [_file(spec, path, uri, version, clock)]


ENDINGS = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".md", ".markdown", ".docx", ".pdf", ".json.gz")
"""The endings of the files that are read out of a folder."""


def spec_files(paths: Sequence[Path]) -> list[SourceSpec]:
    """Return a spec for each file: folders are searched for files with one of ENDINGS.

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


def _file(spec: SourceSpec, path: Path, uri: str, version: str, clock: Clock) -> Job:
    if path.is_dir():
        raise UnreadableSource("no_documents", f"the folder holds no {', '.join(ENDINGS)} file: check the path")
    try:
        retrieved_at = clock(path)
    except OSError as error:
        raise UnreadableSource("unreadable", f"{error.strerror or error}: check the path and its permissions") from None
    return _job(spec, uri, version, retrieved_at, path.stem, path=str(path))


def _job(
    spec: SourceSpec, uri: str, version: str, retrieved_at: str, stem: str, path: str = "", content: bytes = b""
) -> Job:
    return Job(
        key=spec.key, uri=uri, version=version, retrieved_at=retrieved_at, stem=stem, licence=spec.licence,
        needs=spec.needs, path=path, content=content,
    )  # fmt: skip


def _ask(spec: SourceSpec, folder: Path, clock: Clock) -> Job:
    """Start a package's MCP server and return its `tools/list` answer as canonical JSON bytes."""
    version = _version(spec)
    command = [part.replace("{python}", sys.executable).replace("{package}", str(folder)) for part in spec.command]
    name = spec.distribution or spec.package
    answer = list_tools(command)
    answer["description"] = answer["description"] or importlib.metadata.metadata(name).get("Summary", "")
    del answer["version"]  # that of the package is known, and is its own
    content = json.dumps(answer, sort_keys=True, ensure_ascii=False).encode()
    uri = f"pkg:pypi/{name}@{version}#tools/list"
    return _job(spec, uri, version, clock(folder / "__init__.py"), name, content=content)
