"""Reads documents in a few processes; one that hangs or dies rejects the document that it was at, and only that.

The processes are started as commands and spoken to in lines of JSON (reader.py), so that nothing of this process's
state, keys or open files reaches what reads foreign documents.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tasks.themes.jobs import Job, Outcome, refusal

PROCESSES = 2
DOCUMENT_SECONDS = 60.0
MEMORY_BYTES = 2_000_000_000
READER = (sys.executable, "-m", "tasks.themes.reader", str(MEMORY_BYTES))


def read_jobs(
    jobs: Sequence[Job],
    *,
    seconds: float = DOCUMENT_SECONDS,
    command: Sequence[str] = READER,
    done: Callable[[int, int], None] = lambda found, refused: None,
) -> list[Outcome]:
    """Return the outcome of each job, in order.

    Args:
        seconds: the longest that one document may take.
        command: what starts a reader process.
        done: called after each document with the number of themes and of refusals that it gave, by one thread at once.
    """
    outcomes: list[Outcome] = [Outcome()] * len(jobs)
    waiting, lock = iter(enumerate(jobs)), threading.Lock()

    def work() -> None:
        reader = _Reader(command, seconds)
        with contextlib.closing(reader):
            while True:
                with lock:
                    position, job = next(waiting, (-1, None))
                if job is None:
                    return
                outcomes[position] = outcome = reader.read(job)
                with lock:
                    done(len(outcome.found), len(outcome.refused))

    with ThreadPoolExecutor(PROCESSES) as pool:
        for worker in [pool.submit(work) for _ in range(min(PROCESSES, len(jobs)))]:
            worker.result()
    return outcomes


class _Reader:
    """One reader process, started when it is first needed and again after it was lost."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command, self._seconds = command, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, job: Job) -> Outcome:
        """Return what the process says of a job, or a refusal with gate reader_timeout or reader_died."""
        process = self._process = self._process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(job.model_dump_json().encode() + b"\n")
            process.stdin.flush()
            line = b"".join(_until_newline(process.stdout.fileno(), self._seconds))
        except TimeoutError:
            self.close()
            reason = f"reading it took more than {self._seconds:g} s"
            return Outcome(refused=(refusal(job.key, "reader_timeout", reason),))
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)
            reason = f"the process that read it ended with code {process.returncode}"
            self.close()
            return Outcome(refused=(refusal(job.key, "reader_died", reason),))
        return Outcome.model_validate_json(line)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )


def _until_newline(descriptor: int, seconds: float) -> Iterator[bytes]:
    """Yield what a pipe gives until the end of a line or of the pipe.

    Raises:
        TimeoutError: after `seconds`.
    """
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, end - time.monotonic())):
                raise TimeoutError
            chunk = os.read(descriptor, 1 << 20)
            yield chunk
            if not chunk or chunk.endswith(b"\n"):
                return
