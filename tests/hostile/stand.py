"""The stand on which attacks are let loose: a worker with traps around it and an episode beside them."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import pickle
import secrets
import signal
import statistics
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hostile.attack import Attack
from hostile.traps import Traps
from worlds import ENV_ID, START_TIME, shop_database, shop_rows

from schemas.database import Document
from tasks.environment import EnvironmentImage, build_snapshot
from tasks.sandbox import OUTCOMES, Episode, Limits, SandboxError, SandboxWorker

LIMITS = Limits(wall_s=10, cpu_s=3, script_s=10, memory_bytes=160 * 1024 * 1024, output_bytes=200_000, script_calls=50)
IMPATIENT = {"wall_s": 0.4, "script_s": 0.4}
"""The limits of time of attacks that are expected to reach them; for all others a busy machine gets time."""

_NUMBERS = itertools.count(os.getpid() * 1000)
"""Added to a limit that nothing reaches, they mark a stand's processes by their arguments."""

_PROBE = """
def probe(ctx) -> dict:
    import atexit, builtins, datetime, decimal, gc, json, math, os, random, resource, signal, sqlite3, sys, time
    handlers = [str(signal.getsignal(number)) for number in (1, 2, 14, 15, 17, 24)]
    return {
        "orders": ctx.db.row("SELECT count(*) n, round(sum(total), 2) total, min(status) s FROM orders"),
        "products": ctx.db.row("SELECT count(*) n, sum(stock) stock, max(name) name, max(price) price FROM products"),
        "schema": ctx.db.value("SELECT count(*) || group_concat(name) FROM sqlite_schema"),
        "foreign_keys": ctx.db.rows("PRAGMA foreign_key_list(orders)"),
        "id": ctx.ids.new("ord"), "now": ctx.clock.now(), "sql_now": ctx.db.value("SELECT datetime('now')"),
        "clock": [time.time(), str(datetime.datetime.now()), time.monotonic()],
        "chance": [random.random(), os.urandom(4).hex(), ctx.db.value("SELECT random()"), hash("x")],
        "json": json.dumps({"x": [1, None]}) + str(json.loads("[1]")), "pi": math.pi, "sixty": 59 + 1,
        "modules": sorted(sys.modules), "path": sys.path, "meta": len(sys.meta_path) + len(sys.path_hooks),
        "builtins": len([name for name in dir(builtins) if not isinstance(getattr(builtins, name), type)]),
        "hooks": [str(sys.gettrace()), str(sys.getprofile()), atexit._ncallbacks(), len(gc.callbacks), gc.isenabled()],
        "environment": dict(os.environ), "handlers": handlers, "precision": decimal.getcontext().prec,
        "limits": [resource.getrlimit(n) for n in range(16)], "recursion": sys.getrecursionlimit(),
        "descriptors": [d for d in range(64) if _is_open(d)], "converters": len(sqlite3.converters),
    }


def _is_open(descriptor):
    import os
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
"""
_PROBE_SCRIPT = """
def solve(call):
    import atexit, builtins, gc, json, math, os, random, resource, signal, sqlite3, sys, time
    return {
        "modules": sorted(sys.modules), "hooks": [str(sys.gettrace()), atexit._ncallbacks(), len(gc.callbacks)],
        "clock": time.time(), "chance": random.random(), "pi": math.pi, "json": json.dumps([1]),
        "limits": [resource.getrlimit(n) for n in range(16)], "environment": dict(os.environ), "path": sys.path,
        "handlers": [str(signal.getsignal(n)) for n in (1, 2, 14, 15)], "checked": call("check"),
    }
"""
_TOOLS = {
    "probe": _PROBE,
    "check": "def check(ctx) -> dict:\n    return {'orders': ctx.db.value('SELECT count(*) FROM orders')}\n",
    "products": "def products(ctx) -> dict:\n    return {'products': ctx.db.rows('SELECT * FROM products')}\n",
    "read": "def read(ctx, *, name: str) -> dict:\n    return {'content': ctx.documents.read(name)}\n",
    "hide": (
        "KEPT = []\n"
        "def hide(ctx, *, secret: str) -> dict:\n"
        "    import os\n"
        "    text = secret.encode()\n"
        "    KEPT.append(text)\n"
        "    ctx.db.execute('UPDATE products SET name = ? WHERE rowid = 1', (secret,))\n"
        "    return {'place': [os.getpid(), id(text) + 32, len(text)]}\n"
    ),
    "hidden": (
        "def hidden(ctx) -> dict:\n    return {'name': ctx.db.value('SELECT name FROM products WHERE rowid = 1')}\n"
    ),
}


