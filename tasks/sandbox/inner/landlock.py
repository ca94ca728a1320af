"""Landlock: a process gives up, for itself and its children, all files but some that it may read.

Used where bubblewrap does not work; it needs no privilege and Linux 5.13. Numbers are those of linux/landlock.h, the
system calls are the same on every architecture.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG, _BENEATH = 1, 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
_ALL = (1 << 13) - 1  # every access that the first version knows
_PR_SET_NO_NEW_PRIVS = 38


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def supported() -> bool:
    """Say whether the kernel offers Landlock."""
    return _libc().syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG) > 0


def read_only(paths: Sequence[str]) -> None:
    """From now on only files beneath these paths can be opened, and only to read.

    Raises:
        OSError: if the kernel refuses.
    """
    libc = _libc()
    attribute = ctypes.create_string_buffer(struct.pack("=Q", _ALL), 8)
    rules = libc.syscall(_CREATE, attribute, ctypes.c_size_t(8), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "the kernel offers no Landlock")
    for path in paths:
        if not os.path.exists(path):
            continue
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        access = _READ_FILE | (_READ_DIRECTORY if os.path.isdir(path) else 0)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access, descriptor), 12)
        failed = libc.syscall(_ADD, rules, _BENEATH, rule, 0)
        os.close(descriptor)
        if failed:
            raise OSError(ctypes.get_errno(), f"Landlock refuses the rule for {path}")
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(_RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "the kernel refuses Landlock")
    os.close(rules)
