"""The layout of snapshots, read off their bytes: what every reader checks before it opens one."""

from __future__ import annotations

import hashlib

SNAPSHOT_VERSION = 1
"""The layout of snapshots that this release writes and reads, kept as SQLite's user_version; earlier ones had 0."""

_MAGIC = b"SQLite format 3\0"
_HEADER, _USER_VERSION = 100, slice(60, 64)


class SnapshotRefused(ValueError):
    """A snapshot's bytes are not those that were named, no SQLite file, or of a later release."""


def check_snapshot(snapshot: bytes, sha256: str = "") -> None:
    """Look at a snapshot before it is opened.

    Args:
        sha256: what its content must hash to; "" if nothing names it.

    Raises:
        SnapshotRefused: if it is damaged, or its layout is newer than what this release reads.
    """
    if sha256:
        found = hashlib.sha256(snapshot).hexdigest()
        if found != sha256:
            raise SnapshotRefused(f"the snapshot's content hashes to {found}, not to {sha256}: build it again")
    if len(snapshot) < _HEADER or not snapshot.startswith(_MAGIC):
        raise SnapshotRefused("the snapshot is no SQLite file: build it again")
    version = int.from_bytes(snapshot[_USER_VERSION], "big", signed=True)
    if version > SNAPSHOT_VERSION:
        raise SnapshotRefused(
            f"the snapshot has layout {version}, this release reads layouts up to {SNAPSHOT_VERSION}: install a later"
            " one"
        )
