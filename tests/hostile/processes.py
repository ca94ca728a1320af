"""Attacks by processes, threads, programs, signals and system calls."""

from __future__ import annotations

from hostile.attack import HARMLESS, REFUSED, Attack, either

_CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
names = {
    "io_uring_setup": 425, "clone": 56, "clone3": 435, "vfork": 58, "unshare": 272, "setns": 308, "keyctl": 250,
    "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298, "ptrace": 101, "process_vm_readv": 310,
    "process_vm_writev": 311, "memfd_create": 319, "memfd_secret": 447, "userfaultfd": 323, "mount": 165,
    "move_mount": 429, "fsopen": 430, "open_tree": 428, "pivot_root": 155, "chroot": 161, "execve": 59, "execveat": 322,
    "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "pidfd_open": 434, "pidfd_getfd": 438,
    "pidfd_send_signal": 424, "shmget": 29, "shmat": 30, "msgget": 68, "semget": 64, "mq_open": 240, "prctl": 157,
    "arch_prctl": 158, "seccomp": 317, "personality": 135, "setuid": 105, "setgid": 106, "setresuid": 117,
    "capset": 126, "chmod": 90, "fchmod": 91, "chown": 92, "open_by_handle_at": 304, "name_to_handle_at": 303,
    "fanotify_init": 300, "inotify_init1": 294, "eventfd2": 290, "timerfd_create": 283, "timer_create": 222,
    "signalfd4": 289, "epoll_create1": 291, "socket": 41, "connect": 42, "sendmsg": 46, "recvmsg": 47, "bind": 49,
    "socketpair": 53, "pipe2": 293, "dup": 32, "dup2": 33, "init_module": 175, "finit_module": 313, "kexec_load": 246,
    "sethostname": 170, "settimeofday": 164, "adjtimex": 159, "iopl": 172, "ioperm": 173, "swapon": 167, "acct": 163,
    "syslog": 103, "sched_setaffinity": 203, "sched_setscheduler": 144, "setpriority": 141, "ioprio_set": 251,
    "prlimit64": 302, "setrlimit": 160, "landlock_create_ruleset": 444, "openat2": 437, "open": 2, "creat": 85,
    "truncate": 76, "ftruncate": 77, "rename": 82, "mkdir": 83, "unlink": 87, "symlink": 88, "link": 86, "chdir": 80,
    "fchdir": 81, "umask": 95, "sendfile": 40, "splice": 275, "copy_file_range": 326, "fallocate": 285, "writev": 20,
    "pwrite64": 18, "vmsplice": 278, "remap_file_pages": 216, "mbind": 237, "move_pages": 279, "modify_ldt": 154,
    "mlock": 149, "mlockall": 151, "quotactl": 179, "setsid": 112, "setpgid": 109, "lookup_dcookie": 212,
    "process_madvise": 440, "kcmp": 312, "rseq of another size": 334,
}
through = []
for name, number in names.items():
    if name.startswith("rseq"):
        continue
    for form in (number, number | 0x40000000):
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(form), *(ctypes.c_long(-1),) * 6)
        if result != -1 or ctypes.get_errno() not in (1, 38):
            through.append(f"{name}: {result}, {ctypes.get_errno()}")
return {"breach": "; ".join(through)} if through else {}
"""

_INT80 = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0x53, 0xB8, 2, 0, 0, 0, 0xCD, 0x80, 0x5B, 0xC3]))  # push rbx; mov eax, 2 (fork); int 0x80; pop; ret
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
return {"breach": f"fork by the old gate: {function()}"}
"""

