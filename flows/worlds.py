"""Load environments so that one that cannot be trusted any more is written down, and the others go on."""

from __future__ import annotations

from schemas.environment import Rejection
from tasks.store import Store, StoreError, load_environment, write_dataset
from tasks.store.environments import StoredEnvironment


def load_or_reject(store: Store, env_id: str, stage: str) -> StoredEnvironment | None:
    """Return an environment, or None if it is missing, damaged or of a later release: the rejection says why.

    Args:
        stage: who wanted it.
    """
    try:
        return load_environment(store, env_id)
    except StoreError as error:
        row = Rejection(stage=stage, key=env_id, gate="unusable", reason=str(error)[:500], env_id=env_id)
        write_dataset(store, "rejections", f"unusable-{stage}-{env_id}", [row])
        return None
