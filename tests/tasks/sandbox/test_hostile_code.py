"""Hostile tools and scripts in the real sandbox: each gets its outcome, and the next episode works."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from worlds import ENV_ID, START_TIME, shop_snapshot

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.sandbox import Limits, SandboxError, SandboxWorker

LIMITS = Limits(wall_s=0.7, cpu_s=2, memory_bytes=160 * 1024 * 1024, output_bytes=20_000)
SNAPSHOT = shop_snapshot()
CHECKS = "def check(ctx) -> dict:\n    return {'orders': ctx.db.value('SELECT count(*) FROM orders')}\n"


def image(body: str) -> EnvironmentImage:
    """Return the shop with a hostile tool `attack` beside the harmless `check`."""
    indented = "\n".join("    " + line for line in body.strip().splitlines())
    source = f"def attack(ctx) -> dict:\n{indented}\n    return {{'survived': True}}\n"
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    return EnvironmentImage(
        ENV_ID,
        SNAPSHOT,
        {"attack": source, "check": CHECKS},
        {"attack": schema, "check": schema},
        start_time=START_TIME,
    )


@pytest.fixture(scope="module")
def worker():
    with SandboxWorker(LIMITS) as made:
        yield made


@pytest.fixture(autouse=True)
def next_episode_works(worker):
    yield
    with worker.episode() as episode:
        assert episode.call("check", {}) == {"orders": 60}
        assert episode.changes() == ()


def attack(worker: SandboxWorker, body: str) -> dict:
    worker.load(image(body))
    with worker.episode() as episode:
        return episode.call("attack", {})


FATAL = {
    "infinite loop": ("while True: pass", {"timeout"}),
    "endless loop that catches everything": (
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        {"timeout"},
    ),
    "sleeping for ever": ("import time\ntime.sleep(10**6)", {"timeout"}),
    "memory hog": ("x = []\nwhile True: x.append(bytearray(5 * 10**7))", {"memory"}),
    "exit": ("import os\nos._exit(0)", {"killed"}),
    "killing itself": ("import ctypes\nctypes.string_at(0)", {"killed"}),
    "long output": ("return {'x': 'a' * 100_000}", {"output"}),
    "closing all descriptors": ("import os\nos.closerange(0, 1024)", {"killed"}),
}


@pytest.mark.parametrize("name", FATAL)
def test_fatal_code_ends_its_episode_only(worker, name):
    body, outcomes = FATAL[name]
    begin = time.monotonic()
    with pytest.raises(SandboxError) as caught:
        attack(worker, body)
    assert caught.value.outcome in outcomes
    assert time.monotonic() - begin < 5


REFUSED = {
    "fork": "import os\nos.fork()",
    "fork bomb": "import os\nwhile True: os.fork()",
    "thread": "import threading\nthreading.Thread(target=print).start()",
    "program": "import os\nos.execv('/usr/bin/env', ['env'])",
    "subprocess": "import subprocess\nsubprocess.run(['/usr/bin/env'])",
    "socket": "import socket\nsocket.socket()",
    "killing the zygote": "import os, signal\nos.kill(2, signal.SIGKILL)",
    "killing all": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "signals by descriptor": "import fcntl, os\nfor fd in range(32):\n    fcntl.fcntl(fd, fcntl.F_SETOWN, 2)",
    "shadow": "open('/etc/shadow').read()",
    "passwords": "open('/etc/passwd').read()",
    "home": f"import os\nos.listdir({str(Path.home() / '.ssh')!r})",
    "writing a file": "open('/tmp/big', 'wb').write(b'x')",
    "writing to shared memory": "open('/dev/shm/big', 'wb').write(b'x')",
    "writing to the library": "import os\nopen(os.__file__, 'a').write('import this')",
    "other processes' memory": "open('/proc/2/mem', 'rb').read()",
    "anonymous file": "import os\nos.memfd_create('x')",
    "mount": "import ctypes\nif ctypes.CDLL(None, use_errno=True).mount(b'/', b'/', None, 0, None) == 0: return {}\n"
             "raise OSError(ctypes.get_errno(), 'refused')",
    "factory's modules": "import schemas.task",
    "attach": "ctx.db.execute(\"ATTACH '/tmp/x.db' AS other\")",
    "vacuum into": "ctx.db.execute(\"VACUUM INTO '/tmp/x.db'\")",
    "pragma": "ctx.db.execute('PRAGMA foreign_keys = OFF')",
    "drop": "ctx.db.execute('DROP TABLE orders')",
    "commit": "ctx.db.execute('COMMIT')",
    "rollback": "ctx.db.execute('ROLLBACK')",
    "savepoint": "ctx.db.execute('SAVEPOINT mine')",
    "trigger": "ctx.db.execute('CREATE TRIGGER t AFTER DELETE ON orders BEGIN DELETE FROM products; END')",
    "extension": "ctx.db.value(\"SELECT load_extension('/tmp/x.so')\")",
    "raising the limits": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "exiting by exception": "raise SystemExit",
    "no result": "return None",
    "no JSON": "return {'x': object()}",
    "not a number": "return {'x': float('nan')}",
    "deep recursion": "def f(): return f()\nf()",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_forbidden_code_crashes_its_call_only(worker, name):
    observation = attack(worker, REFUSED[name])
    assert observation["error"]["code"] == "TOOL_CRASHED", observation


def test_an_endless_query_is_stopped():
    query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with SandboxWorker(Limits(wall_s=20)) as worker:
        observation = attack(worker, f"ctx.db.value('{query}')")
    assert "interrupted" in observation["error"]["message"]


def test_exhausted_cpu_time_is_told_as_such():
    with SandboxWorker(Limits(wall_s=20, cpu_s=0.5)) as worker, pytest.raises(SandboxError) as caught:
        attack(worker, "while True: pass")
    assert caught.value.outcome == "timeout" and "CPU" in str(caught.value)


def test_flooding_the_standard_streams_disturbs_nothing(worker):
    flood = "import os\nfor fd in (1, 2):\n    for _ in range(2000):\n        os.write(fd, b'x' * 4096)\n"
    assert attack(worker, flood + "print('y' * 10**6)") == {"survived": True}


def test_patched_modules_die_with_their_episode(worker):
    body = (
        "import json, sqlite3, sys, builtins\njson.dumps = json.loads = sqlite3.connect = None\n"
        "builtins.len = lambda x: 0\nsys.modules['random'] = None\nctx.db.execute('DELETE FROM orders')"
    )
    worker.load(image(body))
    with worker.episode() as episode, worker.episode() as other:
        with contextlib.suppress(SandboxError):  # it may well break its own process
            episode.call("attack", {})
        assert other.call("check", {}) == {"orders": 60}


FORGERY = """
import gc, socket, struct
for sock in [o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0]:
    text = b'["000000000000","ok",{"forged":true}]'
    sock.sendall(struct.pack("<II", len(text), 0) + text)
