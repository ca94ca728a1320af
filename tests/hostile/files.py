"""Attacks on files: reading what is hidden, writing anything, tricks with links, /proc and descriptors."""

from __future__ import annotations

from hostile.attack import HARMLESS, Attack, either

_WRITES = """
import os
done = []
folder = aim["folder"]
def attempt(name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass
canary = folder + "/canary"
attempt("open", lambda: open(folder + "/new", "w").write("x"))
attempt("append", lambda: open(canary, "a").write("x"))
attempt("create", lambda: os.open(folder + "/made", os.O_CREAT | os.O_RDONLY, 0o600))
attempt("temporary", lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR))
attempt("truncate", lambda: os.truncate(canary, 0))
attempt("rename", lambda: os.rename(canary, folder + "/moved"))
attempt("remove", lambda: os.unlink(canary))
attempt("directory", lambda: os.mkdir(folder + "/directory"))
attempt("link", lambda: os.link(canary, folder + "/link"))
attempt("symlink", lambda: os.symlink(canary, folder + "/symlink"))
attempt("mode", lambda: os.chmod(canary, 0o777))
attempt("owner", lambda: os.chown(canary, 1, 1))
attempt("times", lambda: os.utime(canary, (0, 0)))
attempt("attribute", lambda: os.setxattr(canary, "user.x", b"x"))
attempt("pipe", lambda: os.mkfifo(folder + "/pipe"))
return {"breach": ", ".join(done)} if done else {}
"""

_PLACES = """
import ctypes, os, sys, sysconfig
done = []
places = ["/tmp", "/dev/shm", "/var/tmp", "/run", "/", ".", "/factory", os.path.dirname(os.__file__), sys.prefix,
          sysconfig.get_paths()["purelib"]]
for place in places:
    for name in ("sitecustomize.py", "usercustomize.py", "agentworld_probe_tmp"):
        try:
            with open(os.path.join(place, name), "xb") as file:
                done.append(file.name)
            os.unlink(file.name)
        except OSError:
            pass
libc = ctypes.CDLL(None)
for flags in (os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT | 1 << 32):
    if libc.syscall(257, -100, b"/tmp/agentworld_probe_tmp", ctypes.c_long(flags), 0o600) >= 0:
        done.append("openat")
return {"breach": ", ".join(done)} if done else {}
"""

_TRICKS = """
import os
found = []
for path in ("/usr/../etc/shadow", "/usr/lib/../../etc/shadow", "/proc/self/root/etc/shadow", "/proc/1/root/etc/shadow",
             "/proc/self/cwd/etc/shadow", "/proc/thread-self/root/etc/shadow", "/lib/../etc/shadow", "//etc//shadow",
             "/dev/fd/../../etc/shadow", "/dev/null/../../etc/shadow", "etc/shadow", "../../../../etc/shadow"):
    try:
        found.append(f"{path}: {len(open(path).read())} bytes")
    except OSError:
        pass
for start in ("/", "/usr", "/proc/self/root"):
    try:
        descriptor = os.open(start, os.O_PATH | os.O_DIRECTORY)
        os.open("../etc/shadow" if start == "/usr" else "etc/shadow", os.O_RDONLY, dir_fd=descriptor)
        found.append(f"beneath {start}")
    except OSError:
        pass
return {"breach": "; ".join(found)} if found else {}
"""

_PROC = """
import os
found = []
for who in ("self", "1", "2", str(os.getpid()), str(os.getppid()), str(aim["pid"]), str(aim["canary"])):
    for what in ("environ", "maps", "mem", "cmdline", "stat", "root/etc/hostname", "cwd", "fd", "task", "ns/net"):
        path = f"/proc/{who}/{what}"
        try:
            os.listdir(path) if what in ("fd", "task", "cwd") else open(path, "rb").read(1)
            found.append(path)
        except OSError:
            pass
for path in ("/proc/kcore", "/proc/kallsyms", "/proc/sys/kernel/core_pattern", "/proc/mounts", "/proc/cpuinfo",
             "/sys/kernel", "/sys/fs/cgroup", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/ptmx", "/dev/fuse", "/dev/kvm",
             "/run/docker.sock", "/var/run/docker.sock"):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        found.append(path)
    except OSError:
        pass
return {"breach": "; ".join(found[:20])} if found else {}
"""

