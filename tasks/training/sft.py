"""Supervised fine-tuning: imitate the decisions of oracle episodes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from accelerate import Accelerator

from tasks.policies.pointer.batches import collate
from tasks.policies.pointer.encoding import Encoded
from tasks.policies.pointer.network import log_likelihood
from tasks.policies.pointer.vocabulary import learn_vocabulary
from tasks.training.checkpoints import TrainingState
from tasks.training.config import TrainingConfig
from tasks.training.encoded import encode_examples
from tasks.training.loop import Loop

_WINDOW = 4
"""A batch is drawn from this many times its size of episodes of like length, so that little is padding."""


def train_sft(config: TrainingConfig, workdir: Path) -> TrainingState:
    """Train on the folder's examples until the steps or the CPU seconds are used up; return the final state.

    One forward over a whole episode gives the loss of all its decisions: -log of the probability that the pointer
    gives to all positions that mean what the oracle did. Words get new slots in every batch.

    Raises:
        ValueError: if no example can be learnt from.
    """
    torch.set_num_threads(config.threads)
    data = encode_examples(workdir, config)
    episodes = [episode for episode in data.episodes if len(episode.decisions)]
    if not episodes:
        raise ValueError(f"{workdir}: none of {data.counts['examples']} examples can be learnt from: {data.counts}")
    state = TrainingState.resume(config, workdir)
    if state is None:
        words = zip(data.families, (episode.words for episode in data.episodes), strict=True)
        state = TrainingState.start(config, workdir, learn_vocabulary(words))
        state.counts = data.counts
    accelerator = Accelerator(cpu=True)
    network, optimizer = accelerator.prepare(state.network, state.optimizer)
    loop = Loop(state, workdir)
    episodes.sort(key=lambda episode: episode.length)
    network.train()
    while not state.finished:
        loop.set_learning_rate()
        part = draw(episodes, config.batch, random.Random(f"{config.seed}/{state.step}"))
        batch, decisions = collate(part, state.vocabulary, network.config.slot, config.seed * 1_000_003 + state.step)
        likelihood, entropy = log_likelihood(network, batch, decisions)
        made = decisions.weights > 0
        loss = -likelihood[made].mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(network.parameters(), config.gradient_limit)
        optimizer.step()
        state.episodes += len(part)
        loop.finish_step(loss=loss.item(), entropy=entropy[made].mean().item())
    return state


def draw(episodes: Sequence[Encoded], size: int, rng: random.Random) -> list[Encoded]:
    """Return episodes of like length, from a list sorted by length; every episode is as likely as any other."""
    window = min(len(episodes), _WINDOW * size)
    first = rng.randrange(-window // 2, len(episodes) - window // 2)
    first = min(max(first, 0), len(episodes) - window)
    return rng.sample(episodes[first : first + window], min(size, window))
