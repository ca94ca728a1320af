"""Environment images and tasks as files, so that a training in another process can run episodes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from schemas.base import canonical_json, content_hash
from schemas.snapshot import check_snapshot
from schemas.task import AgentTask
from tasks.environment import EnvironmentImage
from tasks.training.examples import write_whole

TASKS = "tasks.jsonl"
_PLAIN = ("env_id", "tools", "schemas", "log_tables", "start_time", "writes", "foreign", "ours")


def save_images(images: Iterable[EnvironmentImage], workdir: Path) -> None:
    """Write images under `workdir`/images: the snapshot as it is, all else as JSON beside it."""
    folder = workdir / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for image in images:
        write_whole(folder / f"{image.env_id}.sqlite", image.snapshot)
        plain = {name: getattr(image, name) for name in _PLAIN} | {"snapshot_sha256": content_hash(image.snapshot)}
        write_whole(folder / f"{image.env_id}.json", canonical_json(plain).encode())


def load_images(workdir: Path) -> dict[str, EnvironmentImage]:
    """Return the images that `save_images` wrote, by env_id.

    Raises:
        SnapshotRefused: if a snapshot is not the one that was written.
    """
    images = {}
    for path in sorted((workdir / "images").glob("*.json")):
        plain = json.loads(path.read_bytes())
        for name in ("log_tables", "writes", "ours"):
            plain[name] = None if plain[name] is None else tuple(plain[name])
        snapshot = path.with_suffix(".sqlite").read_bytes()
        check_snapshot(snapshot, plain.pop("snapshot_sha256"))
        images[plain["env_id"]] = EnvironmentImage(snapshot=snapshot, **plain)
    return images


def save_tasks(tasks: Iterable[AgentTask], workdir: Path) -> int:
    """Write the tasks whose verifiers reward a training; their oracles are blanked. Return how many."""
    blank = {"calls": [], "answer": {}, "script": ""}
    lines = [canonical_json({**task.model_dump(mode="json"), "oracle": blank}) + "\n" for task in tasks]
    write_whole(workdir / TASKS, "".join(lines).encode())
    return len(lines)


def load_tasks(workdir: Path) -> list[AgentTask]:
    """Return the tasks that `save_tasks` wrote."""
    with (workdir / TASKS).open(encoding="utf-8") as file:
        return [AgentTask.model_validate_json(line) for line in file]
