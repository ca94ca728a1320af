"""A private disk in memory: the files that foreign tools open by path, and what they make of them."""

from __future__ import annotations

import io
import os
import posixpath
import stat
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

TOP = "/app"
"""Where official releases keep their application; everything below it, and `/tmp`, is on the disk."""
DATA = "/app/database"
_SCRATCH = "/tmp"
_FIRST_DESCRIPTOR = 1 << 20
_ALIASES = frozenset(("app", "database"))


class Disk:
    """Files by absolute path. Nothing on it outlives the process, and no other process sees it.

    Args:
        files: path relative to the environment's folder -> content.
        folder: the name of that folder below `/app/database`.
    """

    def __init__(self, files: Mapping[str, bytes], folder: str) -> None:
        self.folder = folder
        self.root = posixpath.join(DATA, folder)
        self._initial = {posixpath.join(self.root, path): content for path, content in files.items()}
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.descriptors: dict[int, VirtualFile] = {}
        self.reads = 0
        self.reset()

    def reset(self) -> None:
        """Put back the initial files."""
        self.files = dict(self._initial)
        self.folders = {TOP, DATA, self.root, _SCRATCH}
        for path in self.files:
            self._make_parents(path)
        self.descriptors.clear()

    def mark(self) -> tuple[dict[str, bytes], set[str]]:
        """Return what `restore` goes back to. Contents are shared, so that this costs little."""
        return dict(self.files), set(self.folders)

    def restore(self, mark: tuple[dict[str, bytes], set[str]]) -> None:
        """Go back to a mark."""
        self.files, self.folders = dict(mark[0]), set(mark[1])

    def data(self) -> dict[str, bytes]:
        """Return the environment's files by path relative to its folder."""
        prefix = self.root + "/"
        return {path[len(prefix) :]: content for path, content in self.files.items() if path.startswith(prefix)}

    def resolve(self, path: Any) -> str | None:
        """Return where a path lies on this disk, None if it lies elsewhere (the system's own files).

        A relative path starts in the environment's folder. `/app/database/x` and `/app/database/<folder>/x` are the
        same file, whatever style the foreign code was written in.
        """
        if isinstance(path, int) or path is None:
            return None
        text = os.fspath(path)
        if isinstance(text, bytes):
            text = text.decode(errors="surrogateescape")
        absolute = posixpath.normpath(text if text.startswith("/") else posixpath.join(self.root, text))
        if absolute == _SCRATCH or absolute.startswith(_SCRATCH + "/"):
            return absolute
        if absolute != TOP and not absolute.startswith(TOP + "/"):
            return None
        if absolute == DATA:
            return self.root
        if not absolute.startswith(DATA + "/"):
            return absolute
        parts = absolute[len(DATA) + 1 :].split("/")
        while parts and (parts[0] == self.folder or (parts[0] in _ALIASES and not self._holds(parts))):
            del parts[0]
        return posixpath.join(self.root, *parts)

    def _holds(self, parts: list[str]) -> bool:
        path = posixpath.join(self.root, parts[0])
        return path in self.folders or path in self.files

    def _make_parents(self, path: str) -> None:
        parent = posixpath.dirname(path)
        while parent not in self.folders and parent != "/":
            self.folders.add(parent)
            parent = posixpath.dirname(parent)

    def require_folder(self, path: str) -> None:
        """Raise FileNotFoundError unless the folder that a path is in exists."""
        if posixpath.dirname(path) not in self.folders:
            raise FileNotFoundError(2, "No such file or directory", path)

    def read(self, path: str) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError, IsADirectoryError: as their names say.
        """
        self.reads += 1
        if path in self.folders:
            raise IsADirectoryError(21, "Is a directory", path)
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(2, "No such file or directory", path) from None

    def write(self, path: str, content: bytes) -> None:
        """Replace a file's content."""
        self.files[path] = content

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.read(path)
        del self.files[path]

    def rename(self, source: str, target: str) -> None:
        """Move a file or a folder with all below it."""
        self.require_folder(target)
        if source in self.folders:
            for path in [p for p in self.files if p.startswith(source + "/")]:
                self.files[target + path[len(source) :]] = self.files.pop(path)
            self.folders = {
                target + p[len(source) :] if (p + "/").startswith(source + "/") else p for p in self.folders
            }
            return
        self.files[target] = self.read(source)
        del self.files[source]

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        if path not in self.folders:
            if path in self.files:
                raise NotADirectoryError(20, "Not a directory", path)
            raise FileNotFoundError(2, "No such file or directory", path)
        prefix = path.rstrip("/") + "/"
        return sorted(
            {p[len(prefix) :].split("/")[0] for p in (*self.files, *self.folders) if p.startswith(prefix)} - {""}
        )

    def status(self, path: str, now: float) -> os.stat_result:
        """Return the stat of a file or folder; its times are the episode's frozen one."""
        if path in self.folders:
            mode, size = stat.S_IFDIR | 0o755, 4096
        elif path in self.files:
            mode, size = stat.S_IFREG | 0o644, len(self.files[path])
        else:
            raise FileNotFoundError(2, "No such file or directory", path)
        moment = int(now)
        return os.stat_result((mode, zlib.crc32(path.encode()), 1, 1, 0, 0, size, moment, moment, moment))

    def open(self, path: str, mode: str) -> VirtualFile:
        """Open a file in a binary mode ("rb", "r+b", "wb", "ab", "xb", "w+b" ...)."""
        kind = next(letter for letter in mode if letter in "rwax")
        if path in self.folders:
            raise IsADirectoryError(21, "Is a directory", path)
        if kind == "r":
            content = self.read(path)
        else:
            self.require_folder(path)
            if kind == "x" and path in self.files:
                raise FileExistsError(17, "File exists", path)
            content = self.files.get(path, b"") if kind == "a" else b""
            self.files[path] = content
        return VirtualFile(self, path, content, kind, "+" in mode)

    def describe(self, file: VirtualFile) -> int:
        """Return a descriptor's number for an open file; the kernel knows nothing of it."""
        number = _FIRST_DESCRIPTOR + len(self.descriptors)
        self.descriptors[number] = file
        return number

    def entries(self, path: str, now: float) -> Iterator[Entry]:
        """Yield what `os.scandir` would."""
        for name in self.names(path):
            yield Entry(self, name, posixpath.join(path, name), now)


