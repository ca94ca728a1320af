"""Supervised fine-tuning: imitate the decisions of oracle episodes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor

from tasks.policies.pointer.batches import Decisions, collate
from tasks.policies.pointer.network import log_likelihood
from tasks.policies.pointer.session import OMIT_PLACE, Head
from tasks.training.checkpoints import PARENT, TrainingState
from tasks.training.config import TrainingConfig
from tasks.training.encoded import ExampleStream
from tasks.training.loop import Loop, Start


def train_sft(config: TrainingConfig, workdir: Path) -> TrainingState:
    """Train on the folder's examples until the steps or the CPU seconds are used up; return the final state.

    One forward over a whole episode gives the loss of all its decisions: -log of the probability that the pointer
    gives to all positions that mean what the oracle did. Words get new slots in every batch.

    Raises:
        FileNotFoundError, ValueError: if there are no examples.
    """
    started = Start()
    torch.set_num_threads(config.threads)
    stream = ExampleStream(workdir, config, fresh=not (workdir / PARENT).exists())
    state = TrainingState.resume(config, workdir)
    if state is None:
        state = TrainingState.start(config, workdir, stream.vocabulary)
    if state.finished:
        return state
    accelerator = Accelerator(cpu=True)
    network, optimizer = accelerator.prepare(state.network, state.optimizer)
    loop = Loop(state, workdir, started)
    network.train()
    with closing(stream.batches(state.step)) as batches:
        for encoded in batches:
            for name, count in encoded.counts.items():
                state.counts[name] = state.counts.get(name, 0) + count
            state.cpu_seconds += encoded.cpu_seconds
            loss_value = entropy_value = 0.0
            if encoded.episodes:
                loop.set_learning_rate()
                seed = config.seed * 1_000_003 + state.step
                batch, decisions = collate(encoded.episodes, state.vocabulary, state.network.config.slot, seed)
                likelihood, entropy = log_likelihood(network, batch, decisions)
                made = decisions.weights > 0
                emphasis = emphasised(decisions)
                loss = -(likelihood * emphasis).sum() / emphasis.sum()
                optimizer.zero_grad()
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(network.parameters(), config.gradient_limit)
                optimizer.step()
                loss_value, entropy_value = loss.item(), entropy[made].mean().item()
            state.episodes += len(encoded.episodes)
            loop.finish_step(loss=loss_value, entropy=entropy_value)
            if state.finished:
                break
    return state


def emphasised(decisions: Decisions) -> Tensor:
    """Return the weight of each decision in the loss (B x D): which tool most, left-out arguments least.

    Four arguments in five are left out and soon easy; unweighted, they would hide the choices that matter.
    """
    weights = torch.tensor([2.0, 1.5, 1.5])[decisions.heads]
    left_out = (decisions.heads == Head.ARGUMENT) & decisions.chosen[..., OMIT_PLACE]
    return torch.where(left_out, 0.4, weights) * decisions.weights
