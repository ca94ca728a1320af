"""Lead the standard functions that open files to the private disk, for paths that lie on it."""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

from tasks.environment.runtime.files.disk import Disk, VirtualFile

_real_open = io.open


def _opened(disk: Disk, file: Any, mode: str, opener: Any) -> VirtualFile | None:
    """Return the open file if it lies on the disk, else None."""
    binary = "".join(letter for letter in mode if letter not in "tU") + ("" if "b" in mode else "b")
    if isinstance(file, int):
        return disk.descriptors.get(file)
    path = disk.resolve(file)
    if path is None:
        return None
    if opener is not None:
        flags = os.O_RDWR | os.O_CREAT if set(mode) & set("wax+") else os.O_RDONLY
        return disk.descriptors.get(opener(path, flags))
    return disk.open(path, binary)


def _open_function(disk: Disk) -> Callable[..., Any]:
    def open(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        found = _opened(disk, file, mode, opener)
        if found is None:
            return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if "b" in mode:
            return found
        text = io.TextIOWrapper(found, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)
        text.mode = mode
        return text

    return open


def _by_path(disk: Disk, name: str, virtual: Callable[..., Any]) -> None:
    """Patch a function of `os` whose first argument is a path."""
    real = getattr(os, name)

    def call(path: Any = ".", *args: Any, **more: Any) -> Any:
        found = disk.resolve(path)
        return real(path, *args, **more) if found is None else virtual(found, *args, **more)

    setattr(os, name, call)


def _by_two(disk: Disk, name: str) -> None:
    real = getattr(os, name)

    def call(source: Any, target: Any, **more: Any) -> None:
        first, second = disk.resolve(source), disk.resolve(target)
        if first is None or second is None:
            real(source, target, **more)
        else:
            disk.rename(first, second)

    setattr(os, name, call)


def _by_descriptor(disk: Disk, name: str, virtual: Callable[..., Any]) -> None:
    """Patch a function of `os` whose first argument is a descriptor."""
    real = getattr(os, name)

    def call(descriptor: Any, *args: Any, **more: Any) -> Any:
        number = descriptor.fileno() if hasattr(descriptor, "fileno") else descriptor
        file = disk.descriptors.get(number)
        return real(descriptor, *args, **more) if file is None else virtual(file, *args, **more)

    setattr(os, name, call)


def _mode_of(flags: int) -> str:
    if flags & os.O_EXCL and flags & os.O_CREAT:
        return "x+b"
    if flags & os.O_APPEND:
        return "a+b"
    if flags & os.O_TRUNC:
        return "w+b"
    return "r+b" if flags & (os.O_RDWR | os.O_WRONLY) else "rb"


def _open_descriptor(disk: Disk, path: str, flags: int, mode: int = 0o777, **more: Any) -> int:
    if flags & os.O_CREAT and not flags & os.O_EXCL and path not in disk.files:
        disk.open(path, "wb").close()
    return disk.open(path, _mode_of(flags)).fileno()


def _make_folder(disk: Disk, path: str) -> None:
    if path in disk.folders or path in disk.files:
        raise FileExistsError(17, "File exists", path)
    disk.require_folder(path)
    disk.folders.add(path)


def _remove_folder(disk: Disk, path: str) -> None:
    if disk.names(path):
        raise OSError(39, "Directory not empty", path)
    disk.folders.discard(path)


def _accessible(disk: Disk, path: str) -> bool:
    return path in disk.files or path in disk.folders


def _no_link(path: str, *args: Any, **more: Any) -> str:
    raise OSError(22, "Invalid argument", path)


class _Scan(contextlib.AbstractContextManager[Any]):
    def __init__(self, entries: Any) -> None:
        self._entries = entries

    def __iter__(self) -> Any:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __exit__(self, *args: Any) -> None:
        self.close()

    def close(self) -> None:
        """End the listing."""


def install(disk: Disk, now: Callable[[], float]) -> None:
    """Patch this process: from now on, paths below `/app` and `/tmp` are on the disk. `now` is the frozen time.

    Only what the standard library opens through Python is led there; C code that opens files by itself is not, and
    finds nothing. Sleeping ends at once, since the clock stands still.
    """
    opening = _open_function(disk)
    builtins.open = io.open = sys.modules["_io"].open = opening
    _by_path(disk, "stat", lambda path, **more: disk.status(path, now()))
    _by_path(disk, "lstat", lambda path, **more: disk.status(path, now()))
    _by_path(disk, "listdir", disk.names)
    _by_path(disk, "scandir", lambda path: _Scan(disk.entries(path, now())))
    _by_path(disk, "mkdir", lambda path, *args, **more: _make_folder(disk, path))
    _by_path(disk, "rmdir", lambda path, **more: _remove_folder(disk, path))
    _by_path(disk, "unlink", lambda path, **more: disk.remove(path))
    _by_path(disk, "remove", lambda path, **more: disk.remove(path))
    _by_path(disk, "access", lambda path, *args, **more: _accessible(disk, path))
    _by_path(disk, "open", lambda path, *args, **more: _open_descriptor(disk, path, *args, **more))
    _by_path(disk, "readlink", _no_link)
    for name in ("utime", "chmod", "chown"):
        _by_path(disk, name, lambda path, *args, **more: None)
    for name in ("rename", "replace"):
        _by_two(disk, name)
    _by_descriptor(disk, "fsync", lambda file: file.flush())
    _by_descriptor(disk, "fdatasync", lambda file: file.flush())
    _by_descriptor(disk, "close", lambda file: file.close())
    _by_descriptor(disk, "write", lambda file, data: file.write(data))
    _by_descriptor(disk, "read", lambda file, size: file.read(size))
    _by_descriptor(disk, "fstat", lambda file: disk.status(file.path, now()))
    os.fdopen = lambda descriptor, *args, **more: opening(descriptor, *args, **more)
    os.getcwd = lambda: disk.root
    os.environ["MCP_DB_DIR"] = disk.root
    os.environ["TMPDIR"] = "/tmp"
    shutil._USE_CP_SENDFILE = False
    time.sleep = lambda seconds: None
    _patch_locks(disk)


def _patch_locks(disk: Disk) -> None:
    """Let locks on files of the disk succeed: no other process could hold them."""
    with contextlib.suppress(ImportError):
        import fcntl

        for name in ("flock", "lockf"):
            real = getattr(fcntl, name)

            def lock(file: Any, *args: Any, real: Callable[..., Any] = real) -> None:
                number = file.fileno() if hasattr(file, "fileno") else file
                if number not in disk.descriptors:
                    real(file, *args)

            setattr(fcntl, name, lock)
