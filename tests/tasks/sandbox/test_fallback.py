"""Without bubblewrap: what still holds is enforced, and what does not is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from worlds import ENV_ID, shop_snapshot

from tasks.environment import EnvironmentImage
from tasks.sandbox import FLOOR, Limits, SandboxError, SandboxWorker, sandbox_strength
from tasks.sandbox.strength import make_strength

SNAPSHOT = shop_snapshot()
ATTACKS = {
    "network": "import socket; socket.create_connection(('192.0.2.1', 53), timeout=1)",
    "files_hidden": f"open({str(Path(__file__))!r}).read()",
    "files_read_only": f"open({str(Path(__file__).with_name('written'))!r}, 'w').write('x')",
    "home_hidden": "import os; os.listdir(os.path.expanduser('~root'))",
    "processes": "import os; os.fork() or os._exit(0)",
    "signals": "import os; os.kill(os.getppid(), 9)",
}


def image(statement: str, **more) -> EnvironmentImage:
    source = f"def attack(ctx) -> dict:\n    {statement}\n    return {{'survived': True}}\n"
    return EnvironmentImage(ENV_ID, SNAPSHOT, {"attack": source}, {"attack": {"type": "object"}}, **more)


@pytest.mark.parametrize("means", [{}, {"bubblewrap": False}, {"seccomp": False}], ids=["all", "bare", "unfiltered"])
def test_what_the_strength_says_holds(means):
    with SandboxWorker(Limits(wall_s=2), **means) as worker:
        for name, statement in ATTACKS.items():
            if not worker.strength.holds[name]:
                continue
            worker.load(image(statement))
            with worker.episode() as episode:
                assert episode.call("attack", {})["error"]["code"] == "TOOL_CRASHED", (name, worker.strength)
    assert not Path(__file__).with_name("written").exists()


def test_levels_are_ordered():
    full = make_strength(bubblewrap=True, landlocked=False, filtered=True)
    wrapped = make_strength(bubblewrap=True, landlocked=False, filtered=False)
    locked = make_strength(bubblewrap=False, landlocked=True, filtered=True)
    filtered = make_strength(bubblewrap=False, landlocked=False, filtered=True)
    bare = make_strength(bubblewrap=False, landlocked=False, filtered=False)
    assert (full.level, wrapped.level, locked.level, filtered.level, bare.level) == (3, 2, 2, 1, 0)
    assert (full.name, locked.name, bare.name) == ("bubblewrap+seccomp", "landlock+seccomp", "limits")
    assert all(full.holds.values()) and not bare.holds["files_hidden"]


def test_foreign_code_is_refused_below_the_floor(monkeypatch):
    assert sandbox_strength().level >= FLOOR, "this machine has bubblewrap"
    monkeypatch.setattr("tasks.sandbox.strength.bubblewrap_works", lambda: False)
    monkeypatch.setattr("tasks.sandbox.inner.landlock.supported", lambda: False)
    with SandboxWorker(bubblewrap=False) as worker:
        foreign = image("pass", foreign=True)
        with pytest.raises(SandboxError) as caught:
            worker.load(foreign)
        assert caught.value.outcome == "refused" and "bubblewrap" in str(caught.value)
        worker.load(replace(foreign, foreign=False))
        worker.load(foreign, allow_weak=True)
        with worker.episode() as episode:
            assert episode.call("attack", {}) == {"survived": True}