_DESCRIPTORS = """
import os, stat
kinds = {}
for descriptor in range(256):
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        continue
    kinds[descriptor] = "socket" if stat.S_ISSOCK(mode) else "device" if stat.S_ISCHR(mode) else "other"
sockets = [d for d, kind in kinds.items() if kind == "socket"]
if "other" in kinds.values() or len(sockets) != 1:
    return {"breach": str(kinds)}
return {"loot": kinds}
"""

ATTACKS = (
    Attack("read the password file", "files_hidden", "return {'breach': f\"{len(open('/etc/shadow').read())} bytes\"}"),
    Attack("read a file outside", "files_hidden", "return {'loot': open(aim['secret_file']).read()}", aimed=True),
    Attack(
        "read a file outside in C",
        "files_hidden",
        """
        import mmap, os, sqlite3
        connection = sqlite3.connect(f"file:{aim['database']}?mode=ro&immutable=1", uri=True)
        return {"loot": connection.execute("SELECT x FROM t").fetchall()}
        """,
        aimed=True,
    ),
    Attack(
        "read the factory's sources",
        "files_hidden",
        """
        import os, sys
        sys.path[:0] = [aim["repository"], aim["site_packages"]]
        import schemas.task, pydantic
        return {"breach": schemas.task.__file__}
        """,
    ),
    Attack(
        "list the home directory",
        "home_hidden",
        """
        import os, sys
        ours = [name for name in os.listdir(aim["home"]) if not sys.base_prefix.startswith(aim["home"] + "/" + name)]
        return {"breach": f"{len(ours)} names"} if ours else {}
        """,
        either("refused", "harmless"),
        aimed=True,
    ),
    Attack(
        "list all homes",
        "home_hidden",
        """
        import glob, os, sys
        found = [path for pattern in ("/root/*", "/root/.*", "/home/*", "/home/*/.*", os.path.expanduser("~/*"))
                 for path in glob.glob(pattern) if not sys.base_prefix.startswith(path)]
        return {"breach": str(len(found))} if found else {}
        """,
        HARMLESS,
    ),
    Attack(
        "see what files there are",
        "metadata_hidden",
        "import os\nreturn {'breach': f\"{os.stat(aim['secret_file']).st_size} bytes\"}",
        aimed=True,
    ),
    Attack("reach hidden files by tricks", "files_hidden", _TRICKS, HARMLESS),
    Attack("look through proc and devices", "files_hidden", _PROC, HARMLESS),
    Attack("alter a folder outside", "files_read_only", _WRITES, HARMLESS, aimed=True),
    Attack("write wherever one may", "files_read_only", _PLACES, HARMLESS),
    Attack(
        "a file of 10 GB",
        "files_read_only",
        """
        import os
        done = []
        for place in (aim["folder"], "/tmp", "/dev/shm", "/var/tmp", "."):
            try:
                descriptor = os.open(place + "/agentworld_big", os.O_RDWR | os.O_CREAT)
                os.posix_fallocate(descriptor, 0, 10 << 30)
                done.append(place)
            except OSError:
                pass
        return {"breach": str(done)} if done else {}
        """,
        HARMLESS,
    ),
    Attack(
        "a file in memory",
        "system_calls",
        "import os\nreturn {'breach': f\"anonymous file {os.memfd_create('x')}\"}",
        aimed=True,
    ),
    Attack(
        "shared memory",
        "files_read_only",
        """
        from multiprocessing import shared_memory
        return {"breach": shared_memory.SharedMemory(create=True, size=9).name}
        """,
    ),
    Attack("use inherited descriptors", "inheritance", _DESCRIPTORS, HARMLESS, aimed=True),
    Attack(
        "read the variables and arguments",
        "inheritance",
        "import os, sys\nreturn {'loot': [dict(os.environ), sys.argv, sys.orig_argv, sys.path, sys.flags.__repr__()]}",
        HARMLESS,
        aimed=True,
    ),
    Attack(
        "a pickle in a document",
        "files_read_only",
        "import base64, pickle\npickle.loads(base64.b64decode(ctx.documents.read('pickle')))",
        script="import base64, pickle\npickle.loads(base64.b64decode(call('read', name='pickle')['content']))",
    ),
)
