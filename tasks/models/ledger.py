"""The ledger: one row of `model_calls` for each call that was paid, and one for each answer found in the cache."""

from __future__ import annotations

from schemas.base import content_hash
from schemas.models import ModelCall, Outcome
from tasks.store import Store, write_dataset
from tasks.store.datasets import dataset_key

NO_ENVIRONMENT = "none"


class Ledger:
    """Writes calls, each as an object of its own under a deterministic key, so that no process waits for another."""

    def __init__(self, store: Store, run_id: str = "") -> None:
        self._store, self._run_id = store, run_id

    def paid(self, call: ModelCall) -> None:
        """Write down a call that was paid for or failed."""
        self._write(call)

    def found(self, call: ModelCall, request_sha256: str, env_id: str, role: str, stage: str) -> ModelCall:
        """Write down that a stored answer was used, and return that row; the paid call's own row is made good if its
        process died before it was written."""
        if not self._store.exists(dataset_key("model_calls", _key(call))):
            self._write(call)
        call_id = content_hash([request_sha256, env_id, role, self._run_id, "cached"])[:40]
        use = call.model_copy(
            update={
                "call_id": call_id, "cached": True, "env_id": env_id, "role": role, "stage": stage,
                "run_id": self._run_id,
            }
        )  # fmt: skip
        self._write(use)
        return use

    def note(self, call: ModelCall, outcome: Outcome) -> None:
        """Write a call's row again with what became of its answer."""
        self._write(call.model_copy(update={"outcome": outcome}))

    def _write(self, call: ModelCall) -> None:
        write_dataset(self._store, "model_calls", _key(call), [call])


def _key(call: ModelCall) -> str:
    return f"{call.env_id or NO_ENVIRONMENT}/{call.call_id}"
