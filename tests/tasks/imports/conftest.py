"""Foreign worlds, written once, and imported once for all tests that look at them."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_healthy import HEALTHY
from foreign_worlds import write_release

from tasks.imports import Imported, import_world, read_release
from tasks.sandbox import SandboxWorker


@pytest.fixture(scope="session")
def release(tmp_path_factory) -> Path:
    """Return the folder of a release of healthy worlds."""
    return write_release(tmp_path_factory.mktemp("release"), [world() for world in HEALTHY])


@pytest.fixture(scope="session")
def worker():
    with SandboxWorker() as one:
        yield one


@pytest.fixture(scope="session")
def healthy(release, worker) -> dict[str, Imported]:
    """Return the imported healthy worlds by folder."""
    return {world.folder: import_world(world, worker) for world in read_release(release)}
