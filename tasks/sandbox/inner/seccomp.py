"""A filter of system calls, assembled by hand: what is not listed fails with EPERM.

It leaves a process that has its socket and its memory what Python needs to compute and to import, and nothing to reach
others with: no new process or thread, no program, no socket, no signal, no writing of files, no tracing. The form of
the program is that of the kernel's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import platform
import struct

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050001  # the last: SECCOMP_RET_ERRNO with EPERM
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2

# Both lists name, in this order: recvfrom sendto read write close fstat newfstatat lseek mmap munmap mprotect mremap
# madvise brk futex getrandom rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack setitimer getitimer clock_gettime
# clock_getres clock_nanosleep nanosleep gettimeofday exit exit_group restart_syscall sched_yield sched_getaffinity
# getrusage times getpid gettid getppid getuid geteuid getgid getegid getcwd uname sysinfo getdents64 readlinkat
# faccessat faccessat2 statx pread64 ppoll pselect6 set_robust_list rseq membarrier set_tid_address
_X86_64 = {
    "numbers": (
        45, 44, 0, 1, 3, 5, 262, 8, 9, 11, 10, 25, 28, 12, 202, 318, 13, 14, 15, 131, 38, 36, 228, 229, 230, 35, 96,
        60, 231, 219, 24, 204, 98, 100, 39, 186, 110, 102, 107, 104, 108, 79, 63, 99, 217, 267, 269, 439, 332, 17,
        271, 270, 273, 334, 324, 218,
        4, 6, 7, 21, 23, 89, 201,  # stat lstat poll access select readlink time
    ),
    "openat": 257, "ioctl": 16, "fcntl": 72, "audit": 0xC000003E,
}  # fmt: skip
_AARCH64 = {
    "numbers": (
        207, 206, 63, 64, 57, 80, 79, 62, 222, 215, 226, 216, 233, 214, 98, 278, 134, 135, 139, 132, 103, 102, 113,
        114, 115, 101, 169, 93, 94, 128, 124, 123, 165, 153, 172, 178, 173, 174, 175, 176, 177, 17, 160, 179, 61, 78,
        48, 439, 291, 67, 73, 72, 99, 293, 283, 96,
    ),
    "openat": 56, "ioctl": 29, "fcntl": 25, "audit": 0xC00000B7,
}  # fmt: skip
_MACHINES = {"x86_64": _X86_64, "aarch64": _AARCH64}
_WRITING = 0x1 | 0x2 | 0x40 | 0x200  # O_WRONLY O_RDWR O_CREAT O_TRUNC
_IOCTLS = (0x5401, 0x5451, 0x5450, 0x5421)  # TCGETS FIOCLEX FIONCLEX FIONBIO; others could have signals sent
_FCNTLS = (1, 2, 3, 1030)  # F_GETFD F_SETFD F_GETFL F_DUPFD_CLOEXEC; F_SETOWN could have signals sent


def supported() -> bool:
    """Say whether the filter knows this machine's system call numbers."""
    return platform.machine() in _MACHINES and struct.pack("=H", 1) == b"\1\0"


def _instruction(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def program(machine: str) -> bytes:
    """Return the filter's instructions for a machine ("x86_64" or "aarch64").

    Raises:
        KeyError: for another machine.
    """
    table = _MACHINES[machine]
    allow, refuse = _instruction(_RETURN, 0, 0, _ALLOW), _instruction(_RETURN, 0, 0, _REFUSE)
    code = [
        _instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _instruction(_EQUAL, 1, 0, table["audit"]),
        _instruction(_RETURN, 0, 0, _KILL),
        _instruction(_LOAD, 0, 0, _NUMBER),
    ]
    for number in table["numbers"]:
        code += [_instruction(_EQUAL, 0, 1, number), allow]
    code += [
        _instruction(_EQUAL, 0, 4, table["openat"]),
        _instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * 2),
        _instruction(_ANY_BIT, 0, 1, _WRITING),
        refuse,
        allow,
    ]
    for name, values in (("ioctl", _IOCTLS), ("fcntl", _FCNTLS)):
        code += [
            _instruction(_EQUAL, 0, 2 * len(values) + 2, table[name]),
            _instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * 1),
        ]
        for value in values:
            code += [_instruction(_EQUAL, 0, 1, value), allow]
        code.append(refuse)
    return b"".join([*code, refuse])


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class Filter:
    """The filter, ready to be installed; made once, before the forks."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        text = program(platform.machine())
        self._buffer = ctypes.create_string_buffer(text, len(text))
        self._program = _Program(len(text) // 8, ctypes.addressof(self._buffer))

    def install(self) -> None:
        """Apply the filter to this process for good.

        Raises:
            OSError: if the kernel refuses.
        """
        no_more = self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if no_more or self._libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(self._program), 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel refuses the filter of system calls")
