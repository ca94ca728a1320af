"""A Prefect server and a worker with all deployments, until they are stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from flows.console import console, out
from flows.errors import Refused
from flows.runtime import home
from tasks.store import open_store

POOL = "agentworld"
STARTUP_S = 180
STOP_S = 15


def root() -> Path:
    """Return the folder that holds the flows: the checkout, or the place where the package is installed."""
    return Path(__file__).resolve().parents[1]


def deployments_file() -> Path:
    """Return prefect.yaml: the checkout's, or the copy inside the installed package."""
    checkout = root() / "prefect.yaml"
    return checkout if checkout.exists() else root() / "infra" / "prefect.yaml"


def _prefect(*words: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *words]


def _start(command: list[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as file:
        return subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL, cwd=root(),
            start_new_session=True,
        )  # fmt: skip


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a process group to end; a Prefect worker can ignore that for minutes, so it is killed after a while."""
    for number, patience in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, 5)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # children that outlived it


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTUP_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise Refused(f"the Prefect server ended at once; is the port taken? See {log}")
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(f"{url}/health", timeout=5):
            return
        time.sleep(0.5)
    raise Refused(f"the Prefect server did not answer within {STARTUP_S} s: see {log}")


def _checked(command: list[str], environment: dict[str, str], log: Path) -> None:
    done = subprocess.run(command, env=environment, cwd=root(), capture_output=True, text=True, check=False)
    with log.open("a") as file:
        file.write(done.stdout + done.stderr)
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-3:]
        raise Refused(f"`{' '.join(command[2:])}` failed: {' / '.join(last)}; see {log}")


@contextlib.contextmanager
def running(store: str, port: int) -> Iterator[str]:
    """Yield the API's URL while server and worker run; both end with the block.

    Raises:
        StoreError: if the store cannot be used.
        Refused: if the server, the deployments or the worker cannot be started; names the log file.
    """
    uri = open_store(store).uri
    url = f"http://127.0.0.1:{port}/api"
    logs = home() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "PREFECT_API_URL": url,
        "PREFECT_UI_URL": f"http://127.0.0.1:{port}",
        "AGENTWORLD_STORE": uri,
        "AGENTWORLD_ROOT": str(root()),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(root()), os.environ.get("PYTHONPATH")])),
    }
    if not os.environ.get("AGENTWORLD_VERBOSE"):
        environment |= {"PREFECT_LOGGING_LEVEL": "INFO", "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "INFO"}
    processes: list[subprocess.Popen[bytes]] = []
    try:
        with console.status("Starting the Prefect server"):
            server_log = logs / f"server-{port}.log"
            command = _prefect("server", "start", "--host", "127.0.0.1", "--port", str(port))
            processes.append(_start(command, environment, server_log))
            _wait_for(url, processes[0], server_log)
        with console.status("Registering deployments"):
            log = logs / f"deploy-{port}.log"
            _checked(_prefect("work-pool", "create", POOL, "--type", "process", "--overwrite"), environment, log)
            deploy = ("--no-prompt", "deploy", "--all", "--prefect-file", str(deployments_file()))
            _checked(_prefect(*deploy), environment, log)
        worker = _prefect("worker", "start", "--pool", POOL, "--limit", "1")
        processes.append(_start(worker, environment, logs / f"worker-{port}.log"))
        yield url
    finally:
        with console.status("Stopping"):
            for process in reversed(processes):
                _stop(process)


def serve(store: str, port: int) -> None:
    """Run server and worker until Ctrl-C or SIGTERM."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)
    with contextlib.suppress(KeyboardInterrupt), running(store, port) as url:
        out.print(f"Prefect UI: {url.removesuffix('/api')}   store: {open_store(store).uri}", soft_wrap=True)
        out.print(f"Logs: {home() / 'logs'}   stop with Ctrl-C", soft_wrap=True)
        while True:
            time.sleep(3600)
    out.print("stopped")
