"""What every flow needs of Prefect: its settings before it is imported, result storage, Dask workers and cache keys."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

DEFAULT_STORE = "./store"
T = TypeVar("T")
_saving = threading.Lock()


def configure() -> None:
    """Set, unless the user has set them, the environment variables that Prefect and its neighbours read on import.

    Must run before the first `import prefect`. The home folder is the factory's own, so that a user's other Prefect
    profiles and databases stay as they are.
    """
    folder = home() / "prefect"
    folder.mkdir(parents=True, exist_ok=True)  # Prefect makes its own folder, but not those above it
    defaults = {
        "PREFECT_HOME": str(folder),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the API keeps traces; a terminal gets one clear line
        "PREFECT_LOGGING_SERVER_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_CLI_WRAP_LINES": "false",
        "DO_NOT_TRACK": "1",
        "GX_ANALYTICS_ENABLED": "false",
        "TOKENIZERS_PARALLELISM": "false",
        "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
        # its sampler can deadlock with garbage collection in workers with many threads, as those that ask models have
        "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
        "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def home() -> Path:
    """Return the folder for what belongs to no store: AGENTWORLD_HOME, ~/.agentworld or, where neither can be made
    (an account without a home), a folder of this user's under the system's temporary one."""
    chosen = os.environ.get("AGENTWORLD_HOME")
    with contextlib.suppress(OSError, RuntimeError):
        folder = Path(chosen or "~/.agentworld").expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    folder = Path(tempfile.gettempdir()) / f"agentworld-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def default_store() -> str:
    """Return the store that a deployment uses when it is given none: AGENTWORLD_STORE or `./store`."""
    return os.environ.get("AGENTWORLD_STORE", DEFAULT_STORE)


def run_name(flow: str) -> Callable[[], str]:
    """Return what names the runs of a flow, so that an operator can tell them apart: the flow, the last folder of the
    store, the round if there is one, and the time (UTC) at which the run began."""

    def name() -> str:
        import datetime

        from prefect.runtime import flow_run

        given: dict[str, Any] = flow_run.parameters or {}
        store = str(given.get("store") or default_store()).rstrip("/").rpartition("/")[2] or "store"
        number = given.get("round_number")
        parts = [flow, store, *([f"round {number}"] if number is not None else [])]
        return " ".join([*parts, datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")])

    return name


def cache_key(stage: str, version: str, *parts: Any) -> str:
    """Return the key under which a task's result is cached: `<stage>-<hash>`.

    Args:
        version: the stage's version constant; the hash of a task's source would not see the code that it calls.
        parts: JSON values: the hashes of the inputs, template hashes, model ids, seeds.
    """
    from schemas.base import content_hash

    return f"{stage}-{content_hash([stage, version, *parts])[:40]}"


@functools.lru_cache(maxsize=8)
def _saved_storage(store_uri: str, server: str) -> Any:
    from flows.results import StoreResults

    name = "agentworld-" + hashlib.sha256(store_uri.encode()).hexdigest()[:12]
    block = StoreResults(uri=store_uri)
    block.save(name, overwrite=True, _sync=True)
    return block


def stored(work: Any, store_uri: str) -> Any:
    """Return a Prefect task or flow whose results are kept as JSON under `results/` of the store."""
    with _saving:  # two threads that save the same block at once would fail
        storage = _saved_storage(store_uri, os.environ.get("PREFECT_API_URL", ""))
    return work.with_options(result_storage=storage, result_serializer="json", persist_result=True)


@contextlib.contextmanager
def workers(count: int | None = None) -> Iterator[None]:
    """Have a Dask cluster for `compute` while the block runs: the one that is there already, the scheduler that
    AGENTWORLD_DASK_SCHEDULER names, or a local one of single-thread processes (one a core, if `count` is None)."""
    from distributed import Client, LocalCluster, default_client

    with contextlib.suppress(ValueError):
        default_client()
        yield
        return
    address = os.environ.get("AGENTWORLD_DASK_SCHEDULER")
    if address:
        with Client(address):
            yield
        return
    count = count or max(1, min(len(os.sched_getaffinity(0)), 16))
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",  # None would ask for port 8787, and warn while another command has it
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,
        ) as cluster,
        Client(cluster),
    ):
        yield


def compute(function: Callable[..., T], *args: Any) -> T:
    """Run a pure function on a Dask worker and wait for its result; in this process where there is no cluster.

    A Prefect task run costs 15 ms in a thread and half a second on a Dask worker, which would have to import Prefect:
    so task runs stay in threads of the flow's process, and only the work itself travels.
    """
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        return function(*args)
    return client.submit(function, *args, pure=False).result()