class _Bad:
    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("/tmp/agentworld_pickled", "w")


def _bomb() -> bytes:
    """Return some hundred bytes that two decompressions make 400 MB of (raw deflate, one block over and over)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    outer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return outer.compress(block * 400 + packer.flush()) + outer.flush()


def make_image(attacks: Iterable[Attack]) -> EnvironmentImage:
    """Return the shop, with hostile documents, and each attack as a tool."""
    documents = [
        (Document(name=name, title=name, media_type="text/plain"), base64.b64encode(raw).decode())
        for name, raw in (("bomb", _bomb()), ("pickle", pickle.dumps(_Bad())))
    ]
    tools = _TOOLS | {attack.slug: attack.tool for attack in attacks if attack.code}
    schemas = dict.fromkeys(tools, {"type": "object"})
    snapshot = build_snapshot(shop_database(), shop_rows(), documents)
    return EnvironmentImage(ENV_ID, snapshot, tools, schemas, start_time=START_TIME)


@dataclass(frozen=True)
class Report:
    """What one attack came to.

    Attributes:
        outcome: "refused", "harmless" or one of `tasks.sandbox.OUTCOMES`.
        detail: what was said or returned, cut.
        breaches: what it got through to; empty if the sandbox held.
        seconds: how long it took until it had ended.
        next_seconds: from then until the same worker had begun the next episode and its first answer was there.
        same: whether that answer is the one of a worker that nobody ever attacked.
    """

    outcome: str
    detail: str
    breaches: tuple[str, ...]
    seconds: float
    next_seconds: float
    same: bool


def _classify(error: str) -> str:
    """Return the outcome that a script's error tells."""
    first = error.split(":")[0]
    return first if first in OUTCOMES else "refused"