"""


def test_a_forged_answer_is_no_answer(worker):
    worker.load(image(FORGERY))
    with worker.episode() as episode:
        with pytest.raises(SandboxError) as caught:
            episode.call("attack", {})
        assert caught.value.outcome == "protocol"
        with pytest.raises(SandboxError):
            episode.call("check", {})


def test_a_broken_state_is_told(worker):
    body = """
import gc, sqlite3
from tasks.environment.runtime.engine import Engine
Engine.state = lambda self: b"not a database" * 100
ctx.db.execute("DELETE FROM orders WHERE 0")
ctx.db.execute("UPDATE products SET stock = stock")
"""
    worker.load(replace(image(body), foreign=True))
    with worker.episode() as episode:
        episode.call("attack", {})
        with pytest.raises(SandboxError) as caught:
            episode.changes()
        assert caught.value.outcome == "state"


SCRIPTS = {
    "infinite loop": ("def solve(call):\n    while True: pass", "timeout"),
    "exit": ("import os\nos._exit(3)", "killed"),
    "memory": ("def solve(call):\n    x = []\n    while True: x.append(bytearray(5 * 10**7))", "memory"),
    "fork": ("import os\ndef solve(call):\n    os.fork()", "PermissionError"),
    "socket": ("import socket\ndef solve(call):\n    socket.socket()", "PermissionError"),
    "files": ("def solve(call):\n    return {'x': open('/etc/shadow').read()}", "FileNotFoundError"),
    "no solve": ("x = 1", "KeyError"),
    "syntax": ("def solve(call:", "SyntaxError"),
    "no dict": ("def solve(call):\n    return 3", "TypeError"),
    "endless calls": ("def solve(call):\n    while True: call('check')", "more than 50 calls"),
    "forged": (
        "import gc, socket, struct\nfor s in [o for o in gc.get_objects() if isinstance(o, socket.socket)]:\n"
        "    s.sendall(struct.pack('<II', 4, 0) + b'[\"x]')\ndef solve(call): return {}", "protocol",
    ),
    "the state itself": (
        "import gc, sqlite3\ndef solve(call):\n"
        "    found = [o for o in gc.get_objects() if isinstance(o, sqlite3.Connection)]\n"
        "    return {'x': found[0].execute('SELECT 1').fetchall()}", "IndexError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_hostile_scripts_fail_and_leave_the_episode(name):
    source, error = SCRIPTS[name]
    limits = Limits(wall_s=0.7, script_s=1.0, script_calls=50, memory_bytes=160 * 1024 * 1024)
    with SandboxWorker(limits) as worker:
        worker.load(image("pass"))
        with worker.episode() as episode:
            outcome = episode.script(source)
            assert outcome.answer is None and error in outcome.error, outcome.error
            assert episode.script("def solve(call):\n    return call('check')").answer == {"orders": 60}


def test_reused_processes_that_fail_are_replaced(worker):
    worker.load(replace(image("import os\nos._exit(1)"), foreign=False))
    for _ in range(3):
        with worker.episode(isolation="environment") as episode:
            assert episode.call("check", {}) == {"orders": 60}
            with pytest.raises(SandboxError):
                episode.call("attack", {})
    calls = [Call(tool="check")], [Call(tool="attack")]
    outcomes = worker.run_episodes([(one, 0) for one in (*calls, *calls)], isolation="environment")
    assert [outcome.error for outcome in outcomes] == ["", "killed", "", "killed"]


BOMBS = {
    "signs": "x = " + "-" * 10**6 + "1",
    "brackets": "(" * 10**5,
    "lambdas": "lambda:" * 50_000 + "1",
    "null": "x\0",
}


@pytest.mark.parametrize("name", BOMBS)
def test_sources_that_choke_the_compiler_are_told(worker, name):
    hostile = image("pass")
    worker.load(replace(hostile, tools=hostile.tools | {"attack": BOMBS[name]}))
    with worker.episode() as episode:
        assert episode.call("attack", {})["error"]["code"] == "TOOL_CRASHED"


def test_no_descriptor_or_process_is_left_behind(worker):
    worker.load(image("while True: pass"))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with worker.episode() as episode, pytest.raises(SandboxError):
            episode.call("attack", {})
    assert len(os.listdir("/proc/self/fd")) == before


def test_nothing_reaches_a_listening_socket_outside(worker):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.5)
        observation = attack(worker, f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=0.3)")
        assert observation["error"]["code"] == "TOOL_CRASHED"
        with pytest.raises(TimeoutError):
            server.accept()


def test_the_sandbox_ends_with_its_control_socket():
    made = SandboxWorker(LIMITS)
    with made:
        made.load(image("while True: pass"))
        process = made._sandbox.process
        episode = made.episode()
        thread = threading.Thread(target=lambda: pytest.raises(SandboxError, episode.call, "attack", {}))
        thread.start()
        time.sleep(0.2)
    assert process.poll() is not None
    thread.join()
