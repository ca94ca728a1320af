"""One file for a pointer policy: its weights as safetensors, its sizes, vocabulary and state as JSON beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from tasks.policies.pointer.network import NetworkConfig, PointerNetwork
from tasks.policies.pointer.vocabulary import Vocabulary

FORMAT = "pointer-policy-6"


class CheckpointError(ValueError):
    """Raised when bytes are not a checkpoint of a pointer policy that this version can read."""


@dataclass
class Checkpoint:
    """A network, its vocabulary, its policy's id, and what a training adds: optimizer tensors and JSON state."""

    network: PointerNetwork
    vocabulary: Vocabulary
    policy_id: str
    optimizer: dict[str, torch.Tensor] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)


def pack_checkpoint(checkpoint: Checkpoint) -> bytes:
    """Return a checkpoint as bytes; the same content gives the same bytes."""
    about = {
        "format": FORMAT,
        "policy_id": checkpoint.policy_id,
        "network": checkpoint.network.config.as_dict(),
        "words": checkpoint.vocabulary.words,
        "shares": checkpoint.vocabulary.shares,
        "state": checkpoint.state,
    }
    tensors = {f"network.{name}": part.contiguous() for name, part in checkpoint.network.state_dict().items()}
    tensors |= {f"optimizer.{name}": part.contiguous() for name, part in checkpoint.optimizer.items()}
    return save(tensors, metadata={"about": json.dumps(about, sort_keys=True)})


def _about(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
        about = json.loads(header["__metadata__"]["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"not a checkpoint of a pointer policy ({error!r}): train it anew") from error
    if about.get("format") != FORMAT:
        raise CheckpointError(f"checkpoint has format {about.get('format')!r}, not {FORMAT!r}: train it anew")
    return dict(about)


def read_state(path: Path) -> dict[str, Any]:
    """Return the training state inside a checkpoint file, {} if there is no such file.

    Raises:
        CheckpointError: if the file is no checkpoint.
    """
    return dict(_about(path.read_bytes())["state"]) if path.exists() else {}


def strip_optimizer(raw: bytes) -> bytes:
    """Return a checkpoint without its optimizer's tensors: a third of the size, all that acting needs.

    Raises:
        CheckpointError: if the bytes are no checkpoint.
    """
    checkpoint = unpack_checkpoint(raw)
    checkpoint.optimizer = {}
    return pack_checkpoint(checkpoint)


def unpack_checkpoint(raw: bytes) -> Checkpoint:
    """Return the checkpoint that `pack_checkpoint` wrote.

    Raises:
        CheckpointError: if the bytes are none, or of another format.
    """
    about = _about(raw)
    try:
        tensors = load(raw)
        network = PointerNetwork(NetworkConfig(**about["network"]))
        weights = {n.removeprefix("network."): part for n, part in tensors.items() if n.startswith("network.")}
        network.load_state_dict(weights)
    except (SafetensorError, RuntimeError, TypeError) as error:
        raise CheckpointError(f"damaged checkpoint ({error}): train it anew") from error
    moments = {n.removeprefix("optimizer."): part for n, part in tensors.items() if n.startswith("optimizer.")}
    vocabulary = Vocabulary(tuple(about["words"]), tuple(about["shares"]))
    return Checkpoint(network, vocabulary, about["policy_id"], moments, about["state"])