class VirtualFile(io.BytesIO):
    """An open file of a disk; what was written is on the disk after a flush or the closing."""

    def __init__(self, disk: Disk, path: str, content: bytes, kind: str, both: bool) -> None:
        super().__init__(content)
        self._disk, self._path, self.name = disk, path, path  # others may rename `name`, as tempfile does
        self._reads, self._writes = kind == "r" or both, kind != "r" or both
        self._appends, self._number = kind == "a", 0
        if self._appends:
            self.seek(0, io.SEEK_END)

    @property
    def path(self) -> str:
        """Where it lies on the disk."""
        return self._path

    def readable(self) -> bool:
        """Say whether it was opened for reading."""
        return self._reads

    def writable(self) -> bool:
        """Say whether it was opened for writing."""
        return self._writes

    def read(self, *args: Any) -> bytes:
        """Read as a file does; refused if it was opened for writing only."""
        if not self._reads:
            raise io.UnsupportedOperation("not readable")
        return super().read(*args)

    def write(self, data: Any) -> int:
        """Write as a file does; refused if it was opened for reading only."""
        if not self._writes:
            raise io.UnsupportedOperation("not writable")
        if self._appends:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def flush(self) -> None:
        """Put the content on the disk."""
        if not self.closed and self._writes:
            self._disk.write(self._path, self.getvalue())

    def fileno(self) -> int:
        """Return a number that the patched functions of `os` know."""
        if not self._number:
            self._number = self._disk.describe(self)
        return self._number

    def close(self) -> None:
        """Put the content on the disk and end."""
        self.flush()
        super().close()


class Entry:
    """What `os.scandir` yields."""

    def __init__(self, disk: Disk, name: str, path: str, now: float) -> None:
        self._disk, self.name, self.path, self._now = disk, name, path, now

    def __fspath__(self) -> str:
        return self.path

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a folder."""
        return self.path in self._disk.folders

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Say whether it is a file."""
        return self.path in self._disk.files

    def is_symlink(self) -> bool:
        """Say no: the disk has no links."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its stat."""
        return self._disk.status(self.path, self._now)

    def inode(self) -> int:
        """Return a number."""
        return self.stat().st_ino
