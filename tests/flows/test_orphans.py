"""A temporary Prefect server ends when the command that started it is gone, however that went."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys

import pytest

from flows.orphans import STARTED_BY, end_orphans, mark_children

COMMAND = "import os, subprocess, sys\nfrom flows.orphans import mark_children\nmark_children()\n"
SERVER = "[sys.executable, '-c', 'import time; time.sleep(60)', 'prefect.server.api.server:create_app']"


@pytest.fixture
def command():
    """A process that started what looks like a server, and the server's process id."""
    code = f"{COMMAND}print(subprocess.Popen({SERVER}, stdout=subprocess.DEVNULL).pid, flush=True)\nsys.stdin.read()\n"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server = int(process.stdout.readline())
    yield process, server
    process.kill()
    process.communicate()
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)


def test_a_server_whose_command_was_killed_is_ended_by_the_next_one(command):
    process, server = command
    assert server not in end_orphans(), "its command lives"
    process.kill()
    process.communicate()
    watch = os.pidfd_open(server)
    assert server in end_orphans()
    assert select.select([watch], [], [], 20)[0], "the server has ended"


def test_a_process_knows_who_started_it_even_where_ids_are_used_again(monkeypatch):
    monkeypatch.delenv(STARTED_BY, raising=False)
    mark_children()
    pid, _, began = os.environ[STARTED_BY].partition(":")
    assert int(pid) == os.getpid() and began.isdigit()
    server = [sys.executable, "-c", "import time; time.sleep(60)", "prefect.server.api.server:create_app"]
    other = subprocess.Popen(server, env={**os.environ, STARTED_BY: f"{pid}:{int(began) - 1}"})
    own = subprocess.Popen(server)
    try:
        ended = end_orphans()
        assert other.pid in ended and own.pid not in ended
    finally:
        for process in (other, own):
            process.kill()
            process.wait()
