"""A training's checkpoint: everything that it needs to go on after a kill, in one file that is replaced whole.

All randomness of a training is drawn from (seed, step), so no generator's state has to be kept: a resumed training
draws what the uninterrupted one would have drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from schemas.base import content_hash
from tasks.policies.pointer.network import NetworkConfig, PointerNetwork
from tasks.policies.pointer.storage import Checkpoint, pack_checkpoint, unpack_checkpoint
from tasks.policies.pointer.vocabulary import Vocabulary
from tasks.training.config import TrainingConfig
from tasks.training.examples import write_whole

CHECKPOINT = "checkpoint.safetensors"
PARENT = "parent.safetensors"


class TrainingState:
    """A network in training with its optimizer, steps done and curves."""

    def __init__(self, config: TrainingConfig, network: PointerNetwork, vocabulary: Vocabulary) -> None:
        self.config, self.network, self.vocabulary = config, network, vocabulary
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, betas=(0.9, 0.98)
        )
        self.step = 0
        self.episodes = 0
        self.cpu_seconds = 0.0
        self.wall_seconds = 0.0
        self.finished = False
        self.curves: dict[str, list[float]] = {}
        self.counts: dict[str, int] = {}

    def log(self, **values: float) -> None:
        """Append a point to each curve."""
        for name, value in values.items():
            self.curves.setdefault(name, []).append(float(value))

    def save(self, workdir: Path) -> None:
        """Write the checkpoint of the folder, whole or not at all."""
        names = [name for name, _ in self.network.named_parameters()]
        moments: dict[str, torch.Tensor] = {}
        for name, parameter in zip(names, self.network.parameters(), strict=True):
            for key, value in self.optimizer.state.get(parameter, {}).items():
                moments[f"{key}.{name}"] = torch.as_tensor(value)
        plain = ("step", "episodes", "cpu_seconds", "wall_seconds", "finished", "curves", "counts")
        state: dict[str, Any] = {name: getattr(self, name) for name in plain}
        state["config_sha256"] = content_hash(self.config)
        checkpoint = Checkpoint(self.network, self.vocabulary, self.config.policy_id, moments, state)
        write_whole(workdir / CHECKPOINT, pack_checkpoint(checkpoint))

    @classmethod
    def resume(cls, config: TrainingConfig, workdir: Path) -> TrainingState | None:
        """Return the state of the folder's checkpoint; None if there is none, or it is another configuration's."""
        path = workdir / CHECKPOINT
        if not path.exists():
            return None
        checkpoint = unpack_checkpoint(path.read_bytes())
        if checkpoint.state.get("config_sha256") != content_hash(config):
            return None
        state = cls(config, checkpoint.network, checkpoint.vocabulary)
        for name, parameter in checkpoint.network.named_parameters():
            found = {
                key: checkpoint.optimizer[f"{key}.{name}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{key}.{name}" in checkpoint.optimizer
            }
            if found:
                state.optimizer.state[parameter] = found
        for name in ("step", "episodes", "cpu_seconds", "wall_seconds", "finished", "curves", "counts"):
            setattr(state, name, checkpoint.state[name])
        return state

    @classmethod
    def start(cls, config: TrainingConfig, workdir: Path, vocabulary: Callable[[], Vocabulary] | None) -> TrainingState:
        """Return the state at step 0: from the folder's parent policy if it has one, else from random weights.

        Raises:
            ValueError: if there is neither a parent nor a vocabulary.
        """
        parent = workdir / PARENT
        if parent.exists():
            checkpoint = unpack_checkpoint(parent.read_bytes())
            return cls(config, checkpoint.network, checkpoint.vocabulary)
        if vocabulary is None:
            raise ValueError(f"{workdir}: {config.method} starts from a trained policy; write it to {PARENT}")
        words = vocabulary()
        torch.manual_seed(config.seed)
        sizes = NetworkConfig(vocabulary=len(words), width=config.width, layers=config.layers)
        return cls(config, PointerNetwork(sizes), words)
