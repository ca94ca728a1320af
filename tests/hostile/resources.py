"""Attacks on time, memory and output."""

from __future__ import annotations

from hostile.attack import HARMLESS, Attack, either

_NO_MEMORY = either("memory")

ATTACKS = (
    Attack("compute for ever", "wall_time", "while True: pass", either("timeout")),
    Attack(
        "compute for ever and catch everything",
        "wall_time",
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            try:
                while True: pass
            except BaseException:
                pass
        """,
        either("timeout"),
    ),
    Attack("sleep for ever", "wall_time", "import time\ntime.sleep(10**6)", either("timeout")),
    Attack(
        "wait for ever",
        "wall_time",
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        either("timeout"),
    ),
    Attack(
        "a regular expression that backtracks",
        "wall_time",
        "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
        either("timeout"),
    ),
    Attack(
        "huge numbers",
        "wall_time",
        "import sys\nsys.set_int_max_str_digits(0)\nreturn {'x': len(str(7 ** 10**7))}",
        either("timeout", "memory"),
    ),
    Attack("huge numbers as text", "wall_time", "return {'x': str(10 ** 5000)}"),
    Attack("memory piece by piece", "memory", "x = []\nwhile True: x.append(bytearray(2 * 10**7))", _NO_MEMORY),
    Attack("memory at once", "memory", "bytearray(10**12)", _NO_MEMORY),
    Attack(
        "memory in spite of errors",
        "memory",
        """
        x = []
        for size in (10**8, 10**7, 10**6, 10**5):
            try:
                while True: x.append(bytearray(size))
            except MemoryError:
                pass
        raise MemoryError
        """,
        _NO_MEMORY,
    ),
    Attack(
        "memory by mapping",
        "memory",
        "import mmap\nx = [mmap.mmap(-1, 10**9) for _ in range(100)]",
        either("refused", "memory"),
    ),
    Attack(
        "raise the limits",
        "memory",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        return {"breach": "the limit of memory is raised"}
        """,
        aimed=True,
    ),
    Attack(
        "raise the limit of CPU time",
        "cpu",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))
        return {"breach": "the limit of CPU time is raised"}
        """,
        aimed=True,
    ),
    Attack(
        "a compressed bomb in a document",
        "memory",
        """
        import base64, zlib
        small = base64.b64decode(ctx.documents.read("bomb"))
        return {"x": len(zlib.decompress(zlib.decompress(small, -15), -15))}
        """,
        _NO_MEMORY,
        script="""
        import base64, zlib
        small = base64.b64decode(call("read", name="bomb")["content"])
        return {"x": len(zlib.decompress(zlib.decompress(small, -15), -15))}
        """,
    ),
    Attack(
        "a bomb of entities",
        "memory",
        """
        import xml.dom.minidom
        entities = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
        xml.dom.minidom.parseString(f"<!DOCTYPE x [{entities}]><x>&a11;</x>")
        """,
        either("refused", "memory", "timeout"),
    ),
    Attack("recursion", "memory", "def f(): return f()\nf()"),
    Attack(
        "recursion without a limit",
        "memory",
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        either("memory", "killed", "timeout"),
    ),
    Attack(
        "recursion in C",
        "memory",
        "import sys\nsys.setrecursionlimit(10**9)\nx = ()\nfor _ in range(10**6): x = (x,)\nrepr(x)",
        either("memory", "killed", "timeout"),
    ),
    Attack("a long result", "output", "return {'x': 'a' * 300_000}", either("output")),
    Attack(
        "a result that grows as it is written",
        "output",
        "x = ['lol']\nfor _ in range(12): x = [x] * 10\nreturn {'x': x}",
        either("memory", "timeout", "output"),
    ),
    Attack(
        "endless printing",
        "output",
        """
        import os, sys
        for _ in range(2000):
            for descriptor in (1, 2):
                os.write(descriptor, b"x" * 4096)
            print("y" * 4096)
            print("z" * 4096, file=sys.stderr)
        """,
        HARMLESS,
    ),
    Attack("printing without an end", "output", "while True: print('y' * 4096)", either("timeout")),
    Attack("a result that is no JSON", "data_only", "return {'x': object()}"),
    Attack("a result that is not a number", "data_only", "return {'x': float('nan')}"),
    Attack(
        "a result that is a lone surrogate",
        "data_only",
        "return {'x': '\\ud800'}",
        script_ends=either("refused", "killed", "protocol"),
    ),
    Attack(
        "a result that is too deep",
        "data_only",
        "x = []\nfor _ in range(200): x = [x]\nreturn {'x': x}",
        either("protocol"),
    ),
    Attack("a result that is far too deep", "data_only", "x = []\nfor _ in range(10**5): x = [x]\nreturn {'x': x}"),
    Attack("a result that holds itself", "data_only", "x = {}\nx['x'] = x\nreturn x"),
    Attack("a number of many digits", "data_only", "return {'x': 10 ** 4000}", either("protocol")),
    Attack("no result", "data_only", "return None"),
    Attack(
        "a result of a class of its own",
        "data_only",
        "class D(dict):\n    def __reduce__(self): raise SystemExit\n    def items(self): return [('x', 1)] * 3\n"
        "return D(a=D())",
        either("harmless", "refused"),
    ),
)