class Stand:
    """A worker with certain means that loads an image with all attacks. Use it by `with`.

    `calm` is the median of seconds in which a worker that was not attacked begins an episode and answers.
    """

    def __init__(self, image: EnvironmentImage, limits: Limits = LIMITS, **means: bool) -> None:
        self.image = image
        self.traps = Traps()
        self._limits = replace(limits, state_bytes=limits.state_bytes + next(_NUMBERS))
        self._means = means
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Stand:
        self._stack.enter_context(self.traps)
        with SandboxWorker(self._limits, **self._means) as untouched:
            untouched.load(self.image, allow_weak=True)
            self._expected = self._answer(untouched, "tool"), self._answer(untouched, "script")
            self.calm = statistics.median(self._time(untouched) for _ in range(9))
        self.worker = self._stack.enter_context(SandboxWorker(self._limits, **self._means))
        self._begin()
        return self

    def _begin(self) -> None:
        self.worker.load(self.image, allow_weak=True)
        self._put_up_sibling()
        self._processes = self._alive()

    def restart(self) -> None:
        """Begin with a new sandbox, after an attack that got through to the next episodes."""
        self.worker.close()
        self._begin()

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _answer(self, worker: SandboxWorker, kind: str) -> dict[str, Any] | None:
        with worker.episode(seed=0) as episode:
            if kind == "tool":
                return episode.call("probe", {})
            return episode.script(_PROBE_SCRIPT).answer

    def _time(self, worker: SandboxWorker) -> float:
        begin = time.perf_counter()
        self._answer(worker, "tool")
        return time.perf_counter() - begin

    def soon(self, attack: Attack, kind: str, report: Report) -> bool:
        """Say whether the next episode answered within 100 ms, or on a busy machine within ten times what it takes
        there after no attack; a worker that seems slow is attacked once more."""
        bound = max(0.1, 10 * self.calm)
        return report.next_seconds <= bound or self.run(attack, kind).next_seconds <= bound

    def _put_up_sibling(self) -> None:
        """Begin the other episode, which holds a secret of its own."""
        self.secret = "MARK-" + secrets.token_hex(6)
        for attempt in (1, 2, 3):  # where an attack may end the process that episodes begin in, one may be lost
            self._sibling: Episode = self.worker.episode(seed=9)
            try:
                self._place = self._sibling.call("hide", {"secret": self.secret})["place"]
                return
            except SandboxError:
                if attempt == 3:
                    raise

    def _alive(self) -> set[int]:
        """Return the processes of this stand's sandbox, whoever their parents are now."""
        mark = f'"state_bytes": {self._limits.state_bytes},'
        found = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    line = (entry / "cmdline").read_bytes().decode(errors="replace")
                    if mark in line and (entry / "stat").read_text().rsplit(")", 1)[1][1] != "Z":
                        found.add(int(entry.name))
        return found

    def run(self, attack: Attack, kind: str) -> Report:
        """Let an attack loose as a "tool" or a "script", and look at what became of it."""
        aim = {**self.traps.aim, "sibling": self._place}
        if "timeout" in attack.ends_of(kind):
            self.worker.limits = replace(self._limits, **IMPATIENT)
        begin = time.perf_counter()
        outcome, said = self._as_tool(attack, aim) if kind == "tool" else self._as_script(attack, aim)
        end = time.perf_counter()
        self.worker.limits = self._limits
        try:
            answer = self._answer(self.worker, kind)
        except SandboxError as error:
            answer = {"error": str(error)}
        after = time.perf_counter()
        breaches = [f"it read {name}" for name, secret in self._secrets().items() if secret in said]
        if '"breach"' in said:
            breaches.append(f"it says: {said[:300]}")
        breaches += self.traps.breaches() + self._look_around()
        same = answer == self._expected[kind == "script"]
        if not same:
            breaches.append(f"the next episode answers {json.dumps(answer)[:300]}")
        return Report(outcome, said[:300], tuple(breaches), end - begin, after - end, same)

    def _secrets(self) -> dict[str, str]:
        return {**self.traps.secrets, "another episode": self.secret}

    def _as_tool(self, attack: Attack, aim: dict[str, Any]) -> tuple[str, str]:
        observation: Any = None
        try:
            with self.worker.episode(seed=1) as episode:
                observation = episode.call(attack.slug, {"aim": aim})
                episode.changes()
        except SandboxError as error:
            return error.outcome, json.dumps([observation, str(error)])
        refused = isinstance(observation.get("error"), dict)
        return "refused" if refused else "harmless", json.dumps(observation, ensure_ascii=False)

    def _as_script(self, attack: Attack, aim: dict[str, Any]) -> tuple[str, str]:
        with self.worker.episode(seed=1) as episode:
            outcome = episode.script(attack.script_for(aim))
            for step in outcome.steps:
                assert "forged" not in step.observation, "only the tools' own process answers calls"
        said = json.dumps([outcome.answer, outcome.error], ensure_ascii=False)
        return ("harmless" if outcome.answer is not None else _classify(outcome.error)), said

    def _look_around(self) -> list[str]:
        """Return what happened to the other episode, and which processes live that should not."""
        hit = []
        try:
            if self._sibling.call("hidden", {}) != {"name": self.secret}:
                hit.append("the other episode's state changed")
        except SandboxError as error:
            hit.append(f"the other episode was ended: {error}")
        left = self._left()
        if left:
            hit.append(f"{len(left)} processes live on")
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if hit:
            self._sibling.close()
            self._put_up_sibling()
            self._left()
            self._processes = self._alive()
        return hit

    def _left(self) -> set[int]:
        """Return the processes that are new and do not end within a moment."""
        for pause in (0.0, 0.002, 0.01, 0.05, 0.2, 0.5):
            time.sleep(pause)
            left = self._alive() - self._processes
            if not left:
                return left
        return left
