"""Attacks on the next episode: what is patched, registered or left behind in this one must die with it."""

from __future__ import annotations

from hostile.attack import Attack, either

_BROKEN = either("harmless", "refused", "killed", "protocol", "timeout", "memory", "state")
"""Whoever patches what answers for him may well break his own episode, in one way or another."""


def _patch(name: str, code: str) -> Attack:
    return Attack(name, "next_episode", code, _BROKEN)


ATTACKS = (
    _patch(
        "patch json and sqlite3",
        """
        import json, sqlite3
        json.dumps = json.loads = json.JSONEncoder = json.JSONDecoder = lambda *a, **k: '{"orders": 0}'
        json.encoder.c_make_encoder = json.decoder.scanstring = None
        sqlite3.connect = sqlite3.Connection = lambda *a, **k: None
        sqlite3.register_adapter(str, lambda value: "patched")
        sqlite3.register_converter("TEXT", lambda value: "patched")
        """,
    ),
    _patch(
        "patch the builtins",
        """
        import builtins
        builtins.len = lambda x: 0
        builtins.isinstance = lambda *a: True
        builtins.dict = builtins.str = None
        builtins.__import__ = lambda *a, **k: None
        builtins.open = builtins.print = builtins.Exception = builtins.BaseException = None
        """,
    ),
    _patch(
        "patch the clock and chance",
        """
        import datetime, os, random, secrets, time, uuid
        for name in dir(time):
            if not name.startswith("_") and callable(getattr(time, name)):
                setattr(time, name, lambda *a: 0.0)
        os.urandom = lambda n: bytes(n)
        random.seed(1)
        for name in ("random", "choice", "randint", "Random", "seed", "getrandbits"):
            setattr(random, name, lambda *a, **k: 0)
        uuid.uuid4 = lambda: "0"
        datetime.datetime = datetime.date = None
        """,
    ),
    _patch(
        "patch the engine",
        """
        import sys
        for name, module in list(sys.modules.items()):
            if name.startswith("tasks."):
                for key, value in list(vars(module).items()):
                    if isinstance(value, type):
                        for method in [m for m in vars(value) if not m.startswith("__")]:
                            try:
                                setattr(value, method, lambda *a, **k: {"orders": 0})
                            except (AttributeError, TypeError):
                                pass
                    elif callable(value):
                        setattr(module, key, lambda *a, **k: "{}")
        """,
    ),
    _patch(
        "put false modules in the verifier's place",
        """
        import sys, types
        false = types.ModuleType("false")
        false.verify = false.equal_answers = false.difference = lambda *a, **k: True
        for name in ("schemas", "schemas.task", "tasks.environment.verify", "tasks.environment.difference",
                     "tasks.environment.matching", "tasks.rollout", "json", "sqlite3", "random", "hashlib"):
            sys.modules[name] = false
        """,
    ),
    Attack(
        "import the verifier",
        "inheritance",
        "import tasks.environment.verify as v\nv.equal_answers = lambda *a: True\nreturn {'breach': v.__file__}",
    ),
    _patch(
        "hook the imports",
        """
        import sys
        class Finder:
            def find_spec(self, name, path=None, target=None):
                raise SystemExit
        sys.meta_path.insert(0, Finder())
        sys.path_hooks.insert(0, lambda path: Finder())
        sys.path.insert(0, "/tmp")
        sys.path_importer_cache.clear()
        sys.dont_write_bytecode = False
        """,
    ),
    _patch(
        "leave callbacks behind",
        """
        import atexit, gc, os, sys, weakref
        def act(*_):
            os.write(2, b"x")
            open(aim["folder"] + "/late", "w").write("x")
        class Late:
            def __del__(self):
                act()
        atexit.register(act)
        keep = Late()
        sys.kept = [keep, Late(), weakref.finalize(keep, act), weakref.ref(keep, act)]
        cycle = Late()
        cycle.me = cycle
        gc.callbacks.append(lambda phase, info: None)
        gc.set_threshold(1)
        """,
    ),
    _patch(
        "trace all that follows",
        """
        import sys, threading
        def spy(frame, event, arg):
            for name, value in list(frame.f_locals.items()):
                if isinstance(value, dict):
                    value.pop("orders", None)
            return spy
        sys.setprofile(spy)
        threading.settrace(spy)
        sys.addaudithook(lambda event, args: None)
        sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *a: None
        sys.settrace(spy)
        """,
    ),
    _patch(
        "change the process",
        """
        import codecs, decimal, gc, os, resource, signal, sys, warnings
        os.environ["PYTHONHASHSEED"] = os.environ["LD_PRELOAD"] = os.environ["TZ"] = "x"
        decimal.getcontext().prec = 1
        codecs.register(lambda name: None)
        warnings.simplefilter("error")
        sys.setrecursionlimit(60)
        sys.setswitchinterval(100)
        gc.disable()
        for action in (lambda: os.chdir("/usr"), lambda: os.umask(0o777), lambda: os.nice(19),
                       lambda: os.sched_setaffinity(0, {0}), lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1, 1)),
                       lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))):
            try:
                action()
            except (OSError, ValueError):
                pass
        """,
    ),
    _patch(
        "overwrite constants in memory",
        """
        import ctypes, math
        ctypes.memmove(id(math.pi) + 16, id(3.0) + 16, 8)
        ctypes.memmove(id(60) + 24, id(59) + 24, 4)
        ctypes.memset(id("orders") + 48, 120, 6)
        """,
    ),
    Attack(
        "find the engine by its frames",
        "next_episode",
        """
        import sqlite3, sys
        frame, found = sys._getframe(), {}
        while frame is not None:
            engine = frame.f_locals.get("self")
            if isinstance(getattr(engine, "_connection", None), sqlite3.Connection):
                found = {name: value for name, value in vars(engine).items() if isinstance(value, str)}
                connection = engine._connection
            frame = frame.f_back
        connection.set_authorizer(None)
        for value in found.values():
            if value.startswith(("ROLLBACK", "RELEASE")):
                try:
                    connection.execute(value)
                except sqlite3.Error:
                    pass
        connection.execute("DELETE FROM orders")
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        """,
        _BROKEN,
        script="",
    ),
    Attack(
        "return a forged state",
        "data_only",
        """
        import sys
        engine = next(m for n, m in sys.modules.items() if n.endswith("runtime.engine")).Engine
        engine.state = lambda self: b"SQLite format 3\\0" + bytes(range(256)) * 100
        ctx.db.execute("UPDATE products SET stock = stock + 1")
        """,
        either("state"),
        script="",
    ),
    Attack(
        "write a number that JSON cannot hold",
        "data_only",
        "ctx.db.execute('UPDATE products SET price = 9e999')",
        either("state"),
        script="",
    ),
)
