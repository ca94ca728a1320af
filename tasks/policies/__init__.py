"""Policies: whatever acts in an episode. Trained ones need the training extra; importing this package does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tasks.policies.missing import MissingTraining, require

if TYPE_CHECKING:
    from tasks.policies.causal_lm import CausalLMPolicy
    from tasks.policies.pointer.policy import PointerPolicy

__all__ = ["MissingTraining", "load_causal_lm", "load_policy", "require", "unpack_policy"]


def unpack_policy(raw: bytes, temperature: float = 1.0) -> PointerPolicy:
    """Return the pointer policy in a checkpoint's bytes; it samples at `temperature`, 0 is greedy.

    Raises:
        MissingTraining: without the training extra.
        CheckpointError: (a ValueError) if the bytes are no such checkpoint.
    """
    require("torch", "safetensors")
    from tasks.policies.pointer.policy import PointerPolicy
    from tasks.policies.pointer.storage import unpack_checkpoint

    checkpoint = unpack_checkpoint(raw)
    return PointerPolicy(checkpoint.network, checkpoint.vocabulary, checkpoint.policy_id, temperature)


def load_policy(path: Path | str, temperature: float = 1.0) -> PointerPolicy:
    """Return the pointer policy of a checkpoint file, or of a training's folder that holds one.

    Raises:
        MissingTraining: without the training extra.
        FileNotFoundError: if there is no such file.
        CheckpointError: (a ValueError) if the file is no such checkpoint.
    """
    path = Path(path)
    if path.is_dir():
        finished = path / "policy.safetensors"
        path = finished if finished.exists() else path / "checkpoint.safetensors"
    return unpack_policy(path.read_bytes(), temperature)


def load_causal_lm(path: Path | str, **settings: object) -> CausalLMPolicy:
    """Return a policy that prompts a Hugging Face causal language model from a local folder.

    Raises:
        MissingTraining: without the training extra.
        FileNotFoundError: if the folder holds no model.
    """
    require("torch", "transformers")
    from tasks.policies.causal_lm import CausalLMPolicy

    return CausalLMPolicy.load(path, **settings)  # type: ignore[arg-type]