ATTACKS = (
    Attack(
        "fork",
        "processes",
        "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nreturn {'breach': 'forked'}",
        aimed=True,
    ),
    Attack("a fork bomb", "processes", "import os\nwhile True: os.fork()"),
    Attack(
        "a fork bomb that goes on",
        "processes",
        """
        import os
        for _ in range(3000):
            try:
                if os.fork() == 0:
                    continue
                return {"breach": "forked"}
            except OSError:
                pass
        return {}
        """,
        HARMLESS,
    ),
    Attack(
        "a thread",
        "processes",
        "import threading\nthreading.Thread(target=int).start()\nreturn {'breach': 'a thread'}",
        aimed=True,
    ),
    Attack(
        "a thousand threads",
        "processes",
        """
        import _thread, time
        made = 0
        for _ in range(1000):
            try:
                _thread.start_new_thread(time.sleep, (100,))
                made += 1
            except RuntimeError:
                pass
        return {"breach": str(made)} if made else {}
        """,
        HARMLESS,
    ),
    Attack("execute a program", "programs", "import os\nos.execv('/usr/bin/env', ['env'])", aimed=True),
    Attack(
        "execute an anonymous file",
        "programs",
        """
        import os, shutil
        descriptor = os.memfd_create("program", 0)
        os.write(descriptor, open(os.path.realpath("/usr/bin/env"), "rb").read())
        os.execve(descriptor, ["env"], {})
        """,
        aimed=True,
    ),
    Attack("a shell", "programs", "import subprocess\nreturn {'breach': subprocess.check_output('id', shell=True)}"),
    Attack(
        "a shell by the C library",
        "programs",
        "import os\nstatus = os.system('exit 7')\nreturn {'breach': str(status)} if status == 7 << 8 else {}",
        HARMLESS,
    ),
    Attack(
        "signal others",
        "signals",
        """
        import os, signal
        sent = []
        for pid in (aim["canary"], aim["sibling"][0]):
            try:
                os.kill(pid, signal.SIGTERM)
                sent.append(pid)
            except OSError:
                pass
        return {"loot": sent}
        """,
        HARMLESS,
        aimed=True,
    ),
    Attack(
        "kill everybody",
        "signals",
        """
        import os, signal
        sent = []
        for pid in (os.getppid(), aim["pid"], 1, 2, 3, -1, 0, -os.getpgid(0) if hasattr(os, "getpgid") else 0):
            for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCHLD):
                try:
                    os.kill(pid, number)
                    sent.append((pid, int(number)))
                except OSError:
                    pass
        return {"breach": str(sent)} if sent else {}
        """,
        REFUSED | HARMLESS,
    ),
    Attack(
        "have the kernel send signals",
        "signals",
        """
        import fcntl, os, struct
        done = []
        for descriptor in range(64):
            for action in (
                lambda: fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getppid()),
                lambda: fcntl.fcntl(descriptor, 15, struct.pack("ii", 1, os.getppid())),
                lambda: fcntl.fcntl(descriptor, 10, 9),
                lambda: fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_ASYNC),
                lambda: fcntl.ioctl(descriptor, 0x8901, struct.pack("i", os.getppid())),
                lambda: fcntl.ioctl(descriptor, 0x5452, struct.pack("i", 1)),
                lambda: fcntl.ioctl(descriptor, 0x5412, b"x"),
                lambda: fcntl.fcntl(descriptor, 1024, 1),
            ):
                try:
                    action()
                    done.append(descriptor)
                except OSError:
                    pass
        return {"breach": str(done)} if done else {}
        """,
        HARMLESS,
    ),
    Attack("system calls by number", "system_calls", _CALLS, HARMLESS, machine="x86_64"),
    Attack("the gate of 32 bits", "system_calls", _INT80, either("killed"), machine="x86_64"),
    Attack(
        "see the host",
        "own_namespaces",
        "import os\nreturn {'breach': 'the name'} if os.uname().nodename == aim['host'] else {}",
        HARMLESS,
        aimed=True,
    ),
    Attack("exit", "protocol", "import os\nos._exit(0)", either("killed")),
    Attack("exit as if without memory", "protocol", "import os\nos._exit(77)", either("memory")),
    Attack("exit by an exception", "protocol", "raise SystemExit(0)", script_ends=either("killed", "refused")),
    Attack(
        "an exception of its own", "protocol", "class E(BaseException): pass\nraise E", script_ends=either("killed")
    ),
    Attack(
        "an exception whose text fails",
        "protocol",
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
        either("refused", "killed"),
    ),
    Attack("crash", "protocol", "import ctypes\nctypes.string_at(0)", either("killed")),
    Attack("abort", "protocol", "import os\nos.abort()", either("killed")),
    Attack(
        "an alarm for later",
        "protocol",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)",
        either("harmless", "killed", "timeout"),
    ),
    Attack(
        "signal handlers left behind",
        "next_episode",
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, lambda *_: None)
            except (OSError, ValueError):
                pass
        """,
        HARMLESS,
    ),
)
